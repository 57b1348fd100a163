import type { AgentEvent } from '../../contracts/event.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { messageOf } from '../../lib/errors.ts';
import { announce } from '../announce.ts';
import type { Verdict } from '../state.ts';
import { answered, nextTurn } from '../transitions/next-turn.ts';
import type { Turn } from '../turn.ts';
import { replyOf } from './consult-stop-hooks.ts';

/** The last rung: results and attachments join, and the model is asked again unless a limit says no. */
export async function* advance(
  state: QueryState,
  turn: Turn,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Verdict> {
  const ended = turn.calls.ended();
  const reply = replyOf(turn);
  const attachments = yield* attach(state, deps);
  const messages = answered(reply, ended, attachments, deps);
  const stopsHere = deps.shouldStopAfterTurn?.({ ...state, messages: [...state.messages, ...messages] }) === true;
  const verdict = nextTurn(state, messages, ended, { maxTurns: deps.config.maxTurns, stopsHere });
  yield* announce(state, verdict);
  if (verdict.kind === 'stop') return verdict;
  const calls = ended.map(({ block }) => ({ tool: block.name, title: block.name }));
  const pendingSummary = deps.summarizeCalls?.(calls, signal).catch(() => undefined);
  return { ...verdict, state: { ...verdict.state, pendingSummary } };
}

/** What changed since the model last looked. Looking may fail; the loop goes on. */
async function* attach(state: QueryState, deps: QueryDeps): AsyncGenerator<AgentEvent, readonly string[]> {
  try {
    return await deps.attachments(state.messages);
  } catch (thrown) {
    const text = `Looking for changes failed: ${messageOf(thrown)}`;
    yield { type: 'notice', level: 'warn', topic: 'attachments', text };
    return [];
  }
}
