import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { UserQuestion } from '../../contracts/tool.ts';
import { type Ask, type AskForm, type OpenDialog, openDialog } from '../view/ask.ts';
import {
  type AskedPart,
  askedParts,
  joinedAnswer,
  type ReadAnswer,
  wholeAnswer,
  writtenPart,
} from '../view/asked-parts.ts';
import { ownDraft, type ViewState } from '../view/view-state.ts';
import { only, type Pressed, withEffects } from './effects.ts';

/** One step through a set of questions. */
export type QuestionStep =
  | { readonly type: 'choose'; readonly choice: number; readonly how: 'mark' | 'take' }
  | { readonly type: 'send_marked' | 'skip' | 'back' }
  | { readonly type: 'said'; readonly words: string };

/** Takes an answer in; the last one sends them all, or shows a form as it is filled in. */
export function answerQuestions(view: ViewState, ask: Ask, attention: OpenDialog, step: QuestionStep): Pressed {
  if (ask.kind !== 'question') return only(view);
  const { question } = ask;
  const { form } = attention;
  if (step.type === 'back') {
    const previous: AskForm = {
      ...form,
      question: Math.max(0, form.question - 1),
      answers: form.answers.slice(0, -1),
      marked: [],
      begun: undefined,
      problem: undefined,
    };
    return only(atPart(view, attention, previous));
  }
  const asked = askedParts(question)[form.question];
  if (asked === undefined) return only(view);
  if (step.type === 'choose' && asked.multiSelect && step.how === 'mark') {
    const marked = form.marked.includes(step.choice)
      ? form.marked.filter((one) => one !== step.choice)
      : [...form.marked, step.choice].sort((a, b) => a - b);
    return only({ ...view, attention: { ...attention, form: { ...form, marked } } });
  }
  const read = answerOf(ask.question, asked, form, step);
  if (!read.ok) return only({ ...view, attention: { ...attention, form: { ...form, problem: read.problem } } });
  const answers = [...form.answers, read.answer];
  if (question.kind === 'questions' && answers.length === question.questions.length) {
    return withEffects(view, { type: 'answer_question', id: ask.id, answer: wholeAnswer(question, answers) });
  }
  const next: AskForm = {
    ...form,
    question: form.question + 1,
    answers,
    marked: [],
    begun: undefined,
    problem: undefined,
  };
  return only(atPart(view, attention, next));
}

/** What a step says to the part that is asked. */
function answerOf(
  question: UserQuestion,
  asked: AskedPart,
  { question: at, marked }: AskForm,
  step: Exclude<QuestionStep, { type: 'back' }>,
): ReadAnswer {
  const answersAt = (choices: readonly number[]) => choices.flatMap((choice) => asked.options[choice]?.answer ?? []);
  if (step.type === 'said') return writtenPart(question, at, step.words);
  if (step.type === 'skip') return { ok: true, answer: asked.skip?.answer ?? '' };
  if (step.type === 'choose' && !asked.multiSelect) return { ok: true, answer: answersAt([step.choice])[0] ?? '' };
  return joinedAnswer(question, at, answersAt(step.type === 'choose' && marked.length === 0 ? [step.choice] : marked));
}

/** Another part of the same questions: it is new to whoever reads it, so it hears keys as late as a dialog of its own. */
function atPart(view: ViewState, { over }: OpenDialog, form: AskForm): ViewState {
  return { ...view, attention: { ...openDialog(view.keys.lastKeyAtMs), over, form } };
}

/** What was written for a dialog, sent. Nothing is sent for nothing, but a no needs no reason. */
export function writtenAnswer(view: ViewState, ask: Ask, attention: OpenDialog, words: string): Pressed {
  const { form } = attention;
  const isBareNo = ask.kind === 'permission' && form.writing === 'reason';
  if (words === '' && !isBareNo) return only(view);
  const back: ViewState = {
    ...view,
    editor: ownDraft(view),
    attention: { ...attention, form: { ...form, writing: 'nothing', begun: undefined, kept: undefined } },
  };
  if (ask.kind === 'permission') {
    return withEffects(back, {
      type: 'answer_permission',
      id: ask.id,
      answer: writtenPermission(ask.request, form, words),
    });
  }
  switch (ask.question.kind) {
    case 'plan':
      return withEffects(back, {
        type: 'answer_question',
        id: ask.id,
        answer:
          form.writing === 'plan'
            ? { kind: 'plan', verdict: 'accept', plan: words }
            : { kind: 'plan', verdict: 'keep_planning', words },
      });
    default: {
      const read = writtenPart(ask.question, form.question, words);
      // What cannot be taken stays where it was written.
      if (!read.ok) return only({ ...view, attention: { ...attention, form: { ...form, problem: read.problem } } });
      const { attention: restored } = back;
      return restored.stage === 'open' ? answerQuestions(back, ask, restored, { type: 'said', words }) : only(back);
    }
  }
}

function writtenPermission(request: PermissionRequest, { writing }: AskForm, words: string): PermissionAnswer {
  switch (writing) {
    case 'rule':
      return { behavior: 'allow', remember: { rules: [words], destination: 'local' } };
    case 'command':
      return { behavior: 'allow', updatedInput: { ...request.facts.input, command: words } };
    default:
      return words === '' ? { behavior: 'deny' } : { behavior: 'deny', message: words };
  }
}
