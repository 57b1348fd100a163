import type { AgentEvent } from '../contracts/event.ts';
import type { PermissionRequest } from '../contracts/permission.ts';
import type { UserQuestion } from '../contracts/tool.ts';
import type { EditorLink } from './editor-link.ts';

const TOOL = 'setSessionState';
const CALL_TIMEOUT_MS = 5_000;

/** The dependencies of the reports about a session. */
export type SessionStateReporterDeps = {
  readonly link: EditorLink;
  /** Names the session. */
  readonly getTitle: () => string;
  readonly formatPath: (path: string) => string;
};

/** Tells the editor which question the session waits with, if the editor has a view for it. */
export function createSessionStateReporter({ link, getTitle, formatPath }: SessionStateReporterDeps) {
  const questions = new Map<string, string>();

  function report(): void {
    if (!link.hasTool(TOOL)) return;
    const [question = ''] = questions.values();
    // The editor finds the terminal of the session by its shell.
    const state = { question, title: getTitle(), shellPid: process.ppid };
    // The editor may be gone; it forgets the state with the connection.
    void link.callTool(TOOL, state, AbortSignal.timeout(CALL_TIMEOUT_MS)).catch(() => undefined);
  }

  function describeRequest({ title, facts }: PermissionRequest): string {
    const [path] = facts.writes ?? [];
    return facts.kind === 'edit' && path !== undefined ? `Change ${formatPath(path)}?` : `Allow ${title}?`;
  }

  return {
    onEvent(event: AgentEvent): void {
      switch (event.type) {
        case 'permission_request':
          questions.set(event.request.id, describeRequest(event.request));
          break;
        case 'question':
          questions.set(event.id, describeQuestion(event.question));
          break;
        case 'permission_answer':
          questions.delete(event.requestId);
          break;
        case 'question_answer':
          questions.delete(event.id);
          break;
        case 'agent_end':
          questions.clear();
          break;
        default:
          return;
      }
      report();
    },
    /** Repeats the state for an editor that has just been connected. */
    onConnected: report,
  };
}

function describeQuestion(question: UserQuestion): string {
  switch (question.kind) {
    case 'questions':
      return question.questions[0]?.question ?? 'A question';
    case 'plan':
      return 'Start with this plan?';
    default:
      return question.message;
  }
}
