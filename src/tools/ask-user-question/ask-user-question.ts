import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

const PROMPT = `Asks the user up to four questions with two to four choices each; they can always answer in their own words.
Ask only what reading the project cannot answer and what changes what you do next. Put the choice you would make first.`;

const option = z.object({ label: z.string().min(1), description: z.string().optional() });
const input = z.object({
  questions: z
    .array(
      z.object({
        question: z.string().min(1),
        header: z.string().optional().describe('One or two words'),
        multiSelect: z.boolean().optional(),
        options: z.array(option).min(2).max(4),
      }),
    )
    .min(1)
    .max(4),
});

/** What it says of itself to those who decide about its calls. */
export const askUserQuestionStatement: ToolStatement = {
  name: 'AskUserQuestion',
  facts: sessionFacts,
  result: 'once',
  subAgents: 'none',
};

/** Questions to the person at the keyboard. */
export const askUserQuestionTool = buildTool({
  ...askUserQuestionStatement,
  prompt: PROMPT,
  input,
  isReadOnly: () => true,
  title: ({ questions }) => `Question ${questions[0]?.question ?? ''}`.trim(),
  async call({ questions }, context) {
    const asked = questions.map((one) => ({ ...one, multiSelect: one.multiSelect ?? false }));
    const answer = await context.ask({ kind: 'questions', questions: asked });
    if (answer?.kind !== 'questions') {
      return {
        content: context.signal.aborted
          ? 'The user stopped before answering. Nothing was decided.'
          : 'There is nobody to ask. Choose the most sensible answer yourself and say which you chose.',
        isError: true,
      };
    }
    const lines = asked.map((one, at) => `${one.question}\n→ ${answer.answers[at] ?? '(no answer)'}`);
    return { content: lines.join('\n'), display: { kind: 'question', questions: asked, answers: answer.answers } };
  },
});
