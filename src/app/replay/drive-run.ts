import { createDecisions } from '../../context/decisions.ts';
import { isJsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { ModelInfo } from '../../contracts/model.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { cautiousModel, queryDeps } from '../../engine/defaults.ts';
import { query } from '../../engine/query.ts';
import { parseHead } from '../../session/request-head.ts';
import { structuredOutputStatement } from '../../tools/structured-output/structured-output.ts';
import type { RecordedRun, RecordedStep } from './recorded-runs.ts';
import { createPlayer, type Player } from './replay-player.ts';
import { type Difference, requestConfig, visible } from './replay-session.ts';

/** What came of driving a run: the first thing that went another way, or why it cannot be driven. */
export type Driven =
  | { readonly kind: 'same' }
  | { readonly kind: 'different'; readonly difference: Difference }
  | { readonly kind: 'not driven'; readonly why: string };

/** The real loop over one run: replies, results, words and ids come from the record, requests must come out the same. */
export async function driveRun(run: RecordedRun): Promise<Driven> {
  const why = obstacle(run);
  if (why !== undefined) return { kind: 'not driven', why };
  const stop = new AbortController();
  const player = createPlayer(run, stop);
  const went: string[] = [];
  const events = query(run.before, depsOf(run, player), stop.signal);
  for (;;) {
    const step = await events.next();
    const difference = player.difference();
    if (difference !== undefined) {
      await events.return({ reason: 'aborted_streaming' });
      return { kind: 'different', difference };
    }
    if (step.done === true) return compare(run, went, step.value.reason);
    if (step.value.type === 'transition') went.push(step.value.reason);
  }
}

function compare({ steps, end }: RecordedRun, went: readonly string[], reason: string): Driven {
  // Whoever stopped it may have done so after its last step, too.
  const way = (end === undefined ? steps.slice(0, -1) : steps).flatMap(({ transition }) => transition ?? []);
  const at = way.findIndex((one, index) => went[index] !== one);
  const { request } = steps[at === -1 ? steps.length - 1 : at] ?? { request: 0 };
  const differs = (now: string): Driven => ({
    kind: 'different',
    difference: { request, where: 'the way the loop goes on after it', now },
  });
  if (at !== -1) return differs(`${went[at] ?? reason} instead of ${way[at]}`);
  if (end !== undefined && reason !== end.reason) return differs(`${reason} instead of ${end.reason}`);
  return { kind: 'same' };
}

const JOINED_ORIGINS = ['results', 'steer', 'follow_up', 'hook', 'nudge', 'resume'];

/** What keeps a run from being driven: something took part that no record can repeat. */
function obstacle({ steps, end }: RecordedRun): string | undefined {
  const [first] = steps;
  const settings = ({ recorded }: RecordedStep) => {
    const { model: _, maxOutputTokens: __, breakpoints: ___, ...rest } = recorded.rest;
    return JSON.stringify(rest);
  };
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1;
    const before = steps[at - 1];
    if (step.turn === undefined && !(isLast && end === undefined)) return 'a turn without its end';
    if (first !== undefined && settings(step) !== settings(first)) return 'settings were changed while it ran';
    const isOther = before !== undefined && before.recorded.rest.model !== step.recorded.rest.model;
    if (step.transition === 'token_budget_continuation') return 'a token budget, which is on no record';
    if (isOther && before.transition !== 'fallback_retry') return 'the model was changed while it ran';
    if (!isLast && step.joined.some(({ origin }) => !JOINED_ORIGINS.includes(origin)))
      return 'something was said meanwhile';
    if (end !== undefined && [...step.blocks].some(({ block }) => isEnding(block))) return 'a call that ends the run';
  }
  return undefined;
}

function isEnding(block: RecordedStep['blocks'][number]['block']): boolean {
  return block.type === 'tool_use' && block.name === structuredOutputStatement.name;
}

