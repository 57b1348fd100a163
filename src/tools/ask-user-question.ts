import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { buildTool } from './definition/build-tool.ts';
import { describeUnansweredQuestion } from './describe-unanswered-question.ts';
import { type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';
import { parseJsonText } from './input/coerce-input.ts';
import { type AcceptedArgumentForms, normalizeArguments } from './input/normalize-arguments.ts';

import { getSessionOnlyFacts } from './tool-facts.ts';

const PROMPT = `Asks the user up to four questions with choices; they can also answer in their own words. Ask only what reading the project cannot answer and what changes what you do next. Your own choice comes first.`;

const option = z.strictObject({ label: z.string().min(1), description: z.string().optional() });
const input = z.strictObject({
  questions: z
    .array(
      z.strictObject({
        question: z.string().min(1),
        header: z.string().optional().describe('One or two words'),
        multiSelect: z.boolean().optional(),
        options: z.array(option).min(2).max(4),
      }),
    )
    .min(1)
    .max(4),
});

const QUESTION_FORMS: AcceptedArgumentForms = {
  synonyms: {
    question: ['text', 'prompt', 'q', 'message'],
    header: ['title', 'label'],
    multiSelect: ['multiple', 'allow_multiple', 'multiple_choice'],
    options: ['choices', 'answers', 'suggestions', 'follow_up'],
  },
  conversions: { options: (value) => ({ set: { options: toOptions(value) } }) },
  ignored: ['id', 'allow_other', 'required', 'type'],
  elements: {
    options: {
      synonyms: {
        label: ['text', 'title', 'value', 'name', 'option'],
        description: ['details', 'explanation', 'hint'],
      },
      ignored: ['id'],
    },
  },
};

/** Converts options that are plain texts. */
function toOptions(value: JsonValue): JsonValue {
  const options = typeof value === 'string' ? (parseJsonText(value) ?? value) : value;
  if (!Array.isArray(options)) return options;
  const given: readonly JsonValue[] = options;
  return given.map((label) => (typeof label === 'string' ? { label } : label));
}

/** Puts a single question, given without the list, into a list. */
function completeQuestions(raw: JsonObject): JsonObject {
  if (raw.questions !== undefined) return raw;
  const normalized = normalizeArguments(raw, QUESTION_FORMS);
  return normalized.ok && normalized.input.question !== undefined ? { questions: [normalized.input] } : raw;
}

/** The traits of the AskUserQuestion tool. */
export const askUserQuestionTraits: BuiltInToolTraits = defineToolTraits({
  name: 'AskUserQuestion',
  facts: getSessionOnlyFacts,
  result: 'once',
  subAgents: 'none',
  forms: {
    example: 'AskUserQuestion{questions:[{question:"Which?", options:[{label:"A"}, {label:"B"}]}]}',
    names: ['ask', 'ask_user', 'ask_question', 'ask_followup_question', 'request_user_input', 'question', 'questions'],
    synonyms: { questions: ['question_list'] },
    elements: { questions: QUESTION_FORMS },
  },
});

/** The tool that asks the user questions with suggested answers. */
export const askUserQuestionTool = buildTool({
  ...askUserQuestionTraits,
  prompt: PROMPT,
  prepareArguments: completeQuestions,
  input,
  isReadOnly: () => true,
  title: ({ questions }) => `Question ${questions[0]?.question ?? ''}`.trim(),
  async call({ questions }, context) {
    const asked = questions.map((question) => ({ ...question, multiSelect: question.multiSelect ?? false }));
    const answer = await context.ask({ kind: 'questions', questions: asked });
    if (answer?.kind === 'refused') return { content: describeUnansweredQuestion(answer), isError: true };
    if (answer?.kind !== 'questions') {
      return {
        content: context.signal.aborted
          ? 'The user stopped before answering. Nothing was decided.'
          : 'The user cannot be asked in this run. Choose the most sensible answer yourself and say which you chose.',
        isError: true,
      };
    }
    const lines = asked.map((question, index) => `${question.question}\n→ ${answer.answers[index] ?? '(no answer)'}`);
    return { content: lines.join('\n'), display: { kind: 'question', questions: asked, answers: answer.answers } };
  },
});
