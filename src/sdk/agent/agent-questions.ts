import type { AgentPort } from '../../agent/agent-deps.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';

/** The way in which questions of an agent are answered: by a callback, by a listener, or with a no. */
export type AgentQuestionPort = Pick<AgentPort, 'askPermission' | 'ask'>;

type QuestionDeps = {
  readonly options: {
    readonly onPermission?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
    readonly onQuestion?: (question: UserQuestion, signal: AbortSignal) => Promise<UserAnswer | undefined>;
    readonly questionTimeoutMs?: number;
  };
  /** Returns whether a listener has declared that it answers. */
  readonly hasAnswerer: () => boolean;
  readonly port: AgentPort;
  readonly agent: () => Pick<Agent, 'answerPermission' | 'answerQuestion'>;
  /** Open permission prompts; an entry is added before its prompt is asked. */
  readonly open: Set<PermissionRequest>;
  /** Called before a prompt is asked. */
  readonly beforeAsking: (request: PermissionRequest) => Promise<void>;
};

const UNANSWERED: PermissionAnswer = { behavior: 'deny', by: 'unattended' };

/** Creates the questions of an agent. Each ends: with an answer, after `questionTimeoutMs`, or with the run. */
export function createAgentQuestions({
  options,
  hasAnswerer,
  port,
  agent,
  open,
  beforeAsking,
}: QuestionDeps): AgentQuestionPort {
  const { onPermission, onQuestion, questionTimeoutMs } = options;
  async function askPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    if (onPermission !== undefined) {
      const asked = async (until: AbortSignal) => toPermissionAnswer(await onPermission(request, until), request);
      return (await withTimeout(asked, questionTimeoutMs, signal)) ?? describeTimeout(questionTimeoutMs);
    }
    if (!hasAnswerer()) return UNANSWERED;
    const timer = startTimer(questionTimeoutMs, () =>
      agent().answerPermission(request.id, describeTimeout(questionTimeoutMs), 'host'),
    );
    return port.askPermission(request, signal).finally(timer.stop);
  }

  return {
    async askPermission(request, signal) {
      if (onPermission === undefined && !hasAnswerer()) return UNANSWERED;
      open.add(request);
      try {
        await beforeAsking(request);
        return await askPermission(request, signal);
      } finally {
        open.delete(request);
      }
    },
    async ask(callId, question, signal) {
      if (onQuestion !== undefined) {
        return withTimeout(async (until) => onQuestion(question, until), questionTimeoutMs, signal);
      }
      if (!hasAnswerer()) return undefined;
      const ended = new AbortController();
      const timer = startTimer(questionTimeoutMs, () => ended.abort());
      return port.ask(callId, question, AbortSignal.any([signal, ended.signal])).finally(timer.stop);
    },
  };
}

/** Answers every pending question with no, because the last listener that could answer has left. */
export function dismissPendingQuestions(agent: Pick<Agent, 'state' | 'answerPermission' | 'answerQuestion'>): void {
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

/** Returns whether a value is an answer to a permission prompt. */
export function isPermissionAnswer(answer: unknown): answer is PermissionAnswer {
  if (typeof answer !== 'object' || answer === null || !('behavior' in answer)) return false;
  return answer.behavior === 'allow' || answer.behavior === 'deny';
}
