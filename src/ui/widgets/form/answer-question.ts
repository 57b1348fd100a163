import type { PermissionAnswer, PermissionRequest } from '../../../contracts/permission.ts';
import type { UserQuestion } from '../../../contracts/tool.ts';
import { getUserDraft, type ViewState } from '../../app-state/view-state.ts';
import { type InputResult, withEffects, withoutEffects } from '../../input/input-result.ts';
import {
  createOpenDialogState,
  type DialogForm,
  type DialogRequest,
  type OpenDialog,
} from '../permission-dialog/dialog-state.ts';
import {
  createUserAnswer,
  joinAnswers,
  listQuestionParts,
  type ParsedAnswer,
  parseTypedAnswer,
  type QuestionPart,
} from './question-fields.ts';

/** One step in a set of questions or a form. */
export type QuestionAnswerStep =
  | { readonly type: 'choose'; readonly choice: number; readonly mode: 'mark' | 'take' }
  | { readonly type: 'send_marked' | 'skip' | 'back' }
  | { readonly type: 'typed'; readonly text: string };

/** Applies a step. The last answer sends all answers, or opens the review of a form. */
export function applyAnswerStep(
  view: ViewState,
  request: DialogRequest,
  dialog: OpenDialog,
  step: QuestionAnswerStep,
): InputResult {
  if (request.kind !== 'question') return withoutEffects(view);
  const { question } = request;
  const { form } = dialog;
  if (step.type === 'back') {
    const previousForm: DialogForm = {
      ...form,
      partIndex: Math.max(0, form.partIndex - 1),
      answers: form.answers.slice(0, -1),
      marked: [],
      unsentText: undefined,
      problem: undefined,
    };
    return withoutEffects(showPart(view, dialog, previousForm));
  }
  const part = listQuestionParts(question)[form.partIndex];
  if (part === undefined) return withoutEffects(view);
  if (step.type === 'choose' && part.multiSelect && step.mode === 'mark') {
    const marked = form.marked.includes(step.choice)
      ? form.marked.filter((choice) => choice !== step.choice)
      : [...form.marked, step.choice].sort((a, b) => a - b);
    return withoutEffects({ ...view, dialog: { ...dialog, form: { ...form, marked } } });
  }
  const parsed = createAnswer(request.question, part, form, step);
  if (!parsed.ok) return withoutEffects({ ...view, dialog: { ...dialog, form: { ...form, problem: parsed.problem } } });
  const answers = [...form.answers, parsed.answer];
  if (question.kind === 'questions' && answers.length === question.questions.length) {
    return withEffects(view, { type: 'answer_question', id: request.id, answer: createUserAnswer(question, answers) });
  }
  const nextForm: DialogForm = {
    ...form,
    partIndex: form.partIndex + 1,
    answers,
    marked: [],
    unsentText: undefined,
    problem: undefined,
  };
  return withoutEffects(showPart(view, dialog, nextForm));
}

/** Returns the answer that a step gives to the current part. */
function createAnswer(
  question: UserQuestion,
  part: QuestionPart,
  { partIndex, marked }: DialogForm,
  step: Exclude<QuestionAnswerStep, { type: 'back' }>,
): ParsedAnswer {
  const answersAt = (choices: readonly number[]) => choices.flatMap((choice) => part.options[choice]?.answer ?? []);
  if (step.type === 'typed') return parseTypedAnswer(question, partIndex, step.text);
  if (step.type === 'skip') return { ok: true, answer: part.skip?.answer ?? '' };
  if (step.type === 'choose' && !part.multiSelect) return { ok: true, answer: answersAt([step.choice])[0] ?? '' };
  return joinAnswers(
    question,
    partIndex,
    answersAt(step.type === 'choose' && marked.length === 0 ? [step.choice] : marked),
  );
}

/** Shows another part. It has not been read yet, so it accepts keys as late as a new dialog. */
function showPart(view: ViewState, { draftText }: OpenDialog, form: DialogForm): ViewState {
  return { ...view, dialog: { ...createOpenDialogState(view.keys.lastKeyAtMs), draftText, form } };
}

/** Sends the text typed for a dialog. Empty text skips a field, denies without a reason, and otherwise sends nothing. */
export function sendTypedAnswer(
  view: ViewState,
  request: DialogRequest,
  dialog: OpenDialog,
  text: string,
): InputResult {
  const { form } = dialog;
  // A no needs no reason.
  if (text === '' && form.typing !== 'reason' && !canSkip(request, form)) return withoutEffects(view);
  const closed: ViewState = {
    ...view,
    editor: getUserDraft(view),
    dialog: { ...dialog, form: { ...form, typing: 'nothing', unsentText: undefined, userDraft: undefined } },
  };
  if (request.kind === 'permission') {
    return withEffects(closed, {
      type: 'answer_permission',
      id: request.id,
      answer: createPermissionAnswer(request.permission, form, text),
    });
  }
  switch (request.question.kind) {
    case 'plan':
      return withEffects(closed, {
        type: 'answer_question',
        id: request.id,
        answer:
          form.typing === 'plan'
            ? { kind: 'plan', verdict: 'accept', plan: text }
            : { kind: 'plan', verdict: 'keep_planning', ...(text === '' ? {} : { words: text }) },
      });
    default: {
      if (text === '' && closed.dialog.stage === 'open')
        return applyAnswerStep(closed, request, closed.dialog, { type: 'skip' });
      const parsed = parseTypedAnswer(request.question, form.partIndex, text);
      // Invalid text stays in the composer.
      if (!parsed.ok)
        return withoutEffects({ ...view, dialog: { ...dialog, form: { ...form, problem: parsed.problem } } });
      const { dialog: restored } = closed;
      return restored.stage === 'open'
        ? applyAnswerStep(closed, request, restored, { type: 'typed', text: text })
        : withoutEffects(closed);
    }
  }
}

/** Tells whether the field that is open may stay empty. */
function canSkip(request: DialogRequest, { partIndex }: DialogForm): boolean {
  if (request.kind !== 'question' || request.question.kind !== 'elicitation') return false;
  return listQuestionParts(request.question)[partIndex]?.skip?.answer === '';
}

function createPermissionAnswer(request: PermissionRequest, { typing }: DialogForm, text: string): PermissionAnswer {
  switch (typing) {
    case 'rule':
      return { behavior: 'allow', remember: { rules: [text], destination: 'local' } };
    case 'command':
      return { behavior: 'allow', updatedInput: { ...request.facts.input, command: text } };
    default:
      return text === '' ? { behavior: 'deny' } : { behavior: 'deny', message: text };
  }
}
