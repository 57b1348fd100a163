import type { UserQuestion } from '../../contracts/tool.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { type LogicalLine, plain, proseLine, terminalLine, toned } from '../text/line.ts';
import type { Ask, Attention } from '../view/ask.ts';

type Armed = Extract<Attention, { stage: 'armed' }>;

/** What kind of answer is wanted. */
export function questionTitle(question: UserQuestion): string {
  switch (question.kind) {
    case 'plan':
      return 'Go ahead with this plan?';
    case 'elicitation':
      return `${sanitizeScreen(question.server)} asks`;
    default:
      return 'A question for you';
  }
}

/** The question itself; a plan stands above in the history. */
export function questionBody(ask: Extract<Ask, { kind: 'question' }>, { form }: Armed): readonly LogicalLine[] {
  const { question } = ask;
  switch (question.kind) {
    case 'plan':
      return [];
    case 'elicitation':
      return [proseLine(plain(sanitizeScreen(question.message)))];
    default: {
      const asked = question.questions[form.question];
      if (asked === undefined) return [];
      const place = question.questions.length > 1 ? ` (${form.question + 1}/${question.questions.length})` : '';
      const several = asked.multiSelect ? '  several may be chosen: space marks, enter sends' : '';
      return [
        { ...proseLine(plain(sanitizeScreen(asked.question)), toned('dim', place)), indent: 2 },
        ...(several === '' ? [] : [terminalLine(toned('dim', several))]),
      ];
    }
  }
}
