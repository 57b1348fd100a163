import type { AgentEvent } from '../contracts/event.ts';
import type { UserQuestion } from '../contracts/tool.ts';
import type { EditorLink } from './editor-link.ts';

const TOOL = 'setSessionState';
const CALL_TIMEOUT_MS = 5_000;

/**
 * Creates the listener that tells the editor which question the session waits with, if the editor has a view for it.
 * `getTitle` names the session.
 */
export function createSessionStateReporter(link: Pick<EditorLink, 'hasTool' | 'callTool'>, getTitle: () => string) {
  const questions = new Map<string, string>();
  let shown = '';

  function show(): void {
    const question = [...questions.values()][0] ?? '';
    if (question === shown || !link.hasTool(TOOL)) return;
    shown = question;
    // The editor may be gone; it forgets the question with the connection.
    void link
      .callTool(TOOL, { question, title: getTitle() }, AbortSignal.timeout(CALL_TIMEOUT_MS))
      .catch(() => undefined);
  }

  return (event: AgentEvent): void => {
    switch (event.type) {
      case 'permission_request':
        questions.set(event.request.id, `Allow ${event.request.title}?`);
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
    show();
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
