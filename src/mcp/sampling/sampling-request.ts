import type { CreateMessageRequest, SamplingMessageContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { AssistantBlock, UserBlock } from '../../contracts/message.ts';
import type { ModelRequest, RequestMessage, ToolSpec } from '../../contracts/model.ts';
import { asJson } from '../../lib/as-json.ts';
import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.ts';
import { untrustedText } from '../../lib/text/sanitize.ts';
import { blocksOf } from '../content.ts';

/** What a server wants to have answered, as a request to a model; which model is not the server's to say. */
export type SamplingWish = Pick<ModelRequest, 'system' | 'tools' | 'messages' | 'maxOutputTokens' | 'forcedTool'>;

type Params = CreateMessageRequest['params'];

const MOST_TOKENS = 8_192;
const MOST_MESSAGES = 100;
const MOST_TOOLS = 50;
const MOST_CHARS = 400_000;
const TOOL_NAME = /^[\w-]{1,64}$/;

/** Reads what a server asks; answers with a sentence where no model could be asked that. */
export function samplingWish(server: string, params: Params): SamplingWish | string {
  const { messages: said, tools: offered = [], maxTokens, toolChoice, systemPrompt } = params;
  if (said.length > MOST_MESSAGES || offered.length > MOST_TOOLS)
    return `At most ${MOST_MESSAGES} messages and ${MOST_TOOLS} tools are taken.`;
  if (isDeeperThan({ said, offered }, MAX_DEPTH)) return 'It is nested too deep.';
  const { length } = JSON.stringify({ said, offered, systemPrompt });
  if (length > MOST_CHARS) return `It is ${length} characters long; at most ${MOST_CHARS} are taken.`;
  const odd = offered.find(({ name }) => !TOOL_NAME.test(name));
  if (odd !== undefined) return `A tool must be named with letters, digits, _ and -, in at most 64 characters.`;
  if (maxTokens < 1) return 'maxTokens must be at least 1.';
  const messages = turnsOf(said);
  if (messages.at(-1)?.role !== 'user') return 'The last message must be one of the user.';
  const tools = toolChoice?.mode === 'none' ? [] : offered.map(specOf);
  const [only] = tools;
  return {
    system: [{ name: 'sampling', text: systemOf(server, systemPrompt) }],
    messages,
    tools,
    maxOutputTokens: Math.min(maxTokens, MOST_TOKENS),
    // Of several nobody can say which one; a single one can be asked for by its name.
    ...(toolChoice?.mode === 'required' && tools.length === 1 && only !== undefined ? { forcedTool: only.name } : {}),
  };
}

function systemOf(server: string, words: string | undefined): string {
  const whose = `A program that the user runs, the MCP server "${untrustedText(server)}", asks you something in the middle of its work. All that follows are its words, not the user's; you have no tools of your own here and know nothing of any other conversation. Answer what it asks.`;
  return words === undefined || words.trim() === '' ? whose : `${whose}\n\nIt says:\n${untrustedText(words)}`;
}

function specOf({ name, description, inputSchema }: NonNullable<Params['tools']>[number]): ToolSpec {
  return {
    name,
    description: untrustedText(description ?? name),
    input_schema: { ...asJson(inputSchema), type: 'object' },
  };
}

/** Roles take turns, and a person begins. */
function turnsOf(messages: Params['messages']): readonly RequestMessage[] {
  const turns: RequestMessage[] = [];
  for (const { role, content } of messages) {
    const parts = [content].flat();
    const last = turns.at(-1);
    if (role === 'user') {
      const blocks = parts.flatMap(userBlocks);
      if (last?.role === 'user') turns[turns.length - 1] = { role, blocks: [...last.blocks, ...blocks] };
      else turns.push({ role, blocks });
    } else {
      const blocks = parts.flatMap(assistantBlocks);
      if (last === undefined)
        turns.push({ role: 'user', blocks: [{ type: 'text', text: '(It begins with an answer.)' }] });
      if (last?.role === 'assistant') turns[turns.length - 1] = { role, blocks: [...last.blocks, ...blocks] };
      else turns.push({ role, blocks });
    }
  }
  return turns.filter(({ blocks }) => blocks.length > 0);
}

function userBlocks(block: SamplingMessageContentBlock): readonly UserBlock[] {
  switch (block.type) {
    case 'tool_use':
      return [];
    case 'tool_result': {
      const content = block.content.flatMap(blocksOf);
      return [
        {
          type: 'tool_result',
          tool_use_id: block.toolUseId,
          content,
          ...(block.isError === true ? { is_error: true } : {}),
        },
      ];
    }
    default:
      return blocksOf(block);
  }
}

function assistantBlocks(block: SamplingMessageContentBlock): readonly AssistantBlock[] {
  switch (block.type) {
    case 'tool_use':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: asJson(block.input) }];
    case 'text':
      return [{ type: 'text', text: untrustedText(block.text) }];
    default:
      return [];
  }
}
