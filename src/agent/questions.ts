import type { PermissionAnswer } from '../contracts/permission.ts';
import type { UserAnswer } from '../contracts/tool.ts';
import type { AgentStore } from './agent-state.ts';
import type { AgentPort } from './parts.ts';

/** Questions go out as events with ids, answers come in by id. The first answer counts; an abort answers all. */
export type Questions = Pick<AgentPort, 'askPermission' | 'ask'> & {
  answerPermission(id: string, answer: PermissionAnswer, by?: 'person' | 'host' | 'abort'): boolean;
  answerQuestion(id: string, answer: UserAnswer | undefined): boolean;
};

const INTERRUPTED: PermissionAnswer = { behavior: 'deny', message: 'Interrupted by the user.', interrupt: true };

export function createQuestions({ tell }: Pick<AgentStore, 'tell'>, newId: () => string): Questions {
  /** Who waits for an answer, by the id of the question. The questions themselves are in the state. */
  const permissions = new Map<string, (answer: PermissionAnswer) => void>();
  const questions = new Map<string, (answer: UserAnswer | undefined) => void>();

  const answerPermission: Questions['answerPermission'] = (id, answer, by = 'person') => {
    const resolve = permissions.get(id);
    if (resolve === undefined) return false;
    permissions.delete(id);
    void tell({ type: 'permission_answer', requestId: id, answer, by });
    resolve(answer);
    return true;
  };

  const answerQuestion: Questions['answerQuestion'] = (id, answer) => {
    const resolve = questions.get(id);
    if (resolve === undefined) return false;
    questions.delete(id);
    void tell({ type: 'question_answer', id, answer });
    resolve(answer);
    return true;
  };

  return {
    askPermission(request, signal) {
      if (signal.aborted) return Promise.resolve(INTERRUPTED);
      return new Promise((resolve) => {
        permissions.set(request.id, resolve);
        signal.addEventListener('abort', () => answerPermission(request.id, INTERRUPTED, 'abort'), { once: true });
        void tell({ type: 'permission_request', request });
      });
    },
    ask(callId, question, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      const id = newId();
      return new Promise((resolve) => {
        questions.set(id, resolve);
        signal.addEventListener('abort', () => answerQuestion(id, undefined), { once: true });
        void tell({ type: 'question', id, callId, question });
      });
    },
    answerPermission,
    answerQuestion,
  };
}
