import type { UserQuestion } from '../../contracts/tool.ts';
import { sanitize, sanitizeScreen } from '../../lib/text/sanitize.ts';
import { plain, proseLine, terminalLine, toned } from '../text/line.ts';
import type { Ask, OpenDialog } from '../view/ask.ts';
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
      return {
        ...EMPTY,
        subject: sanitizeScreen(question.message)
          .split('\n')
          .map((line) => proseLine(plain(line))),
      };
    default: {
      const asked = question.questions[form.question];
      if (asked === undefined) return EMPTY;
      const place = question.questions.length > 1 ? ` (${form.question + 1}/${question.questions.length})` : '';
      const several = 'Several may be chosen: a digit marks, enter sends.';
      return {
        ...EMPTY,
        subject: [proseLine(plain(sanitizeScreen(asked.question).replaceAll('\n', ' ')), toned('dim', place))],
        said: asked.multiSelect ? [terminalLine(toned('dim', several))] : [],
      };
    }
  }
}
