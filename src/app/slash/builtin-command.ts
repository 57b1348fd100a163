import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { ConversationParts } from './conversation-parts.ts';

/** A slash command of ours. */
export type BuiltinCommand = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  readonly run: (args: string, parts: ConversationParts) => Promise<CommandOutcome>;
};

export const show = (markdown: string): CommandOutcome => ({ kind: 'show', markdown });
export const done = (words: string): CommandOutcome => ({ kind: 'done', words });
export const failed = (words: string): CommandOutcome => ({ kind: 'failed', words });

/** Text that must not be laid out. */
export const plain = (text: string): CommandOutcome => show(`\`\`\`\n${text}\n\`\`\``);
