import type { UserQuestion } from '../../../contracts/tool.ts';
import {
  BACK_OPTION,
  createAlwaysOption,
  createChoiceOption,
  createKeyOption,
  createNoOption,
  createYesOption,
  type DialogAction,
  type DialogForm,
  type DialogOption,
  SHOW_ALL_OPTION,
} from '../permission-dialog/dialog-state.ts';

import {
  createUserAnswer,
  isApprovalQuestionPart,
  listQuestionParts,
  MAX_KEYED_CHOICES,
  type QuestionPart,
} from './question-fields.ts';

/** Returns the options for a question: a plan, a request of a server, or the choices of one part. */
export function createQuestionOptions(question: UserQuestion, form: DialogForm): readonly DialogOption[] {
  switch (question.kind) {
    case 'plan':
      return [
        createYesOption('Yes, and ask before edits', decidePlan('accept')),
        createAlwaysOption("Yes, and don't ask again for edits in this session", decidePlan('accept_edits')),
        createNoOption('No, keep planning, and say what to change', {
          type: 'write',
          purpose: 'reason',
          initialText: '',
        }),
        createKeyOption('e', 'edit the plan', { type: 'write', purpose: 'plan', initialText: question.plan }),
        SHOW_ALL_OPTION,
      ];
    case 'elicitation':
      return question.wants.mode === 'url'
        ? [
            createYesOption('Yes, I will open this URL', ACCEPTED),
            DECLINE,
            createKeyOption('c', 'copy URL', { type: 'copy', text: question.wants.url }),
            SHOW_ALL_OPTION,
          ]
        : [...createFormOptions(question, form), DECLINE];
    default:
      return createPartOptions(question, form);
  }
}

const ACCEPTED: DialogAction = {
  type: 'answer_question',
  answer: { kind: 'elicitation', action: 'accept', content: {} },
};
const DECLINE = createNoOption('No', {
  type: 'answer_question',
  answer: { kind: 'elicitation', action: 'decline' },
});

/** Creates the options for the current field of a form; after the last one, for the review of the form. */
function createFormOptions(question: UserQuestion, form: DialogForm): readonly DialogOption[] {
  const parts = listQuestionParts(question);
  if (parts.length === 0) return [createYesOption('Yes', ACCEPTED)];
  if (form.partIndex < parts.length) return createPartOptions(question, form);
  const answer = createUserAnswer(question, form.answers);
  return [createYesOption('Yes, send it', { type: 'answer_question', answer }), BACK_OPTION];
}

function createPartOptions(question: UserQuestion, form: DialogForm): readonly DialogOption[] {
  const part = listQuestionParts(question)[form.partIndex];
  if (part === undefined) return [];
  if (isApprovalQuestionPart(part)) return createApprovalOptions(part);
  const choices = part.options.map(({ label, description }, index): DialogOption => {
    const mark = part.multiSelect ? (form.marked.includes(index) ? '[x] ' : '[ ] ') : '';
    const option = createChoiceOption(String(index + 1), `${mark}${label}`, { type: 'choose', choice: index });
    return description === undefined ? option : { ...option, note: description };
  });
  const { typedLabel, typedChoices = [], initialText, skip } = part;
  const keyed = choices.slice(0, MAX_KEYED_CHOICES);
  const typedKeys: Pick<DialogOption, 'digit' | 'note'> = {
    ...(keyed.length < MAX_KEYED_CHOICES ? { digit: String(keyed.length + 1) } : {}),
    ...(typedChoices.length === 0 ? {} : { note: typedChoices.join(', ') }),
  };
  return [
    ...keyed,
    ...(typedLabel === undefined
      ? []
      : [
          {
            ...createChoiceOption('o', typedLabel, { type: 'write', purpose: 'custom_answer', initialText }),
            ...typedKeys,
          },
        ]),
    ...(skip === undefined ? [] : [createKeyOption('s', skip.label, { type: 'skip' })]),
    ...(form.partIndex === 0 ? [] : [BACK_OPTION]),
    SHOW_ALL_OPTION,
  ];
}

/** Creates the options for a yes or a no in the order of every other dialog. */
function createApprovalOptions({ options, typedLabel, initialText }: QuestionPart): readonly DialogOption[] {
  const answers = options.map(({ label, description, grade }, index): DialogOption => {
    const create = { yes: createYesOption, always: createAlwaysOption, no: createNoOption }[grade ?? 'yes'];
    const option = create(label, { type: 'choose', choice: index });
    return description === undefined ? option : { ...option, note: description };
  });
  return [
    ...answers.toSorted((one, other) => Number(one.digit) - Number(other.digit)),
    ...(typedLabel === undefined
      ? []
      : [createKeyOption('o', typedLabel.toLowerCase(), { type: 'write', purpose: 'custom_answer', initialText })]),
    SHOW_ALL_OPTION,
  ];
}

function decidePlan(verdict: 'accept' | 'accept_edits' | 'keep_planning'): DialogAction {
  return { type: 'answer_question', answer: { kind: 'plan', verdict } };
}
