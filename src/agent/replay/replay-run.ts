import { createReductionLog } from '../../context/reduction-log.ts';
import { isJsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { ModelEvent, ModelInfo, ModelOutcome, ModelPort } from '../../contracts/model.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { completeQueryDeps, createFallbackModelInfo } from '../../engine/default-deps.ts';
import { query } from '../../engine/query.ts';
import { serializeModelRequest } from '../../model/providers/anthropic/messages-request.ts';
import { hashRequest } from '../../session/request-digest.ts';
import { parseRecordedRequestHead } from '../../session/request-head.ts';
import { structuredOutputTraits } from '../../tools/structured-output.ts';
import {
  findFirstReplayDifference,
  parseRecordedRequestConfig,
  type ReplayDifference,
  selectMessagesAfterBoundary,
} from './rebuild-requests.ts';
import type { RecordedRun, RecordedStep } from './recorded-runs.ts';

/** The outcome of driving a run: the first difference, or the reason why it cannot be driven. */
type DriveOutcome =
  | { readonly kind: 'same' }
  | { readonly kind: 'different'; readonly difference: ReplayDifference }
  | { readonly kind: 'not driven'; readonly why: string };

/** Drives the loop through a recorded run: replies, results and ids are recorded, requests must match. */
export async function replayRun(run: RecordedRun): Promise<DriveOutcome> {
  const why = findBlocker(run);
  if (why !== undefined) return { kind: 'not driven', why };
  const stop = new AbortController();
  const player = createReplayPlayer(run, stop);
  const transitions: string[] = [];
  const events = query(run.before, createReplayDeps(run, player), stop.signal);
  for (;;) {
    const step = await events.next();
    const difference = player.difference();
    if (difference !== undefined) {
      await events.return({ reason: 'aborted_streaming' });
      return { kind: 'different', difference };
    }
    if (step.done === true) return compareTransitions(run, transitions, step.value.reason);
    if (step.value.type === 'transition') transitions.push(step.value.reason);
  }
}

function compareTransitions({ steps, end }: RecordedRun, actual: readonly string[], reason: string): DriveOutcome {
  // An aborted run may have been aborted after its last step, so the last transition is ignored.
  const expected = (end === undefined ? steps.slice(0, -1) : steps).flatMap(({ transition }) => transition ?? []);
  const at = expected.findIndex((transition, index) => actual[index] !== transition);
  const { request } = steps[at === -1 ? steps.length - 1 : at] ?? { request: 0 };
  const differs = (now: string): DriveOutcome => ({
    kind: 'different',
    difference: { request, where: 'the transition after it', now },
  });
  if (at !== -1) return differs(`${actual[at] ?? reason} instead of ${expected[at]}`);
  if (end !== undefined && reason !== end.reason) return differs(`${reason} instead of ${end.reason}`);
  return { kind: 'same' };
}

const JOINED_ORIGINS = ['results', 'steer', 'follow_up', 'hook', 'nudge', 'resume'];

/** Returns why a run cannot be driven: it depends on something that is not recorded. */
function findBlocker({ steps, end }: RecordedRun): string | undefined {
  const [first] = steps;
  const getSettings = ({ recorded }: RecordedStep) => {
    const { model: _, maxOutputTokens: __, breakpoints: ___, ...rest } = recorded.rest;
    return JSON.stringify(rest);
  };
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1;
    const before = steps[at - 1];
    if (step.turn === undefined && !(isLast && end === undefined)) return 'a turn has no recorded end';
    if (first !== undefined && getSettings(step) !== getSettings(first)) return 'settings changed during the run';
    const isOtherModel = before !== undefined && before.recorded.rest.model !== step.recorded.rest.model;
    if (step.transition === 'token_budget_continuation') return 'the run has a token budget, which is not recorded';
    if (step.transition === 'loop_reminder') return 'the loop guard intervened, whose limits are not recorded';
    if (isOtherModel && before.transition !== 'fallback_retry') return 'the model changed during the run';
    if (!isLast && step.joined.some(({ origin }) => !JOINED_ORIGINS.includes(origin)))
      return 'a message arrived during the run';
    if (end !== undefined && [...step.blocks].some(({ block }) => endsRun(block))) return 'a call ended the run';
  }
  return undefined;
}

