import type { AgentEvent } from '../contracts/event.ts';
import type { PermissionAnswer, PermissionRequest } from '../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../contracts/tool.ts';

/** Questions out as events with ids, answers in by id. Whoever answers first is heard; an abort answers all. */
export type Questions = {
  askPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer>;
  ask(callId: string, question: UserQuestion, signal: AbortSignal): Promise<UserAnswer | undefined>;
  answerPermission(id: string, answer: PermissionAnswer, by: 'person' | 'host' | 'abort'): boolean;
  answerQuestion(id: string, answer: UserAnswer | undefined): boolean;
  pendingPermissions(): readonly PermissionRequest[];
  pendingQuestions(): readonly PendingQuestion[];
};

export type PendingQuestion = { readonly id: string; readonly callId: string; readonly question: UserQuestion };

const INTERRUPTED: PermissionAnswer = { behavior: 'deny', message: 'Interrupted by the user.', interrupt: true };

export function createQuestions(tell: (event: AgentEvent) => void, newId: () => string): Questions {
  const permissions = new Map<string, { request: PermissionRequest; resolve: (answer: PermissionAnswer) => void }>();
  const questions = new Map<string, { pending: PendingQuestion; resolve: (answer: UserAnswer | undefined) => void }>();

  function answerPermission(id: string, answer: PermissionAnswer, by: 'person' | 'host' | 'abort'): boolean {
    const entry = permissions.get(id);
    if (entry === undefined) return false;
    permissions.delete(id);
    tell({ type: 'permission_answer', requestId: id, answer, by });
    entry.resolve(answer);
    return true;
  }

  function answerQuestion(id: string, answer: UserAnswer | undefined): boolean {
    const entry = questions.get(id);
    if (entry === undefined) return false;
    questions.delete(id);
    tell({ type: 'question_answer', id, answer });
    entry.resolve(answer);
    return true;
  }

  return {
    askPermission(request, signal) {
      if (signal.aborted) return Promise.resolve(INTERRUPTED);
      return new Promise((resolve) => {
        permissions.set(request.id, { request, resolve });
        signal.addEventListener('abort', () => answerPermission(request.id, INTERRUPTED, 'abort'), { once: true });
        tell({ type: 'permission_request', request });
      });
    },
    ask(callId, question, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      const id = newId();
      return new Promise((resolve) => {
        questions.set(id, { pending: { id, callId, question }, resolve });
        signal.addEventListener('abort', () => answerQuestion(id, undefined), { once: true });
        tell({ type: 'question', id, callId, question });
      });
    },
    answerPermission,
    answerQuestion,
    pendingPermissions: () => [...permissions.values()].map((entry) => entry.request),
    pendingQuestions: () => [...questions.values()].map((entry) => entry.pending),
  };
}
