import type { AgentEvent } from '../../contracts/event.ts';
import type { LiveState } from '../../contracts/live.ts';
import { saidBlocks } from '../../contracts/message.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';
import type { AskTitle } from '../../model/side/side-calls.ts';
import type { Transcript } from '../../session/records/transcript.ts';

/** Gives a session its name once its first prompt has been answered, unless somebody has named it. */
export function nameSession(
  live: LiveState,
  transcript: Pick<Transcript, 'append' | 'path'>,
  ask: AskTitle | undefined,
): (event: AgentEvent) => void {
  let prompt: string | undefined;
  let answer = '';
  let asked = false;

  async function name(words: string): Promise<void> {
    const title = await ask?.(words, answer);
    if (title === undefined || live.now().title !== undefined) return;
    live.change({ title });
    await transcript.append({ type: 'title', title, by: 'model' });
  }

  return (event) => {
    if (asked || ask === undefined || transcript.path === undefined) return;
    if (event.type === 'message_end') {
      const text = wordsOf(saidBlocks(event.message));
      if (event.message.role === 'user' && event.message.origin === 'prompt') prompt ??= text;
      if (event.message.role === 'assistant' && text !== '') answer = text;
    }
    if (event.type !== 'agent_end' || event.terminal.reason !== 'completed') return;
    if (prompt === undefined || live.now().title !== undefined) return;
    asked = true;
    // Nobody waits for a name.
    void name(prompt);
  };
}

function wordsOf(blocks: readonly { readonly type: string; readonly text?: string }[]): string {
  return blocks
    .flatMap(({ type, text }) => (type === 'text' && text !== undefined && !isReminder(text) ? [text] : []))
    .join('\n');
}
