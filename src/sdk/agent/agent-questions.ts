import type { AgentPort } from '../../agent/agent-deps.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import type { AgentParts } from './agent-parts.ts';
import { isPermissionAnswer } from './capsule.ts';

const UNANSWERED: PermissionAnswer = { behavior: 'deny', by: 'unattended' };

/**
 * Creates the questions of an agent: a callback answers them, a listener that has declared that it answers, or else the
 * answer is no. Each ends: with an answer, after `questionTimeoutMs`, or with the run.
 */
export function createAgentQuestions(
  { options, answerers, suspension }: AgentParts,
  port: AgentPort,
): Pick<AgentPort, 'askPermission' | 'ask'> {
  const { onPermission, onQuestion, questionTimeoutMs } = options;

  async function askPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    if (onPermission !== undefined) {
      const asked = async (until: AbortSignal) => toPermissionAnswer(await onPermission(request, until), request);
      return (await withTimeout(asked, questionTimeoutMs, signal)) ?? describeTimeout(questionTimeoutMs);
    }
    if (answerers.size === 0) return UNANSWERED;
    const timer = startTimer(questionTimeoutMs, () =>
      port.answerPermission(request.id, describeTimeout(questionTimeoutMs), 'host'),
    );
    return port.askPermission(request, signal).finally(timer.stop);
  }

  return {
    askPermission: async (request, signal) =>
      onPermission === undefined && answerers.size === 0
        ? UNANSWERED
        : suspension.ask(request, () => askPermission(request, signal)),
    async ask(callId, question, signal) {
      if (onQuestion !== undefined) {
        return withTimeout(async (until) => onQuestion(question, until), questionTimeoutMs, signal);
      }
      if (answerers.size === 0) return undefined;
      const ended = new AbortController();
      const timer = startTimer(questionTimeoutMs, () => ended.abort());
      return port.ask(callId, question, AbortSignal.any([signal, ended.signal])).finally(timer.stop);
    },
  };
}

/** Answers every pending question with no, because the last listener that could answer has left. */
export function dismissPendingQuestions(agent: Agent): void {
  const { pendingPermissions, pendingQuestions } = agent.state();
  for (const { id } of pendingPermissions) agent.answerPermission(id, UNANSWERED, 'host');
  for (const { id } of pendingQuestions) agent.answerQuestion(id, undefined);
}

function describeTimeout(timeoutMs = 0): PermissionAnswer {
  return { behavior: 'deny', by: 'unattended', note: `no answer within ${timeoutMs / 1_000} s.` };
}

/** Asks a callback; resolves with `undefined` after the timeout. */
async function withTimeout<Answer>(
  ask: (until: AbortSignal) => Promise<Answer>,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  if (timeoutMs === undefined) return ask(signal);
  const ended = new AbortController();
  const timer = startTimer(timeoutMs, () => ended.abort());
  const until = AbortSignal.any([signal, ended.signal]);
  return resolveUndefinedOnAbort(ask(until), until).finally(timer.stop);
}

function startTimer(ms: number | undefined, callback: () => void): { readonly stop: () => void } {
  const timer = ms === undefined ? undefined : setTimeout(callback, ms);
  return { stop: () => clearTimeout(timer) };
}

/** Takes the answer of a callback, also from untyped callers: `true` and 'allow' allow the call, everything else denies it. */
function toPermissionAnswer(answer: unknown, { toolName }: PermissionRequest): PermissionAnswer {
  if (isPermissionAnswer(answer)) return answer;
  if (answer === true || answer === 'allow') return { behavior: 'allow' };
  if (answer === undefined || answer === null || answer === false || answer === 'deny') return { behavior: 'deny' };
  throw new Error(`onPermission must return { behavior: 'allow' } or { behavior: 'deny', message } for ${toolName}`);
}