function depsOf(run: RecordedRun, player: Player): QueryDeps {
  const { steps } = run;
  const ids = steps.flatMap(({ joined }) =>
    joined.filter(({ origin }) => origin !== 'steer' && origin !== 'follow_up').map(({ id }) => id),
  );
  const words = (origin: string) => (player.current()?.joined ?? []).filter((message) => message.origin === origin);
  const head = () => {
    const prompt = player.upcoming()?.prompt;
    return prompt === undefined ? { system: [], tools: [] } : parseHead(prompt);
  };
  const names = new Set(steps.flatMap(({ blocks }) => blocks.flatMap(({ block }) => nameOf(block))));
  const first = steps[0]?.recorded.rest ?? {};
  const deps = queryDeps({
    model: player.model,
    config: {
      ...requestConfig(first),
      chain: [...new Set(steps.map(({ recorded }) => String(recorded.rest.model)))].map((model) => ({ model })),
      stripped: run.stripped,
      ...(run.end?.reason === 'max_turns'
        ? { maxTurns: 1 + steps.filter(({ transition }) => transition === 'next_turn').length }
        : {}),
    },
    modelInfo: (model) => infoOf(model, run),
    tools: [...names].map((name) => recordedTool(name, player)),
    toolSpecs: () => head().tools,
    gate: async ({ input }) => ({ behavior: 'allow', input }),
    capResult: async (_, outcome) => outcome,
    context: contextOf(player),
    attachments: async () =>
      words('results').flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))),
    onStop: async () => {
      const [objection] = words('hook');
      const [block] = objection?.blocks ?? [];
      if (block?.type === 'text') return { kind: 'object', words: block.text };
      const isLast = player.asked() === steps.length;
      return isLast && run.end?.reason === 'stop_hook_prevented' ? { kind: 'prevent', words: '' } : { kind: 'pass' };
    },
    queues: {
      takeSteering: () =>
        player.asked() === 0 ? [] : words('steer').map((message) => ({ id: message.id, lane: 'next', message })),
      hasSteering: () => words('steer').length > 0,
      takeFollowUps: () => words('follow_up').map((message) => ({ id: message.id, lane: 'after', message })),
    },
    newId: () => ids.shift() ?? crypto.randomUUID(),
  });
  return { ...deps, system: () => head().system };
}

function nameOf(block: RecordedStep['blocks'][number]['block']): readonly string[] {
  return block.type === 'tool_use' ? [block.name] : [];
}

/** A tool that says what it said. */
function recordedTool(name: string, player: Player): Tool {
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

const FULL = 2;
const ROOMY = 1;

/** The decisions of that moment, and the summaries that were written. */
function contextOf(player: Player): QueryDeps['context'] {
  const compacted = new Set<unknown>();
  const due = () => {
    const found = player.asked() === 0 ? undefined : player.current()?.compaction;
    return found === undefined || compacted.has(found) ? undefined : found;
  };
  return {
    async prepare(messages: readonly Message[]) {
      const decisions = createDecisions();
      for (const one of player.upcoming()?.decisions ?? []) decisions.record(one);
      const view = visible(messages).flatMap((message) => decisions.viewOf(message) ?? []);
      return { messages, view, tokens: due()?.boundary.trigger === 'auto' ? FULL : 0, freedTokens: 0 };
    },
    async compact() {
      const found = due();
      if (found === undefined) return { ok: false, why: 'No summary is on record.' };
      compacted.add(found);
      const { messages, boundary, postTokens } = found;
      return { ok: true, messages, preTokens: boundary.preTokens, postTokens };
    },
    drain: async () => player.current()?.transition === 'collapse_drain_retry',
    limits: () => ({ compactAt: ROOMY, blockAt: Number.POSITIVE_INFINITY }),
    calibrate: () => undefined,
  };
}

/** As much as the requests tell of a model: what it was asked for first is its usual cap, the most is its highest. */
function infoOf(model: string, { steps }: RecordedRun): ModelInfo {
  const caps = steps
    .filter(({ recorded }) => recorded.rest.model === model)
    .map(({ recorded }) => Number(recorded.rest.maxOutputTokens));
  return {
    ...cautiousModel(model),
    contextWindow: Number.POSITIVE_INFINITY,
    defaultOutputTokens: caps[0] ?? 0,
    maxOutputTokens: Math.max(0, ...caps),
  };
}
