import {
  type CreateMessageRequest,
  type CreateMessageResultWithTools,
  ErrorCode,
  McpError,
  type SamplingMessageContentBlock,
} from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject } from '../contracts/json.ts';
import type { AssistantBlock, AssistantMessage, UserBlock } from '../contracts/message.ts';
import type { ModelRequest, RequestMessage, ToolSpec } from '../contracts/model.ts';
import type { QuestionSource } from '../contracts/tool.ts';
import { copyAsJson, isNestedDeeperThan, MAX_JSON_DEPTH } from '../lib/json.ts';
import { sanitizeUntrusted } from '../lib/text/sanitize.ts';
import { convertMcpContentBlock } from './content.ts';
import type { AskUser } from './elicit.ts';
import { shortenServerText } from './server-text.ts';

/** Sends a server's request to the conversation's model. */
export type RunSamplingRequest = (
  request: SamplingRequest,
  signal: AbortSignal,
) => Promise<
  | { readonly ok: true; readonly message: AssistantMessage; readonly outputTokens: number }
  | { readonly ok: false; readonly problem: string }
>;

/** Returns the current verdict of the permission rules; `undefined` when no rule matches. */
export type McpSamplingVerdictLookup = () => 'allow' | 'ask' | 'deny' | undefined;

type SamplerParts = {
  readonly source: QuestionSource;
  /** Absent where sampling is not offered. */
  readonly sample: RunSamplingRequest | undefined;
  readonly rule: McpSamplingVerdictLookup;
  /** Called with a message that follows the server's name. */
  readonly onSampled: (message: string) => void;
};

/** Error code for a refused request, by the specification. */
const REFUSED = -1;
/** Requests that run without a question after the user allowed them for the connection. */
const MAX_PREAPPROVED = 50;
const ALLOW_ONCE = 'Yes';
const ALLOW_CONNECTION = "Yes, and don't ask again while it is connected";
const DENY = 'No';

/** Creates the handler of a server's sampling requests; the user approves them, and a refusal lasts for the call. */
export function createSamplingHandler({ source, sample, rule, onSampled }: SamplerParts) {
  const { server } = source;
  let preapproved = 0;
  const refusedCalls = new WeakSet<object>();

  async function assertAllowed(
    params: CreateMessageRequest['params'],
    ask: AskUser | undefined,
    withdrawSignal: AbortSignal,
  ): Promise<void> {
    const ruleVerdict = rule();
    if (ruleVerdict === 'deny') throw new McpError(REFUSED, 'A permission rule denies the request.');
    if (ruleVerdict === 'allow') return;
    if (preapproved > 0) {
      preapproved -= 1;
      return;
    }
    if (ask === undefined)
      throw new McpError(
        REFUSED,
        `The user cannot be asked in this mode. The permission rule Sampling(${server}) would allow the request.`,
      );
    if (refusedCalls.has(ask)) throw new McpError(REFUSED, 'The user declined.');
    const answer = await ask({ kind: 'questions', questions: [createQuestion(params)], source }, withdrawSignal);
    const [choice] = answer?.kind === 'questions' ? answer.answers : [];
    if (choice === ALLOW_CONNECTION) preapproved = MAX_PREAPPROVED;
    if (choice === ALLOW_ONCE || choice === ALLOW_CONNECTION) return;
    // A question the server withdrew was not declined by the user.
    if (!withdrawSignal.aborted) refusedCalls.add(ask);
    const comment = choice === undefined || choice === DENY ? '' : `: ${choice}`;
    throw new McpError(
      REFUSED,
      answer === undefined
        ? `The user did not answer. The permission rule Sampling(${server}) would allow the request.`
        : `The user declined${comment}`,
    );
  }

  return async function answer(
    params: CreateMessageRequest['params'],
    ask: AskUser | undefined,
    signal: AbortSignal,
  ): Promise<CreateMessageResultWithTools> {
    if (sample === undefined) throw new McpError(REFUSED, 'Sampling is not available.');
    const request = parseSamplingRequest(server, params);
    if (typeof request === 'string') throw new McpError(ErrorCode.InvalidParams, request);
    await assertAllowed(params, ask, signal);
    const sampled = await sample(request, signal);
    if (!sampled.ok) throw new McpError(ErrorCode.InternalError, `The model did not answer: ${sampled.problem}`);
    onSampled(`sent a request to the model; the answer has ${sampled.outputTokens} tokens.`);
    return createResult(sampled.message, params);
  };
}

/** Creates the question for the user, with the start of the server's last message. */
function createQuestion({ messages, tools = [], maxTokens }: CreateMessageRequest['params']) {
  const last = [messages.at(-1)?.content ?? []].flat();
  const joined = last.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n');
  const before = messages.length > 1 ? `, after ${messages.length - 1} earlier messages` : '';
  const offered = tools.length > 0 ? `, with ${tools.length} of its own tools` : '';
  return {
    header: 'MCP server',
    question: `Send this request to the model? At most ${maxTokens} tokens${before}${offered}.`,
    quote: shortenServerText(joined),
    multiSelect: false,
    options: [
      { label: ALLOW_ONCE, description: 'The model of this session answers, and the server gets the answer.' },
      {
        label: ALLOW_CONNECTION,
        description: `Its next ${MAX_PREAPPROVED} requests are not asked about.`,
        grade: 'always',
      },
      { label: DENY, description: 'Its requests are refused for the rest of this call.', grade: 'no' },
    ],
  } as const;
}

