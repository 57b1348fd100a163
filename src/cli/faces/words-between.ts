import type { AgentEvent } from '../../contracts/event.ts';

/** Passes on what the model says before its calls and before it is asked to go on, but not its answer. */
export function createWordsBetween(pass: (words: string) => void): { hear(event: AgentEvent): void } {
  let words: readonly string[] = [];
  const flush = () => {
    const said = words.join('\n\n').trim();
    words = [];
    if (said !== '') pass(said);
  };
  return {
    hear(event) {
      if (event.type === 'block_end' && event.block.type === 'text') words = [...words, event.block.text];
      if (event.type === 'tombstone') words = [];
      if (event.type === 'tool_start') flush();
      if (event.type !== 'message_end' || event.message.role !== 'user') return;
      // What goes on belongs to the answer.
      if (event.message.origin === 'resume') words = [];
      else flush();
    },
  };
}
