import type { CompactPreview, Context } from '../../context/create-context.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { BoundaryMessage, Message } from '../../contracts/message.ts';
import { untilAborted } from '../../lib/abort.ts';
import { formatCount, formatTokens } from '../../lib/text/format.ts';
import type { Core } from '../core.ts';

/** `/compact preview`: what would stay, and what would become a summary. */
export function previewWords(preview: CompactPreview): string {
  const { carried, pins } = preview;
  const facts = [
    [carried.filesChanged.length, 'changed files'],
    [carried.filesRead.length, 'read files'],
    [carried.todos.length, 'to-dos'],
    [carried.skills.length, 'skills'],
    [carried.plan === undefined ? 0 : 1, 'plan'],
  ] as const;
  const carriedWords = facts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return [
    `Now about ${formatTokens(preview.preTokens)} tokens.`,
    `- ${formatCount(preview.keptMessages, 'message')} would stay as they are, with all else that is sent ${formatTokens(preview.keptTokens)} tokens.`,
    `- ${formatCount(preview.summarizedMessages, 'message')} would become a summary.`,
    ...(carriedWords.length === 0 ? [] : [`- Carried on whatever the summary says: ${carriedWords.join(', ')}.`]),
    ...pins.map((pin) => `- Pinned: ${pin}`),
  ].join('\n');
}

type Needs = { readonly agent: Agent; readonly context: Context };

/** What `/compact` and `/clear` do between turns. */
export type ManualCompact = {
  now(focus: string | undefined): Promise<CommandOutcome>;
  /** The conversation goes on from these messages; the file keeps all that was said. */
  replace(messages: readonly Message[], trigger: BoundaryMessage['trigger']): Promise<void>;
};

export function createManualCompact({ bus: { tell }, newId }: Core, { agent, context }: Needs): ManualCompact {
  return {
    async now(focus) {
      const messages = agent.state().messages;
      if (messages.length === 0) return { kind: 'failed', words: 'There is nothing to make room from yet.' };
      const order = { trigger: 'manual' as const, ...(focus === undefined ? {} : { focus }) };
      return agent.between('compacting', async (signal) => {
        const result = await untilAborted(context.compactWith(messages, order, signal), signal);
        if (result?.ok !== true && signal.aborted)
          return { kind: 'failed', words: 'Stopped; the conversation is as it was.' };
        if (result?.ok !== true)
          return { kind: 'failed', words: `No room was made: ${result?.why ?? 'it was stopped'}` };
        const boundary = result.messages.find((message) => message.role === 'boundary');
        if (boundary !== undefined)
          await tell({ type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens });
        return {
          kind: 'done',
          words: `Made room: ${formatTokens(result.preTokens)} → ${formatTokens(result.postTokens)} tokens. The full history stays in the session.`,
        };
      });
    },
    async replace(messages, trigger) {
      const boundary: BoundaryMessage = { role: 'boundary', id: newId(), trigger, preTokens: context.tokens() };
      await tell({ type: 'compacted', boundary, messages: [boundary, ...messages], postTokens: 0 });
    },
  };
}
