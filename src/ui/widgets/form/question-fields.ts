import type { Question, QuestionOption } from '../../../contracts/display.ts';
import type { JsonObject, JsonValue } from '../../../contracts/json.ts';
import type { UserAnswer, UserQuestion } from '../../../contracts/tool.ts';
import {
  type FormField,
  parseFormFields,
  parseFormFieldValue,
  validateFormFieldValue,
} from '../../../lib/form-schema.ts';
import { formatCodeBlock } from '../../../lib/text/markdown.ts';
import { joinQuote, quoteLines } from '../../../lib/text/quote-lines.ts';

/** One question of a set, or one field of a form. An answer is text, or the JSON of a field value. */
export type QuestionPart = {
  readonly question: string;
  readonly quote?: string | undefined;
  readonly hints: readonly string[];
  readonly options: readonly (QuestionOption & { readonly answer: string })[];
  readonly multiSelect: boolean;
  /** Label of the option to type an answer; undefined: one of the options has to be chosen. */
  readonly typedLabel: string | undefined;
  /** Choices that can only be typed, because there are more choices than digit keys. */
  readonly typedChoices?: readonly string[];
  /** Initial text of a typed answer. */
  readonly initialText: string;
  /** Option to skip: its label, and the answer that it gives. */
  readonly skip: { readonly label: string; readonly answer: string } | undefined;
};

/** A parsed answer, or the reason why it is invalid. */
export type ParsedAnswer =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly problem: string };

/** Maximum number of choices that have a digit key. */
export const MAX_KEYED_CHOICES = 9;
/** Answer of a field that was skipped. */
const SKIPPED = '';

/** Returns the parts of a question; none for a question that is answered as a whole. */
export function listQuestionParts(question: UserQuestion): readonly QuestionPart[] {
  if (question.kind === 'questions') return question.questions.map(createQuestionPart);
  return getFormFields(question).map(createFieldPart);
}

/** Returns whether a part asks for a yes or a no: one of its options is marked as a refusal, or as a lasting yes. */
export function isApprovalQuestionPart({ options }: QuestionPart): boolean {
  return options.some(({ grade }) => grade !== undefined);
}

/** Formats the full question as Markdown for the viewer: a plan as it is, anything else as preformatted text. */
export function formatQuestion(question: UserQuestion, index: number): string {
  if (question.kind === 'plan') return question.plan;
  const part = listQuestionParts(question)[index];
  const choices = part?.options.map(({ label, description }, number) =>
    [`${number + 1}  ${label}`, ...(description === undefined ? [] : [`   ${description}`])].join('\n'),
  );
  const request = question.kind === 'elicitation' ? question.wants : undefined;
  const parts = [
    ...(question.kind === 'elicitation' ? [quoteLines(question.message)] : []),
    ...(request?.mode === 'url' ? [request.url] : []),
    ...(part === undefined ? formatFilledFields(question, []) : [joinQuote(part), ...part.hints, ...(choices ?? [])]),
  ];
  return formatCodeBlock(parts.join('\n\n'));
}

/** Joins several selected answers and validates the result. */
export function joinAnswers(question: UserQuestion, index: number, answers: readonly string[]): ParsedAnswer {
  const field = getFormFields(question)[index];
  if (field === undefined) return { ok: true, answer: answers.join(', ') };
  const answer = `[${answers.join(',')}]`;
  const problem = validateFormFieldValue(field, parseJson(answer));
  return problem === undefined ? { ok: true, answer } : { ok: false, problem };
}

/** Parses a typed answer by the field of the form that it is for. */
export function parseTypedAnswer(question: UserQuestion, index: number, text: string): ParsedAnswer {
  const field = getFormFields(question)[index];
  if (field === undefined) return { ok: true, answer: text };
  const parsed = parseFormFieldValue(field, text);
  return parsed.ok ? { ok: true, answer: JSON.stringify(parsed.value) } : parsed;
}

/** Creates the complete answer after every part has been answered. */
export function createUserAnswer(question: UserQuestion, answers: readonly string[]): UserAnswer {
  if (question.kind === 'questions') return { kind: 'questions', answers };
  const content: JsonObject = Object.fromEntries(
    listFilledFields(question, answers).map(({ field, value }) => [field.name, value]),
  );
  return { kind: 'elicitation', action: 'accept', content };
}

