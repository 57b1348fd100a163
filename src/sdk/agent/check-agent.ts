import type { RunEnd } from '../../agent/agent-run-records.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelPort } from '../../contracts/model.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { createFixedReplyPort, FAULTS, withFaults } from '../../model/with-faults.ts';
import type { SdkAgent } from './agent-commands.ts';
import type { AgentOptions } from './options.ts';

/** The options that a check sets. Pass all of them on to `createAgent`. */
export type CheckedOptions = Required<Pick<AgentOptions, 'model' | 'maxTurns' | 'maxBudgetUsd' | 'maxRetryDelayMs'>>;

/** The result of one check. */
export type AgentCheck = { readonly name: string; readonly ok: boolean; readonly problem?: string };

/** The results of all checks. */
export type AgentReport = { readonly ok: boolean; readonly checks: readonly AgentCheck[] };

/** The options of the checks. */
export type CheckOptions = {
  /** A run that takes longer has failed. By default 10 s. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 10_000;
const MAX_TURNS = 4;
const BUDGET_USD = 0.007;
const IDLE_MS = 200;
const RETRY_DELAY_MS = 10;

/**
 * Checks an agent of any tools, hooks and callbacks: that its runs end, whatever the model does; that an abort ends
 * them; that every call gets a result; that it keeps its limits. `make` creates the agent with the given options; no
 * request leaves the process.
 */
export async function checkAgent(
  make: (options: CheckedOptions) => SdkAgent | Promise<SdkAgent>,
  { timeoutMs = TIMEOUT_MS }: CheckOptions = {},
): Promise<AgentReport> {
  if (typeof make !== 'function') throw new TypeError('checkAgent: pass a function that creates the agent.');
  const checks = await Promise.all(listScenarios().map((scenario) => runScenario(scenario, make, timeoutMs)));
  return { ok: checks.every(({ ok }) => ok), checks };
}

type Scenario = {
  readonly name: string;
  readonly port: ModelPort;
  /** Aborts the run at this event. */
  readonly abortAt?: AgentEvent['type'];
  /** Returns what is wrong with the end of the run. */
  readonly judge?: (end: RunEnd, agent: SdkAgent) => string | undefined;
};

const answer = () => createFixedReplyPort(() => [{ type: 'text', text: 'Done.' }]);
/** Its calls differ, so that they are not taken for a loop. */
const caller = () =>
  createFixedReplyPort((id) => [{ type: 'tool_use', id, name: `NoSuchTool${id.slice(0, 8)}`, input: { id } }]);

function listScenarios(): readonly Scenario[] {
  const isAborted = ({ reason }: RunEnd) =>
    reason === 'aborted_streaming' || reason === 'aborted_tools' ? undefined : `the run ended with ${reason}`;
  return [
    {
      name: 'a reply completes the run',
      port: answer(),
      judge: ({ reason }) => (reason === 'completed' ? undefined : `the run ended with ${reason}`),
    },
    ...FAULTS.map((fault) => ({
      name: `a run ends when the model has the fault ${fault}`,
      port: withFaults(answer(), [fault]),
    })),
    ...FAULTS.map((fault) => ({
      name: `a run ends when the model always has the fault ${fault}`,
      port: withFaults(answer(), () => fault),
    })),
    ...(['agent_start', 'request_sent', 'message_start'] as const).map((abortAt) => ({
      name: `an abort at ${abortAt} ends the run`,
      port: withFaults(answer(), () => 'hangs_midway' as const),
      abortAt,
      judge: isAborted,
    })),
    {
      name: 'an abort ends a run whose model hangs',
      port: withFaults(answer(), () => 'hangs' as const),
      abortAt: 'request_sent',
      judge: isAborted,
    },
    {
      name: 'a model that calls tools for ever reaches the limit of requests, dollars or repetitions',
      port: caller(),
      judge: ({ reason }) =>
        ['max_turns', 'budget_exhausted', 'loop_detected'].includes(reason)
          ? undefined
          : `the run ended with ${reason}`,
    },
    {
      name: 'the budget is kept',
      port: caller(),
      judge: ({ spent }, agent) =>
        Math.max(spent.usd, agent.state().spent.usd) <= BUDGET_USD
          ? undefined
          : `$${spent.usd} of $${BUDGET_USD} were spent`,
    },
  ];
}

async function runScenario(
  { name, port, abortAt, judge }: Scenario,
  make: (options: CheckedOptions) => SdkAgent | Promise<SdkAgent>,
  timeoutMs: number,
): Promise<AgentCheck> {
  const info = { price: { input: 1, output: 10 }, defaultOutputTokens: 500 };
  const model = { model: 'check', port, maxRetries: 1, timeoutMs: IDLE_MS, info };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const agent = await make({ model, maxTurns: MAX_TURNS, maxBudgetUsd: BUDGET_USD, maxRetryDelayMs: RETRY_DELAY_MS });
    if (typeof agent?.subscribe !== 'function') return { name, ok: false, problem: 'make() returned no agent' };
    const events: AgentEvent[] = [];
    agent.subscribe((event) => {
      events.push(event);
      if (event.type === abortAt) agent.abort();
    });
    const end = await resolveUndefinedOnAbort(agent.prompt('check'), timeout);
    if (end === undefined) {
      agent.abort();
      return { name, ok: false, problem: `the run had not ended after ${timeoutMs} ms` };
    }
    await resolveUndefinedOnAbort(agent.waitForIdle(), timeout);
    const problem = judge?.(end, agent) ?? findUnbalanced(events) ?? findUnanswered(agent);
    return problem === undefined ? { name, ok: true } : { name, ok: false, problem };
  } catch (thrown) {
    return { name, ok: false, problem: getErrorMessage(thrown) };
  }
}

/** Returns which events have begun and not ended. */
function findUnbalanced(events: readonly AgentEvent[]): string | undefined {
  const count = (type: AgentEvent['type']) => events.filter((event) => event.type === type).length;
  for (const [start, end] of [
    ['agent_start', 'agent_end'],
    ['turn_start', 'turn_end'],
    ['tool_start', 'tool_end'],
  ] as const)
    if (count(start) > count(end)) return `${count(start)} ${start} events, but ${count(end)} ${end}`;
  return undefined;
}

/** Returns which calls of the conversation have no result. */
function findUnanswered(agent: SdkAgent): string | undefined {
  const blocks = agent.state().messages.flatMap((message) => ('blocks' in message ? [...message.blocks] : []));
  const results = new Set(blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])));
  const open = blocks.find((block) => block.type === 'tool_use' && !results.has(block.id));
  return open === undefined ? undefined : 'a call of the conversation has no result';
}