function endsRun(block: RecordedStep['blocks'][number]['block']): boolean {
  return block.type === 'tool_use' && block.name === structuredOutputTraits.name;
}

function createReplayDeps(run: RecordedRun, player: ReplayPlayer): QueryDeps {
  const { steps } = run;
  const ids = steps.flatMap(({ joined }) =>
    joined.filter(({ origin }) => origin !== 'steer' && origin !== 'follow_up').map(({ id }) => id),
  );
  const findJoined = (origin: string) =>
    (player.current()?.joined ?? []).filter((message) => message.origin === origin);
  const readHead = () => {
    const prompt = player.upcoming()?.prompt;
    return prompt === undefined ? { system: [], tools: [] } : parseRecordedRequestHead(prompt);
  };
  const names = new Set(steps.flatMap(({ blocks }) => blocks.flatMap(({ block }) => getToolName(block))));
  const first = steps[0]?.recorded.rest ?? {};
  const deps = completeQueryDeps({
    model: player.model,
    config: {
      ...parseRecordedRequestConfig(first),
      chain: [...new Set(steps.map(({ recorded }) => String(recorded.rest.model)))].map((model) => ({ model })),
      excluded: run.excluded,
      loopGuard: undefined,
      ...(run.end?.reason === 'max_turns'
        ? { maxTurns: 1 + steps.filter(({ transition }) => transition === 'next_turn').length }
        : {}),
    },
    modelInfo: (model) => inferModelInfo(model, run),
    tools: [...names].map((name) => createRecordedTool(name, player)),
    toolSpecs: () => readHead().tools,
    gate: async ({ input }) => ({ behavior: 'allow', input }),
    capResult: async (_, outcome) => outcome,
    context: createRecordedContext(player),
    attachments: async () =>
      findJoined('results').flatMap(({ blocks }) =>
        blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
      ),
    onStop: async () => {
      const [hookMessage] = findJoined('hook');
      const [block] = hookMessage?.blocks ?? [];
      if (block?.type === 'text') return { kind: 'reject', words: block.text };
      const isLast = player.requestCount() === steps.length;
      return isLast && run.end?.reason === 'stop_hook_prevented' ? { kind: 'prevent', words: '' } : { kind: 'pass' };
    },
    queues: {
      takeSteering: () =>
        player.requestCount() === 0
          ? []
          : findJoined('steer').map((message) => ({ id: message.id, lane: 'next', message })),
      hasSteering: () => findJoined('steer').length > 0,
      takeFollowUps: () => findJoined('follow_up').map((message) => ({ id: message.id, lane: 'after', message })),
    },
    newId: () => ids.shift() ?? crypto.randomUUID(),
  });
  return { ...deps, system: () => readHead().system };
}

function getToolName(block: RecordedStep['blocks'][number]['block']): readonly string[] {
  return block.type === 'tool_use' ? [block.name] : [];
}

function createRecordedTool(name: string, player: ReplayPlayer): Tool {
  return {
    name,
    aliases: [],
    label: name,
    deferred: false,
    source: 'builtin',
    spec: { name, description: '', input_schema: {} },
    maxResultChars: Number.POSITIVE_INFINITY,
    prepare: (input) => ({
      ok: true,
      call: {
        input: isJsonObject(input) ? input : {},
        title: name,
        isReadOnly: true,
        isConcurrencySafe: true,
        async call({ callId }) {
          const result = player.current()?.results.get(callId);
          return { content: result?.content ?? '', ...(result?.is_error === true ? { isError: true } : {}) };
        },
      },
    }),
  };
}

/** Token counts above and at the compaction limit. Only their order matters. */
const FULL_TOKENS = 2;
const LIMIT_TOKENS = 1;