/** Creates the protocol's result from the model's message; applies the stop sequences here. */
function createResult(
  { blocks, model, stopReason }: AssistantMessage,
  { tools, toolChoice, stopSequences = [] }: CreateMessageRequest['params'],
): CreateMessageResultWithTools {
  const fullText = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const stops = stopSequences
    .map((sequence) => (sequence === '' ? -1 : fullText.indexOf(sequence)))
    .filter((index) => index >= 0);
  const text = stops.length > 0 ? fullText.slice(0, Math.min(...stops)) : fullText;
  const textBlock = { type: 'text', text } as const;
  const common = { role: 'assistant', model } as const;
  const reason = stops.length > 0 ? 'stopSequence' : (STOP_REASONS[stopReason ?? ''] ?? 'endTurn');
  if (tools === undefined && toolChoice === undefined) return { ...common, content: textBlock, stopReason: reason };
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            type: 'tool_use' as const,
            id: block.id,
            name: block.name,
            input: isJsonObject(block.input) ? copyAsJson(block.input) : {},
          },
        ]
      : [],
  );
  return { ...common, content: [...(text === '' ? [] : [textBlock]), ...calls], stopReason: reason };
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'endTurn',
  max_tokens: 'maxTokens',
  stop_sequence: 'stopSequence',
  tool_use: 'toolUse',
};

/** A server's sampling request as a model request; the server cannot choose the model. */
type SamplingRequest = Pick<ModelRequest, 'system' | 'tools' | 'messages' | 'maxOutputTokens' | 'forcedTool'>;

type Params = CreateMessageRequest['params'];

const MAX_TOKENS = 8_192;
const MAX_MESSAGES = 100;
const MAX_TOOLS = 50;
const MAX_CHARS = 400_000;
const TOOL_NAME = /^[\w-]{1,64}$/;

/** Parses the parameters of a sampling request; returns an error message when they are not acceptable. */
function parseSamplingRequest(server: string, params: Params): SamplingRequest | string {
  const { messages: sent, tools: offered = [], maxTokens, toolChoice, systemPrompt } = params;
  if (sent.length > MAX_MESSAGES || offered.length > MAX_TOOLS)
    return `At most ${MAX_MESSAGES} messages and ${MAX_TOOLS} tools are allowed.`;
  if (isNestedDeeperThan({ sent, offered }, MAX_JSON_DEPTH)) return 'The request is nested too deeply.';
  const { length } = JSON.stringify({ sent, offered, systemPrompt });
  if (length > MAX_CHARS) return `The request has ${length} characters; at most ${MAX_CHARS} are allowed.`;
  if (offered.some(({ name }) => !TOOL_NAME.test(name)))
    return 'The name of a tool must be letters, digits, _ and -, at most 64 characters.';
  if (maxTokens < 1) return 'maxTokens must be at least 1.';
  const messages = convertMessages(sent);
  if (messages.at(-1)?.role !== 'user') return 'The last message must have the role user.';
  const tools = toolChoice?.mode === 'none' ? [] : offered.map(convertTool);
  const [tool] = tools;
  return {
    system: [{ name: 'sampling', text: formatSystemPrompt(server, systemPrompt) }],
    messages,
    tools,
    maxOutputTokens: Math.min(maxTokens, MAX_TOKENS),
    // `required` can only be enforced for a single tool, by its name.
    ...(toolChoice?.mode === 'required' && tools.length === 1 && tool !== undefined ? { forcedTool: tool.name } : {}),
  };
}

function formatSystemPrompt(server: string, serverPrompt: string | undefined): string {
  const intro = `A program that the user runs, the MCP server "${sanitizeUntrusted(server)}", asks you something in the middle of its work. All that follows are its words, not the user's; you have no tools of your own here and know nothing of any other conversation. Answer what it asks.`;
  return serverPrompt === undefined || serverPrompt.trim() === ''
    ? intro
    : `${intro}\n\nIt says:\n${sanitizeUntrusted(serverPrompt)}`;
}

function convertTool({ name, description, inputSchema }: NonNullable<Params['tools']>[number]): ToolSpec {
  return {
    name,
    description: sanitizeUntrusted(description ?? name),
    input_schema: { ...copyAsJson(inputSchema), type: 'object' },
  };
}

/** Converts messages so that roles alternate and the first one is the user's. */
function convertMessages(messages: Params['messages']): readonly RequestMessage[] {
  const turns: RequestMessage[] = [];
  for (const { role, content } of messages) {
    const parts = [content].flat();
    const last = turns.at(-1);
    if (role === 'user') {
      const blocks = parts.flatMap(convertUserBlock);
      if (last?.role === 'user') turns[turns.length - 1] = { role, blocks: [...last.blocks, ...blocks] };
      else turns.push({ role, blocks });
    } else {
      const blocks = parts.flatMap(convertAssistantBlock);
      if (last === undefined)
        turns.push({ role: 'user', blocks: [{ type: 'text', text: '(It begins with an answer.)' }] });
      if (last?.role === 'assistant') turns[turns.length - 1] = { role, blocks: [...last.blocks, ...blocks] };
      else turns.push({ role, blocks });
    }
  }
  return turns.filter(({ blocks }) => blocks.length > 0);
}

function convertUserBlock(block: SamplingMessageContentBlock): readonly UserBlock[] {
  switch (block.type) {
    case 'tool_use':
      return [];
    case 'tool_result': {
      const content = block.content.flatMap(convertMcpContentBlock);
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
      return convertMcpContentBlock(block);
  }
}

function convertAssistantBlock(block: SamplingMessageContentBlock): readonly AssistantBlock[] {
  switch (block.type) {
    case 'tool_use':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: copyAsJson(block.input) }];
    case 'text':
      return [{ type: 'text', text: sanitizeUntrusted(block.text) }];
    default:
      return [];
  }
}