/** Formats the values of a form, a line each, for review before sending. */
export function formatFilledFields(question: UserQuestion, answers: readonly string[]): readonly string[] {
  return listFilledFields(question, answers).map(({ field, value }) => `${field.title}: ${formatValue(field, value)}`);
}

function listFilledFields(question: UserQuestion, answers: readonly string[]) {
  return getFormFields(question).flatMap((field, index) => {
    const answer = answers[index] ?? SKIPPED;
    return answer === SKIPPED ? [] : [{ field, value: parseJson(answer) }];
  });
}

function getFormFields(question: UserQuestion): readonly FormField[] {
  return question.kind === 'elicitation' && question.wants.mode === 'form'
    ? parseFormFields(question.wants.schema)
    : [];
}

function createQuestionPart({ question, quote, options, multiSelect }: Question): QuestionPart {
  return {
    question,
    quote,
    hints: multiSelect ? [MULTI_SELECT_HINT] : [],
    options: options.map((option) => ({ ...option, answer: option.label })),
    multiSelect,
    typedLabel: 'Type another answer',
    initialText: '',
    skip: { label: 'skip', answer: SKIPPED },
  };
}

const MULTI_SELECT_HINT = 'Select any number: digits toggle, enter sends.';

function createFieldPart(field: FormField): QuestionPart {
  const { title, description, isRequired, type, default: defaultValue } = field;
  const isText = type.kind === 'text' || type.kind === 'number';
  const choices = type.kind === 'one of' || type.kind === 'some of' ? type.choices : [];
  const options =
    type.kind === 'yes or no'
      ? [
          { label: 'Yes', answer: 'true' },
          { label: 'No', answer: 'false' },
        ]
      : choices.map(({ label, value }) => ({ label, answer: JSON.stringify(value) }));
  return {
    question: `${title}${isRequired ? '' : ' (optional)'}`,
    hints: [
      ...(description === undefined ? [] : [description]),
      ...(isText ? [formatLimits(type)].filter((hint) => hint !== '') : []),
      ...(type.kind === 'some of' ? [MULTI_SELECT_HINT] : []),
    ],
    options,
    multiSelect: type.kind === 'some of',
    typedLabel: isText
      ? 'Type a value'
      : options.length > MAX_KEYED_CHOICES
        ? 'Type one of the other choices'
        : undefined,
    ...(options.length > MAX_KEYED_CHOICES
      ? { typedChoices: options.slice(MAX_KEYED_CHOICES).map(({ label }) => label) }
      : {}),
    initialText: isText && defaultValue !== undefined ? String(defaultValue) : '',
    skip: createSkipOption(field),
  };
}

function createSkipOption(field: FormField): QuestionPart['skip'] {
  const { default: defaultValue, isRequired } = field;
  if (defaultValue !== undefined)
    return { label: `use ${formatValue(field, defaultValue)}`, answer: JSON.stringify(defaultValue) };
  return isRequired ? undefined : { label: 'skip', answer: SKIPPED };
}

function formatLimits(wants: Extract<FormField['type'], { kind: 'text' | 'number' }>): string {
  const format = wants.kind === 'text' ? wants.format : wants.isWhole ? 'a whole number' : 'a number';
  const unit = wants.kind === 'text' ? ' characters' : '';
  const minimum = wants.atLeast === undefined ? [] : [`at least ${wants.atLeast}${unit}`];
  const maximum = wants.atMost === undefined ? [] : [`at most ${wants.atMost}${unit}`];
  return [...(format === undefined ? [] : [format]), ...minimum, ...maximum].join(', ');
}

function formatValue({ type }: FormField, value: JsonValue): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  const choices = type.kind === 'one of' || type.kind === 'some of' ? type.choices : [];
  const formatItem = (item: JsonValue) => choices.find((choice) => choice.value === item)?.label ?? String(item);
  return Array.isArray(value) ? value.map(formatItem).join(', ') : formatItem(value);
}

function parseJson(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text);
  return value;
}
