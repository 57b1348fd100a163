import type { UserQuestion } from '../../../contracts/tool.ts';
import { escapeDisplayName, sanitize } from '../../../lib/text/sanitize.ts';
import { colored, createProseLine, plain } from '../../text/line.ts';
import type { DialogForm, DialogRequest, OpenDialog } from '../permission-dialog/dialog-state.ts';
import { type DialogBody, EMPTY_DIALOG_BODY } from '../permission-dialog/permission-body.ts';
import { formatFilledFields, listQuestionParts } from './question-fields.ts';

/** Returns the title of a question dialog. */
export function formatQuestionTitle(question: UserQuestion): string {
  switch (question.kind) {
    case 'plan':
      return 'Go ahead with this plan?';
    case 'elicitation':
      return `The MCP server ${sanitize(question.server, 'line')} asks`;
    default:
      return 'A question for you';
  }
}

/** Creates the body of a question dialog. A plan has none, because it is printed above in the history. */
export function createQuestionBody(
  request: Extract<DialogRequest, { kind: 'question' }>,
  { form }: OpenDialog,
): DialogBody {
  const { question } = request;
  switch (question.kind) {
    case 'plan':
      return EMPTY_DIALOG_BODY;
    case 'elicitation':
      return createElicitationBody(question, form);
    default: {
      const part = listQuestionParts(question)[form.partIndex];
      if (part === undefined) return EMPTY_DIALOG_BODY;
      const position = question.questions.length > 1 ? ` (${form.partIndex + 1}/${question.questions.length})` : '';
      return {
        ...EMPTY_DIALOG_BODY,
        subject: [createProseLine(plain(escapeDisplayName(part.question)), colored('dim', position))],
        description: part.hints.map(createHint),
      };
    }
  }
}

type Elicitation = Extract<UserQuestion, { kind: 'elicitation' }>;

/** Creates the body of an elicitation: the message, and the URL, the current field or the review of the form. */
function createElicitationBody(question: Elicitation, { partIndex, answers, problem }: DialogForm): DialogBody {
  const message = sanitize(question.message, 'prompt')
    .split('\n')
    .map((line) => `│ ${line}`);
  if (question.wants.mode === 'url') {
    const { url } = question.wants;
    const host = URL.canParse(url) ? new URL(url).host : 'invalid URL';
    return {
      ...EMPTY_DIALOG_BODY,
      warnings: [createProseLine(plain('Host: '), colored('code', sanitize(host, 'line')))],
      subject: [...message, sanitize(url, 'line')].map((line) => createProseLine(plain(line))),
    };
  }
  const parts = listQuestionParts(question);
  const part = parts[partIndex];
  const filled = part === undefined ? formatFilledFields(question, answers).map((line) => sanitize(line, 'line')) : [];
  const position = parts.length > 1 ? ` (${partIndex + 1}/${parts.length})` : '';
  const field =
    part === undefined ? [] : [createProseLine(plain(escapeDisplayName(part.question)), colored('dim', position))];
  return {
    ...EMPTY_DIALOG_BODY,
    warnings: problem === undefined ? [] : [createProseLine(colored('warn', sanitize(problem, 'line')))],
    subject: [...[...message, ...filled].map((line) => createProseLine(plain(line))), ...field],
    description: part?.hints.map(createHint) ?? [],
  };
}

function createHint(text: string) {
  return createProseLine(colored('dim', escapeDisplayName(text)));
}
