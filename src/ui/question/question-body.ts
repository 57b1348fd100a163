import type { UserQuestion } from '../../contracts/tool.ts';
import { printableName, sanitize } from '../../lib/text/sanitize.ts';
import { plain, proseLine, toned } from '../text/line.ts';
import type { Ask, AskForm, OpenDialog } from '../view/ask.ts';
import { askedParts, filledLines } from '../view/asked-parts.ts';
import type { DialogBody } from './permission-body.ts';

const EMPTY: DialogBody = { warnings: [], subject: [], said: [], risks: [], details: [] };

/** What kind of answer is wanted. */
export function questionTitle(question: UserQuestion): string {
  switch (question.kind) {
    case 'plan':
      return 'Go ahead with this plan?';
    case 'elicitation':
      return `${sanitize(question.server, 'line')} asks`;
    default:
      return 'A question for you';
  }
}

/** The question itself; a plan stands above in the history. */
export function questionBody(ask: Extract<Ask, { kind: 'question' }>, { form }: OpenDialog): DialogBody {
  const { question } = ask;
  switch (question.kind) {
    case 'plan':
      return EMPTY;
    case 'elicitation':
      return elicitationBody(question, form);
    default: {
      const asked = askedParts(question)[form.question];
      if (asked === undefined) return EMPTY;
      const place = question.questions.length > 1 ? ` (${form.question + 1}/${question.questions.length})` : '';
      return {
        ...EMPTY,
        subject: [proseLine(plain(printableName(asked.question)), toned('dim', place))],
        said: asked.hints.map(hintLine),
      };
    }
  }
}

type Elicitation = Extract<UserQuestion, { kind: 'elicitation' }>;

/** What the server says, and the field that is to be filled in, or the whole form before it is sent. */
function elicitationBody(question: Elicitation, { question: at, answers, problem }: AskForm): DialogBody {
  const message = sanitize(question.message, 'prompt').split('\n');
  if (question.wants.mode === 'url') {
    const { url } = question.wants;
    const host = URL.canParse(url) ? new URL(url).host : 'no address at all';
    return {
      ...EMPTY,
      warnings: [proseLine(plain('It leads to '), toned('code', sanitize(host, 'line')))],
      subject: [...message, sanitize(url, 'line')].map((line) => proseLine(plain(line))),
    };
  }
  const parts = askedParts(question);
  const asked = parts[at];
  const filled = asked === undefined ? filledLines(question, answers).map((line) => sanitize(line, 'line')) : [];
  const place = parts.length > 1 ? ` (${at + 1}/${parts.length})` : '';
  const field = asked === undefined ? [] : [proseLine(plain(printableName(asked.question)), toned('dim', place))];
  return {
    ...EMPTY,
    warnings: problem === undefined ? [] : [proseLine(toned('warn', sanitize(problem, 'line')))],
    subject: [...[...message, ...filled].map((line) => proseLine(plain(line))), ...field],
    said: asked?.hints.map(hintLine) ?? [],
  };
}

function hintLine(words: string) {
  return proseLine(toned('dim', printableName(words)));
}
