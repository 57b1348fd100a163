import type { Question } from '../../contracts/display.ts';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import { readField, valueProblem } from '../../lib/forms/field-value.ts';
import { type FormField, formFields } from '../../lib/forms/form-fields.ts';
import { fenced } from '../../lib/text/fence.ts';

/** One part of what is asked in several parts. An answer is text: words, or the JSON of a form's value. */
export type AskedPart = {
  readonly question: string;
  readonly hints: readonly string[];
  readonly options: readonly { readonly label: string; readonly description?: string; readonly answer: string }[];
  readonly multiSelect: boolean;
  /** What own words are called; absent: one of the options has to be taken. */
  readonly ownWords: string | undefined;
  /** What can only be written, because there are more choices than keys. */
  readonly others?: readonly string[];
  /** What own words begin with. */
  readonly start: string;
  /** Leaving it out: what it is called, and the answer that means it. */
  readonly skip: { readonly label: string; readonly answer: string } | undefined;
};

/** What somebody wrote, as an answer. */
export type ReadAnswer =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly problem: string };

/** So many choices have a digit each. */
export const MOST_CHOICES = 9;
/** Nothing was filled in. */
const LEFT_OUT = '';

/** The parts of a question; none where it is answered as a whole. */
export function askedParts(question: UserQuestion): readonly AskedPart[] {
  if (question.kind === 'questions') return question.questions.map(questionPart);
  return fieldsOf(question).map(fieldPart);
}

/** All of what is asked, to be read on a page: a plan as it is laid out, anything else word by word. */
export function questionText(question: UserQuestion, at: number): string {
  if (question.kind === 'plan') return question.plan;
  const asked = askedParts(question)[at];
  const choices = asked?.options.map(({ label, description }, number) =>
    [`${number + 1}  ${label}`, ...(description === undefined ? [] : [`   ${description}`])].join('\n'),
  );
  const wish = question.kind === 'elicitation' ? question.wants : undefined;
  const parts = [
    ...(question.kind === 'elicitation' ? [question.message] : []),
    ...(wish?.mode === 'url' ? [wish.url] : []),
    ...(asked === undefined ? filledLines(question, []) : [asked.question, ...asked.hints, ...(choices ?? [])]),
  ];
  return fenced(parts.join('\n\n'));
}

/** Several answers as one, and why they may not be. */
export function joinedAnswer(question: UserQuestion, at: number, answers: readonly string[]): ReadAnswer {
  const field = fieldsOf(question)[at];
  if (field === undefined) return { ok: true, answer: answers.join(', ') };
  const answer = `[${answers.join(',')}]`;
  const problem = valueProblem(field, parsed(answer));
  return problem === undefined ? { ok: true, answer } : { ok: false, problem };
}

/** Own words as an answer. */
export function writtenPart(question: UserQuestion, at: number, words: string): ReadAnswer {
  const field = fieldsOf(question)[at];
  if (field === undefined) return { ok: true, answer: words };
  const read = readField(field, words);
  return read.ok ? { ok: true, answer: JSON.stringify(read.value) } : read;
}

/** The whole answer, once every part has one. */
export function wholeAnswer(question: UserQuestion, answers: readonly string[]): UserAnswer {
  if (question.kind === 'questions') return { kind: 'questions', answers };
  const content: JsonObject = Object.fromEntries(
    filled(question, answers).map(({ field, value }) => [field.name, value]),
  );
  return { kind: 'elicitation', action: 'accept', content };
}

/** What a form would send, line by line, to be looked at first. */
export function filledLines(question: UserQuestion, answers: readonly string[]): readonly string[] {
  return filled(question, answers).map(({ field, value }) => `${field.title}: ${valueWords(field, value)}`);
}

function filled(question: UserQuestion, answers: readonly string[]) {
  return fieldsOf(question).flatMap((field, at) => {
    const answer = answers[at] ?? LEFT_OUT;
    return answer === LEFT_OUT ? [] : [{ field, value: parsed(answer) }];
  });
}

function fieldsOf(question: UserQuestion): readonly FormField[] {
  return question.kind === 'elicitation' && question.wants.mode === 'form' ? formFields(question.wants.schema) : [];
}

function questionPart({ question, options, multiSelect }: Question): AskedPart {
  return {
    question,
    hints: multiSelect ? [SEVERAL] : [],
    options: options.map((option) => ({ ...option, answer: option.label })),
    multiSelect,
    ownWords: 'Something else, in my own words',
    start: '',
    skip: { label: 'skip', answer: LEFT_OUT },
  };
}

const SEVERAL = 'Several may be chosen: a digit marks, enter sends.';

function fieldPart(field: FormField): AskedPart {
  const { title, description, isRequired, wants, default: standard } = field;
  const isText = wants.kind === 'text' || wants.kind === 'number';
  const choices = wants.kind === 'one of' || wants.kind === 'some of' ? wants.choices : [];
  const options =
    wants.kind === 'yes or no'
      ? [
          { label: 'Yes', answer: 'true' },
          { label: 'No', answer: 'false' },
        ]
      : choices.map(({ label, value }) => ({ label, answer: JSON.stringify(value) }));
  return {
    question: `${title}${isRequired ? '' : ' (may be left out)'}`,
    hints: [
      ...(description === undefined ? [] : [description]),
      ...(isText ? [limitWords(wants)].filter((words) => words !== '') : []),
      ...(wants.kind === 'some of' ? [SEVERAL] : []),
    ],
    options,
    multiSelect: wants.kind === 'some of',
    ownWords: isText ? 'Write it' : options.length > MOST_CHOICES ? 'Write which' : undefined,
    ...(options.length > MOST_CHOICES ? { others: options.slice(MOST_CHOICES).map(({ label }) => label) } : {}),
    start: isText && standard !== undefined ? String(standard) : '',
    skip: skipOf(field),
  };
}

function skipOf(field: FormField): AskedPart['skip'] {
  const { default: standard, isRequired } = field;
  if (standard !== undefined) return { label: `take ${valueWords(field, standard)}`, answer: JSON.stringify(standard) };
  return isRequired ? undefined : { label: 'leave it out', answer: LEFT_OUT };
}

function limitWords(wants: Extract<FormField['wants'], { kind: 'text' | 'number' }>): string {
  const what = wants.kind === 'text' ? wants.format : wants.isWhole ? 'a whole number' : 'a number';
  const unit = wants.kind === 'text' ? ' characters' : '';
  const least = wants.atLeast === undefined ? [] : [`at least ${wants.atLeast}${unit}`];
  const most = wants.atMost === undefined ? [] : [`at most ${wants.atMost}${unit}`];
  return [...(what === undefined ? [] : [what]), ...least, ...most].join(', ');
}

function valueWords({ wants }: FormField, value: JsonValue): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  const choices = wants.kind === 'one of' || wants.kind === 'some of' ? wants.choices : [];
  const words = (one: JsonValue) => choices.find((choice) => choice.value === one)?.label ?? String(one);
  return Array.isArray(value) ? value.map(words).join(', ') : words(value);
}

function parsed(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text);
  return value;
}
