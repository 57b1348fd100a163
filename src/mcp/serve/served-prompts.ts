import type { GetPromptResult, PromptMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { UserBlock } from '../../contracts/message.ts';
import type { Offer } from './offer.ts';

const ARGUMENT = 'arguments';

/** The commands and skills of the project and the person as prompts. */
export function servedPrompts({ commands, runCommand }: Conversation): NonNullable<Offer['prompts']> {
  const offered = () => commands().filter(({ source }) => source !== 'builtin' && source !== 'mcp');
  return {
    list: async () =>
      offered().map(({ name, description, argumentHint }) => ({
        name,
        description,
        arguments: [{ name: ARGUMENT, description: argumentHint ?? 'What stands behind the command', required: false }],
      })),
    async get(name, args): Promise<GetPromptResult | string> {
      const command = offered().find((one) => one.name === name);
      if (command === undefined) return `There is no prompt ${name}.`;
      const outcome = await runCommand(`${name} ${args[ARGUMENT] ?? ''}`.trim());
      if (outcome.kind === 'failed') return outcome.words;
      if (outcome.kind !== 'prompt') return `${name} says nothing to a model.`;
      return { description: command.description, messages: outcome.blocks.flatMap(messageOf) };
    },
  };
}

function messageOf(block: UserBlock): readonly PromptMessage[] {
  if (block.type === 'text') return [{ role: 'user', content: { type: 'text', text: block.text } }];
  if (block.type !== 'image' || block.source.type !== 'base64') return [];
  const { media_type: mimeType, data } = block.source;
  return [{ role: 'user', content: { type: 'image', mimeType, data } }];
}
