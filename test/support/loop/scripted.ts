import type { AgentEvent, QueuedMessage } from '../../../src/contracts/event.ts';
import type { JsonObject } from '../../../src/contracts/json.ts';
import type { AssistantBlock, Message, StopReason, Usage, UserMessage } from '../../../src/contracts/message.ts';
import type {
  ModelEvent,
  ModelFailure,
  ModelInfo,
  ModelOutcome,
  ModelPort,
  ModelRequest,
} from '../../../src/contracts/model.ts';
import { DEFAULT_LOOP_GUARD, type QueryConfig, type QueryDeps } from '../../../src/contracts/query.ts';
import type { PreparedCall, Tool, ToolOutcome } from '../../../src/contracts/tool.ts';
import { toRequestMessages } from '../../../src/engine/request/build-model-request.ts';

/** One reply of the scripted model. */
export type ScriptedReply = {
  readonly blocks: readonly AssistantBlock[];
  readonly stop?: StopReason;
  readonly failure?: ModelFailure;
  /** Waits after the blocks: until the promise resolves, or until aborted. */
  readonly hold?: Promise<void>;
  readonly throws?: string;
  /** Words whose block never ends. */
  readonly unfinished?: string;
  readonly usage?: Usage;
};

const USAGE: Usage = { inputTokens: 10, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 };

export const says = (text: string, stop: StopReason = 'end_turn'): ScriptedReply => ({
  blocks: [{ type: 'text', text }],
  stop,
});
export const truncatedReply = (text = 'half of it'): ScriptedReply => says(text, 'max_tokens');
export const fails = (kind: ModelFailure['kind'], more: Partial<ModelFailure> = {}): ScriptedReply => ({
  blocks: [],
  failure: { kind, message: `scripted ${kind}`, ...more },
});
export const contextTooLong = (): ScriptedReply => fails('too_long');
export const overloaded = (): ScriptedReply => fails('overloaded');
export const refusalReply = (): ScriptedReply => ({ blocks: [], stop: 'refusal' });
export const pausedReply = (): ScriptedReply => says('searching', 'pause_turn');
export const empty = (): ScriptedReply => ({ blocks: [], stop: 'end_turn' });

/** A reply that calls tools, by name, or with an input and an id. */
export function calls(
  ...wanted: readonly (string | { name: string; input?: JsonObject; id?: string })[]
): ScriptedReply {
  const blocks = wanted.map((call): AssistantBlock => {
    const { name, input = {}, id = `toolu_${crypto.randomUUID()}` } = typeof call === 'string' ? { name: call } : call;
    return { type: 'tool_use', id, name, input };
  });
  return { blocks, stop: 'tool_use' };
}

export const malformedCall = (): ScriptedReply => ({
  blocks: [{ type: 'tool_use', id: `toolu_${crypto.randomUUID()}`, name: 'Echo', input: '{"a":', unparsed: '{"a":' }],
  stop: 'tool_use',
});

export type ScriptedDeps = QueryDeps & {
  readonly requests: () => readonly ModelRequest[];
  readonly calls: () => number;
};

export type Overrides = Partial<Omit<QueryDeps, 'config'>> & {
  readonly config?: Partial<QueryConfig>;
  /** The reply after the end of the script. */
  readonly after?: ScriptedReply;
  readonly steering?: QueuedMessage[];
  readonly followUps?: QueuedMessage[];
};

export const INFO: ModelInfo = {
  id: 'model-a',
  label: 'Model A',
  contextWindow: 200_000,
  defaultOutputTokens: 8_000,
  maxOutputTokens: 64_000,
  thinking: 'adaptive',
  effort: true,
  efforts: ['low', 'medium', 'high', 'max'],
  thinkingOff: 'silence',
  vision: true,
  promptCache: true,
  webSearch: false,
};

/** A context that never needs compaction, and whose compaction produces a boundary and a summary. */
export const unlimitedContext: QueryDeps['context'] = {
  prepare: async (messages) => ({ messages, view: messages, tokens: 0, freedTokens: 0 }),
  compact: async (messages, trigger) => ({
    ok: true,
    messages: [
      { role: 'boundary', id: `b${messages.length}`, trigger, preTokens: 100 },
      userSays('what was said so far'),
    ],
    preTokens: 100,
    postTokens: 10,
  }),
  drain: async () => false,
  limits: () => ({ compactAt: 1_000, blockAt: 2_000 }),
  calibrate: () => undefined,
};

