import type { QuestionSource, UserQuestion } from '../../../contracts/tool.ts';
import { truncate } from '../../../lib/text/format.ts';
import { QUOTE_BAR } from '../../../lib/text/quote-lines.ts';
import { escapeDisplayName, sanitize } from '../../../lib/text/sanitize.ts';
import { colored, createProseLine, type LogicalLine, plain } from '../../text/line.ts';
import type { DialogForm, DialogRequest, OpenDialog } from '../permission-dialog/dialog-state.ts';
import { type DialogBody, EMPTY_DIALOG_BODY } from '../permission-dialog/permission-body.ts';
import { formatFilledFields, listQuestionParts } from './question-fields.ts';

/** Returns the title of a question dialog. */
export function formatQuestionTitle(question: UserQuestion): string {
  switch (question.kind) {
    case 'plan':
      return 'Go ahead with this plan?';
    case 'elicitation':
      return formatServerTitle(question);
    default:
      return question.source === undefined ? 'A question for you' : formatServerTitle(question.source);
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
        warnings: question.source === undefined ? [] : createSourceLines(question.source),
        subject: [
          createProseLine(plain(escapeDisplayName(part.question)), colored('dim', position)),
          ...(part.quote === undefined ? [] : createQuote(part.quote)),
        ],
        description: part.hints.map(createHint),
      };
    }
  }
}

type Elicitation = Extract<UserQuestion, { kind: 'elicitation' }>;

/** Creates the body of an elicitation: the message, and the URL, the current field or the review of the form. */
function createElicitationBody(question: Elicitation, { partIndex, answers, problem }: DialogForm): DialogBody {
  const message = createQuote(question.message);
  const source = createSourceLines(question);
  if (question.wants.mode === 'url') {
    const { url } = question.wants;
    const host = URL.canParse(url) ? new URL(url).host : 'invalid URL';
    return {
      ...EMPTY_DIALOG_BODY,
      warnings: [...source, createProseLine(plain('Host: '), colored('code', sanitize(host, 'line')))],
      subject: [...message, createProseLine(plain(sanitize(url, 'line')))],
    };
  }
  const parts = listQuestionParts(question);
  const part = parts[partIndex];
  const filled = part === undefined ? formatFilledFields(question, answers).map((line) => sanitize(line, 'line')) : [];
  const position = parts.length > 1 ? ` (${partIndex + 1}/${parts.length})` : '';
  const field =
    part === undefined ? [] : [quote(createProseLine(plain(shortenLabel(part.question)), colored('dim', position)))];
  return {
    ...EMPTY_DIALOG_BODY,
    warnings: [
      ...source,
      ...(problem === undefined ? [] : [createProseLine(colored('warn', sanitize(problem, 'line')))]),
    ],
    subject: [...message, ...filled.map((line) => quote(createProseLine(plain(shortenLabel(line))))), ...field],
    description: part?.hints.map((hint) => quote(createHint(shortenLabel(hint)))) ?? [],
  };
}

function formatServerTitle({ server }: QuestionSource): string {
  return `The MCP server ${sanitize(server, 'line')} asks`;
}

/** Names the file that configures the server that asks. */
function createSourceLines({ file }: QuestionSource): readonly LogicalLine[] {
  return file === undefined ? [] : [createProseLine(colored('dim', `Configured in ${sanitize(file, 'line')}`))];
}

/** A server's text with a bar before every row, so that no wrapped row looks like ouro's. */
function createQuote(text: string): readonly LogicalLine[] {
  return sanitize(text, 'prompt')
    .split('\n')
    .map((line) => quote(createProseLine(plain(line))));
}

function quote(line: LogicalLine): LogicalLine {
  return { ...line, prefix: [colored('dim', QUOTE_BAR)] };
}

const MAX_LABEL_CHARS = 200;

/** Shortens a server's title or description of a field; all of it is in the viewer. */
function shortenLabel(text: string): string {
  return truncate(escapeDisplayName(text), MAX_LABEL_CHARS + 1);
}

function createHint(text: string) {
  return createProseLine(colored('dim', escapeDisplayName(text)));
}
