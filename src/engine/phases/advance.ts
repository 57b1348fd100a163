import { untilAborted } from '../../lib/abort.ts';
import { announce } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { findTool, titleOf } from '../known-tools.ts';
import { answered, nextTurn } from '../transitions/next-turn.ts';
import { replyOf } from './consult-stop-hooks.ts';

/** The last rung: results and attachments join, and the model is asked again unless a limit says no. */
export const advance: Phase = async function* (state, turn, deps, signal) {
  const ended = turn.calls.ended();
  const reply = replyOf(turn);
  const attachments = (await untilAborted(deps.attachments(state.messages), signal)) ?? [];
  const messages = answered(reply, ended, attachments, deps);
  const stopsHere = deps.shouldStopAfterTurn?.({ ...state, messages: [...state.messages, ...messages] }) === true;
  const verdict = nextTurn(state, messages, ended, { maxTurns: deps.config.maxTurns, stopsHere });
  yield* announce(state, turn, verdict);
  if (verdict.kind === 'stop') return verdict;
  const calls = ended.map(({ block }) => ({
    tool: block.name,
    title: titleOf(block, findTool(block.name, deps.tools())),
  }));
  const pendingSummary = deps.summarizeCalls?.(calls, signal);
  return { ...verdict, state: { ...verdict.state, pendingSummary } };
};