/** Dependencies whose model plays a script; everything else answers in the simplest honest way. */
export function scripted(replies: readonly ScriptedReply[], overrides: Overrides = {}): ScriptedDeps {
  const requests: ModelRequest[] = [];
  const { config, after, steering = [], followUps = [], ...rest } = overrides;
  let ids = 0;
  const model: ModelPort = {
    name: 'scripted',
    stream(request, _options, signal) {
      const reply = replies[requests.length] ?? after ?? says('done');
      requests.push(request);
      return play(reply, `msg_${requests.length}`, signal);
    },
  };
  return {
    config: {
      chain: [{ model: 'model-a' }],
      effort: 'off',
      thinkingBudgetTokens: undefined,
      maxTurns: undefined,
      maxBudgetUsd: undefined,
      tokenBudget: undefined,
      toolExecution: 'streaming',
      parallelCalls: 10,
      failedCompactions: 0,
      autoCompact: true,
      partialMessages: false,
      skipFirstPoll: false,
      excluded: { thinking: false, images: undefined, refused: [] },
      betas: [],
      loopGuard: DEFAULT_LOOP_GUARD,
      ...config,
    },
    model,
    modelInfo: (id) => ({ ...INFO, id }),
    system: () => [{ name: 'base', text: 'You help.' }],
    tools: () => [echoTool()],
    toolSpecs: (tools) => tools.map((tool) => tool.spec),
    cwd: () => '/',
    toRequestMessages,
    transformRequest: (request) => request,
    gate: async (request) => ({ behavior: 'allow', input: request.input }),
    beforeCall: async () => ({}),
    afterCall: async () => ({}),
    onStop: async () => ({ kind: 'pass' }),
    ask: async () => undefined,
    capResult: async (_call, outcome) => outcome,
    context: unlimitedContext,
    queues: {
      takeSteering: () => steering.splice(0, 1),
      takeFollowUps: () => followUps.splice(0, 1),
      hasSteering: () => steering.length > 0,
    },
    attachments: async () => [],
    costUsd: () => 0,
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
    now: () => 0,
    ...rest,
    requests: () => requests,
    calls: () => requests.length,
  };
}

async function* play(reply: ScriptedReply, id: string, signal: AbortSignal): AsyncGenerator<ModelEvent, ModelOutcome> {
  const aborted: ModelOutcome = { ok: false, failure: { kind: 'aborted', message: 'aborted' } };
  yield { type: 'request_sent', attempt: 1 };
  if (reply.throws !== undefined) throw new Error(reply.throws);
  const { unfinished } = reply;
  const speaks = reply.blocks.length > 0 || reply.stop !== undefined || unfinished !== undefined;
  const { usage = USAGE } = reply;
  if (speaks) yield { type: 'message_start', messageId: id, model: 'echoed', usage };
  for (const [index, block] of reply.blocks.entries()) {
    if (signal.aborted) return aborted;
    yield { type: 'block_start', index, kind: block.type };
    if (block.type === 'text') yield { type: 'text_delta', index, text: block.text };
    yield { type: 'block_end', index, block };
  }
  if (unfinished !== undefined) {
    const index = reply.blocks.length;
    yield { type: 'block_start', index, kind: 'text' };
    for (const text of unfinished.split(/(?= )/)) yield { type: 'text_delta', index, text };
  }
  if (reply.hold !== undefined) {
    await Promise.race([
      reply.hold,
      new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    ]);
  }
  if (signal.aborted) return aborted;
  if (reply.failure !== undefined) return { ok: false, failure: reply.failure };
  const stopReason = reply.stop ?? 'end_turn';
  return { ok: true, message: { role: 'assistant', id, model: '', blocks: reply.blocks }, stopReason, usage };
}

/** A tool that returns its input, or runs the function of the test. */
export function echoTool(
  options: {
    readonly name?: string;
    readonly safe?: 'safe' | 'alone';
    readonly call?: (input: JsonObject, context: Parameters<PreparedCall['call']>[0]) => Promise<ToolOutcome>;
  } = {},
): Tool {
  const name = options.name ?? 'Echo';
  return {
    name,
    aliases: [],
    label: name,
    spec: { name, description: 'Says its input.', input_schema: { type: 'object' } },
    maxResultChars: 1_000,
    deferred: false,
    source: 'builtin',
    prepare(input) {
      if (typeof input !== 'object' || input === null || Array.isArray(input))
        return { ok: false, problem: 'Not an object.' };
      const object: JsonObject = JSON.parse(JSON.stringify(input));
      const call: PreparedCall['call'] = async (context) =>
        options.call?.(object, context) ?? { content: `echo ${JSON.stringify(object)}` };
      const isConcurrencySafe = options.safe !== 'alone';
      return {
        ok: true,
        call: { input: object, title: name, isReadOnly: true, isConcurrencySafe, call },
      };
    },
  };
}

export function userSays(text: string): UserMessage {
  return { role: 'user', id: `u-${text}`, origin: 'prompt', blocks: [{ type: 'text', text }] };
}

export const queuedMessage = (lane: QueuedMessage['lane'], text: string): QueuedMessage => ({
  id: `q-${text}`,
  lane,
  message: userSays(text),
});

/** Lists the reasons of all transitions. */
export function listTransitionReasons(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'transition' ? [event.reason] : []));
}

/** Builds the conversation from its events. */
export function buildHistory(first: readonly Message[], events: readonly AgentEvent[]): readonly Message[] {
  let messages = first;
  for (const event of events) {
    if (event.type === 'message_end') messages = [...messages, event.message];
    if (event.type === 'compacted') messages = event.messages;
    if (event.type === 'tombstone') messages = messages.filter((message) => message.id !== event.messageId);
  }
  return messages;
}
