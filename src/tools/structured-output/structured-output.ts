import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { ToolStatement } from '../../contracts/permission.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { checkOfSchema } from '../check-of-schema.ts';
import { sessionFacts } from '../stated-facts.ts';

const MOST_FAILURES = 5;

/** What it says of itself to those who decide about its calls. */
export const structuredOutputStatement: ToolStatement = {
  name: 'StructuredOutput',
  facts: sessionFacts,
  subAgents: 'none',
};

/** A tool whose input is the answer: one that fits the schema ends the run. Throws, in words, for a schema that cannot be checked. */
export function createStructuredOutputTool(schema: JsonObject): Tool {
  const check = checkOfSchema(schema, 'The schema of the answer');
  let failures = 0;
  return {
    name: structuredOutputStatement.name,
    aliases: [],
    label: 'StructuredOutput',
    spec: {
      name: structuredOutputStatement.name,
      description:
        'Gives the final answer in the required form. Call it exactly once, at the end, with the complete answer.',
      input_schema: schema,
    },
    maxResultChars: 10_000,
    deferred: false,
    source: 'builtin',
    prepare(input) {
      const object = z.record(z.string(), z.json()).safeParse(input);
      if (!object.success) return { ok: false, problem: 'StructuredOutput takes a JSON object.' };
      const parsed = check.safeParse(input);
      return {
        ok: true,
        call: {
          input: object.data,
          title: 'Answer',
          isReadOnly: true,
          isConcurrencySafe: false,
          async call() {
            if (parsed.success) {
              failures = 0;
              return { content: 'The answer is taken.', endsRun: { reason: 'structured_output', value: object.data } };
            }
            failures += 1;
            const issues = parsed.error.issues
              .slice(0, 5)
              .map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`);
            const words = `The answer does not fit the schema: ${issues.join('; ')}.`;
            if (failures < MOST_FAILURES) return { content: `${words} Correct it and call again.`, isError: true };
            return { content: words, isError: true, endsRun: { reason: 'structured_output_failed', words } };
          },
        },
      };
    },
  };
}

const MOST_REMINDERS = 5;
const REMINDER = 'The answer must be given by calling StructuredOutput, once, with the complete answer. Call it now.';

/** Where an answer has to fit a schema, words alone are no end: the model is reminded, a bounded number of times. */
export function requireAnswer(schema: JsonObject | undefined, onStop: QueryDeps['onStop']): QueryDeps['onStop'] {
  if (schema === undefined) return onStop;
  return async (facts, signal) => {
    const verdict = await onStop(facts, signal);
    if (verdict.kind !== 'pass' || remindersIn(facts.messages) >= MOST_REMINDERS) return verdict;
    return { kind: 'object', words: REMINDER };
  };
}

/** Since the last prompt. */
function remindersIn(messages: readonly Message[]): number {
  const from = messages.findLastIndex((message) => message.role === 'user' && message.origin === 'prompt');
  return messages
    .slice(from + 1)
    .flatMap((message) => (message.role === 'user' ? message.blocks : []))
    .filter((block) => block.type === 'text' && block.text.includes(REMINDER)).length;
}