/** Creates a context pipeline with the recorded decisions and summaries. */
function createRecordedContext(player: ReplayPlayer): QueryDeps['context'] {
  const compacted = new Set<unknown>();
  const findDueCompaction = () => {
    const found = player.requestCount() === 0 ? undefined : player.current()?.compaction;
    return found === undefined || compacted.has(found) ? undefined : found;
  };
  return {
    async prepare(messages: readonly Message[]) {
      const decisions = createReductionLog();
      for (const decision of player.upcoming()?.decisions ?? []) decisions.record(decision);
      const view = selectMessagesAfterBoundary(messages).flatMap((message) => decisions.applyTo(message) ?? []);
      return {
        messages,
        view,
        tokens: findDueCompaction()?.boundary.trigger === 'auto' ? FULL_TOKENS : 0,
        freedTokens: 0,
      };
    },
    async compact() {
      const found = findDueCompaction();
      if (found === undefined) return { ok: false, why: 'No summary is recorded.' };
      compacted.add(found);
      const { messages, boundary, postTokens } = found;
      return { ok: true, messages, preTokens: boundary.preTokens, postTokens };
    },
    drain: async () => player.current()?.transition === 'collapse_drain_retry',
    limits: () => ({ compactAt: LIMIT_TOKENS, blockAt: Number.POSITIVE_INFINITY }),
    calibrate: () => undefined,
  };
}

/** Infers model properties from the requests: the first output limit is its default, the largest its maximum. */
function inferModelInfo(model: string, { steps }: RecordedRun): ModelInfo {
  const outputLimits = steps
    .filter(({ recorded }) => recorded.rest.model === model)
    .map(({ recorded }) => Number(recorded.rest.maxOutputTokens));
  return {
    ...createFallbackModelInfo(model),
    contextWindow: Number.POSITIVE_INFINITY,
    defaultOutputTokens: outputLimits[0] ?? 0,
    maxOutputTokens: Math.max(0, ...outputLimits),
  };
}

/** Creates a player: a model port that answers with the recorded replies, and tracks the current step. */
function createReplayPlayer({ steps, end }: RecordedRun, stop: AbortController) {
  let asked = 0;
  let difference: ReplayDifference | undefined;
  const current = () => steps[Math.max(0, asked - 1)];
  const upcoming = () => steps[Math.min(asked, steps.length - 1)];

  const model: ModelPort = {
    name: 'replay',
    async *stream(request) {
      const step = steps[asked];
      asked += 1;
      if (step === undefined) {
        const last = steps.at(-1)?.request ?? 0;
        difference = {
          request: last,
          where: 'the request after it',
          now: 'an additional request that is not recorded',
        };
        return stopReplay();
      }
      const bytes = serializeModelRequest(request);
      if (hashRequest(bytes) !== step.recorded.whole) {
        difference = findFirstReplayDifference(step.request, step.recorded, bytes);
        return stopReplay();
      }
      // The run was aborted during this request, so there is no complete reply.
      if (end === undefined && asked === steps.length) return stopReplay();
      return yield* replayReply(step);
    },
  };

  function stopReplay(): ModelOutcome {
    stop.abort();
    return { ok: false, failure: { kind: 'aborted', message: 'The record ends here.' } };
  }

  return { model, current, upcoming, requestCount: () => asked, difference: () => difference };
}

/** The player of a recorded run. */
type ReplayPlayer = ReturnType<typeof createReplayPlayer>;

const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

async function* replayReply({ turn, blocks, recorded }: RecordedStep): AsyncGenerator<ModelEvent, ModelOutcome> {
  const { messageId, failure, stopReason = 'end_turn', usage = NO_USAGE } = turn ?? {};
  const model = String(recorded.rest.model);
  const replyBlocks = blocks.filter((block) => block.messageId === messageId).map(({ block }) => block);
  if (messageId !== undefined) yield { type: 'message_start', messageId, model, usage };
  for (const [index, block] of replyBlocks.entries()) yield { type: 'block_end', index, block };
  if (failure !== undefined) return { ok: false, failure };
  const message = { role: 'assistant', id: messageId ?? '', model, blocks: replyBlocks } as const;
  return { ok: true, message, stopReason, usage };
}
