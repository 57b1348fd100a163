import type { Agent } from '../../contracts/agent.ts';
import type { CheckpointInfo, RewindOutcome } from '../../contracts/face/conversation.ts';
import { cutBefore } from '../../session/records/conversation-state.ts';
import { rebuild } from '../../session/records/rebuild.ts';
import type { Transcript } from '../../session/records/transcript.ts';
import { readSession } from '../../session/stored/store.ts';
import { isTyped, type SessionCheckpoints } from './checkpoints.ts';

type Needs = {
  readonly agent: Pick<Agent, 'state' | 'replaceMessages'>;
  readonly transcript: Transcript;
  readonly checkpoints: SessionCheckpoints | undefined;
  /** What the model has been shown may have left the conversation. */
  readonly forget: (why: string) => void;
};

/** Going back: the conversation, the files or both. */
export function createRewinding({ agent, transcript, checkpoints, forget }: Needs) {
  const list = async (): Promise<readonly CheckpointInfo[]> => (await checkpoints?.list()) ?? [];

  async function rewind(id: string, what: 'conversation' | 'files' | 'both'): Promise<RewindOutcome> {
    if (checkpoints === undefined || transcript.path === undefined) {
      return { ok: false, why: 'This session is not kept, so there is nothing to go back to.' };
    }
    if (agent.state().status !== 'idle') return { ok: false, why: 'A reply is being written. Stop it first, or wait.' };
    const point = (await list()).find((one) => one.id === id);
    if (point === undefined) return { ok: false, why: 'There is no such place to go back to.' };
    const done = what === 'conversation' ? undefined : await checkpoints.restore(id);
    if (what !== 'files' && !isTyped(point.messageId)) await takeBack(point, transcript.path);
    const { restored = [], removed = [], problems = [] } = done ?? {};
    return { ok: true, restored, removed, problems, prompt: point.prompt };
  }

  async function takeBack({ id, messageId }: CheckpointInfo, path: string): Promise<void> {
    await transcript.append({ type: 'system', subtype: 'rewind', data: { messageId } });
    await checkpoints?.leave(id);
    await transcript.sync();
    // Read back from the record: what is in memory now is what a resume would find.
    const messages =
      transcript.waiting() === 0
        ? rebuild((await readSession(path)).records).messages
        : cutBefore(messageId, [agent.state().messages]);
    if (messages !== undefined) agent.replaceMessages(messages);
    forget('The conversation went back to an earlier prompt.');
  }

  /** Takes back what the newest prompt that changed files has changed. */
  async function undo(): Promise<RewindOutcome> {
    const id = await checkpoints?.last();
    return id === undefined ? { ok: false, why: 'No change of a file is left to undo.' } : rewind(id, 'files');
  }

  /** Takes the last going back of files back, as long as nothing has changed since. */
  async function redo(): Promise<RewindOutcome> {
    if (agent.state().status !== 'idle') return { ok: false, why: 'A reply is being written. Stop it first, or wait.' };
    const done = await checkpoints?.redo();
    if (done === undefined) return { ok: false, why: 'There is nothing to bring back.' };
    return { ok: true, ...done, prompt: '' };
  }

  return { checkpoints: list, rewind, undo, redo };
}
