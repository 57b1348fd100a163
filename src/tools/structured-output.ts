import { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import type { ToolTraits } from '../contracts/permission.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { Tool } from '../contracts/tool.ts';
import { createSchemaValidator } from './build-tool.ts';
import { getSessionOnlyFacts } from './tool-facts.ts';

const MAX_FAILURES = 5;

export const structuredOutputTraits: ToolTraits = {
  name: 'StructuredOutput',
  facts: getSessionOnlyFacts,
  subAgents: 'none',
};

/** Creates the StructuredOutput tool, whose valid input ends the run; throws for bad schemas. */
export function createStructuredOutputTool(schema: JsonObject): Tool {
  const validator = createSchemaValidator(schema, 'The schema of the answer');
  let failures = 0;
  return {
    name: structuredOutputTraits.name,
    aliases: [],
    label: 'StructuredOutput',
    spec: {
      name: structuredOutputTraits.name,
      description:
        'Gives the final answer in the required form. Call it exactly once, at the end, with the complete answer.',
      input_schema: schema,
    },
    maxResultChars: 10_000,
    deferred: false,
    source: 'builtin',
    prepare(input) {
      const parsedInput = z.record(z.string(), z.json()).safeParse(input);
      if (!parsedInput.success) return { ok: false, problem: 'StructuredOutput takes a JSON object.' };
      const parsed = validator.safeParse(input);
      return {
        ok: true,
        call: {
          input: parsedInput.data,
          title: 'Answer',
          isReadOnly: true,
          isConcurrencySafe: false,
          async call() {
            if (parsed.success) {
              failures = 0;
              return {
                content: 'The answer is taken.',
                endsRun: { reason: 'structured_output', value: parsedInput.data },
              };
            }
            failures += 1;
            const issues = parsed.error.issues
              .slice(0, 5)
              .map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`);
            const message = `The answer does not fit the schema: ${issues.join('; ')}.`;
            if (failures < MAX_FAILURES) return { content: `${message} Correct it and call again.`, isError: true };
            return { content: message, isError: true, endsRun: { reason: 'structured_output_failed', words: message } };
          },
        },
      };
    },
  };
}

const MAX_REMINDERS = 5;
const REMINDER = 'The answer must be given by calling StructuredOutput, once, with the complete answer. Call it now.';

/** Wraps a stop callback: with a schema, it reminds the model to answer in it, a few times. */
export function requireStructuredAnswer(
  schema: JsonObject | undefined,
  onStop: QueryDeps['onStop'],
): QueryDeps['onStop'] {
  if (schema === undefined) return onStop;
  let reminded = { promptId: '', count: 0 };
  return async (facts, signal) => {
    const verdict = await onStop(facts, signal);
    if (verdict.kind !== 'pass') return verdict;
    const prompt = facts.messages.findLast((message) => message.role === 'user' && message.origin === 'prompt');
    const promptId = prompt?.id ?? '';
    const count = reminded.promptId === promptId ? reminded.count : 0;
    if (count >= MAX_REMINDERS) return verdict;
    reminded = { promptId, count: count + 1 };
    return { kind: 'object', words: REMINDER };
  };
}
