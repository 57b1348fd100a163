import {
  type CreateMessageRequest,
  type CreateMessageResultWithTools,
  ErrorCode,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject } from '../../contracts/json.ts';
import type { AssistantMessage } from '../../contracts/message.ts';
import { asJson } from '../../lib/as-json.ts';
import { untrustedLine, untrustedText } from '../../lib/text/sanitize.ts';
import type { Ask } from '../elicit.ts';
import { type SamplingWish, samplingWish } from './sampling-request.ts';

/** Asks the model of the conversation for a server. */
export type Sample = (
  wish: SamplingWish,
  signal: AbortSignal,
) => Promise<
  | { readonly ok: true; readonly message: AssistantMessage; readonly outputTokens: number }
  | { readonly ok: false; readonly why: string }
>;

/** What rules say of it now. */
export type SamplingRule = () => 'allow' | 'ask' | 'deny' | undefined;

type SamplerParts = {
  readonly server: string;
  /** Absent where no model may be asked by servers. */
  readonly sample: Sample | undefined;
  readonly rule: SamplingRule;
  /** To be read behind the server's name. */
  readonly onSampled: (words: string) => void;
};

/** What a server hears of a no, by the specification. */
const REFUSED = -1;
const SHOWN_CHARS = 600;
/** Who was told yes for all is asked about again after so many. */
const MOST_UNASKED = 50;
const ONCE = 'Answer it this once';
const ALWAYS = 'Answer it as long as it is connected';
const NO = 'Do not answer it';

/** Answers a server's requests to a model: the person is asked first, and a no holds for the rest of the call. */
export function createSampler({ server, sample, rule, onSampled }: SamplerParts) {
  let unasked = 0;
  const refused = new WeakSet<object>();

  async function allowed(
    params: CreateMessageRequest['params'],
    ask: Ask | undefined,
    withdrawn: AbortSignal,
  ): Promise<void> {
    const ruled = rule();
    if (ruled === 'deny') throw new McpError(REFUSED, 'A rule of the user says no.');
    if (ruled === 'allow') return;
    if (unasked > 0) {
      unasked -= 1;
      return;
    }
    if (ask === undefined)
      throw new McpError(
        REFUSED,
        `Nobody can be asked here whether a model may answer. The rule Sampling(${server}) would allow it.`,
      );
    if (refused.has(ask)) throw new McpError(REFUSED, 'The user has said no.');
    const answer = await ask({ kind: 'questions', questions: [questionOf(server, params)] }, withdrawn);
    const [said] = answer?.kind === 'questions' ? answer.answers : [];
    if (said === ALWAYS) unasked = MOST_UNASKED;
    if (said === ONCE || said === ALWAYS) return;
    // A server that has taken its question back has heard no no.
    if (!withdrawn.aborted) refused.add(ask);
    const words = said === undefined || said === NO ? '' : `: ${said}`;
    throw new McpError(
      REFUSED,
      answer === undefined ? `Nobody said yes. The rule Sampling(${server}) would.` : `The user has said no${words}`,
    );
  }

  return async function answer(
    params: CreateMessageRequest['params'],
    ask: Ask | undefined,
    signal: AbortSignal,
  ): Promise<CreateMessageResultWithTools> {
    if (sample === undefined) throw new McpError(REFUSED, 'No model can be asked here.');
    const wish = samplingWish(server, params);
    if (typeof wish === 'string') throw new McpError(ErrorCode.InvalidParams, wish);
    await allowed(params, ask, signal);
    const sampled = await sample(wish, signal);
    if (!sampled.ok) throw new McpError(ErrorCode.InternalError, `The model did not answer: ${sampled.why}`);
    onSampled(`asked the model something, which was answered with ${sampled.outputTokens} tokens.`);
    return resultOf(sampled.message, params);
  };
}

/** What the person reads: whose words these are, and what they would be sent to. */
function questionOf(server: string, { messages, tools = [], maxTokens }: CreateMessageRequest['params']) {
  const last = [messages.at(-1)?.content ?? []].flat();
  const words = last.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n');
  const text = untrustedText(words);
  const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS).toWellFormed()}…` : text;
  const before = messages.length > 1 ? `, with ${messages.length - 1} messages before it` : '';
  const offered = tools.length > 0 ? `, with ${tools.length} tools of its own` : '';
  return {
    header: 'MCP server',
    question: `${untrustedLine(server, 60)} wants the model to answer, in at most ${maxTokens} tokens${before}${offered}. These are its words:\n\n${cut}`,
    multiSelect: false,
    options: [
      { label: ONCE, description: 'The model of this conversation answers; the server gets the answer.' },
      { label: ALWAYS, description: 'It is not asked about again before then.', grade: 'always' },
      { label: NO, description: 'The server hears no, for the rest of this call.', grade: 'no' },
    ],
  } as const;
}

function resultOf(
  { blocks, model, stopReason }: AssistantMessage,
  { tools, toolChoice, stopSequences = [] }: CreateMessageRequest['params'],
): CreateMessageResultWithTools {
  const whole = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const ends = stopSequences.map((mark) => (mark === '' ? -1 : whole.indexOf(mark))).filter((at) => at >= 0);
  const text = ends.length > 0 ? whole.slice(0, Math.min(...ends)) : whole;
  const words = { type: 'text', text } as const;
  const common = { role: 'assistant', model } as const;
  const reason = ends.length > 0 ? 'stopSequence' : (STOP_REASONS[stopReason ?? ''] ?? 'endTurn');
  if (tools === undefined && toolChoice === undefined) return { ...common, content: words, stopReason: reason };
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            type: 'tool_use' as const,
            id: block.id,
            name: block.name,
            input: isJsonObject(block.input) ? asJson(block.input) : {},
          },
        ]
      : [],
  );
  return { ...common, content: [...(text === '' ? [] : [words]), ...calls], stopReason: reason };
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'endTurn',
  max_tokens: 'maxTokens',
  stop_sequence: 'stopSequence',
  tool_use: 'toolUse',
};
