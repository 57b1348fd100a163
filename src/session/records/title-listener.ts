import { getUserPromptText } from '../../context/compaction/kept-messages.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import { joinTextBlocks } from '../../contracts/message.ts';
import type { LiveSessionState } from '../../contracts/session-core.ts';
import type { TitleGenerator } from '../../model/generate-title.ts';
import type { SessionTranscript } from './session-transcript.ts';

/** Creates the listener that titles a session after the first answered prompt, unless it has a title. */
export function createTitleListener(
  live: LiveSessionState,
  transcript: SessionTranscript,
  ask: TitleGenerator | undefined,
): (event: AgentEvent) => void {
  let prompt: string | undefined;
  let answer = '';
  let asked = false;

  async function setTitle(firstPrompt: string): Promise<void> {
    const title = await ask?.(firstPrompt, answer);
    if (title === undefined || live.current().title !== undefined) return;
    live.update({ title });
    await transcript.append({ type: 'title', title, by: 'model' });
  }

  return (event) => {
    if (asked || ask === undefined || transcript.path === undefined) return;
    if (event.type === 'message_end') {
      const { message } = event;
      if (message.role === 'user' && message.origin === 'prompt') prompt ??= getUserPromptText(message);
      if (message.role === 'assistant') answer = joinTextBlocks(message.blocks, '\n') || answer;
    }
    if (event.type !== 'agent_end' || event.terminal.reason !== 'completed') return;
    if (prompt === undefined || live.current().title !== undefined) return;
    asked = true;
    // Not awaited: the title may arrive later.
    void setTitle(prompt);
  };
}
