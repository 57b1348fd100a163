import { z } from 'zod';
import type { Feature } from '../contracts/feature.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { ToolTraits } from '../contracts/permission.ts';
import type { Tool } from '../contracts/tool.ts';
import { createSchemaValidator } from './definition/build-tool.ts';
import { getSessionOnlyFacts } from './tool-facts.ts';

const MAX_FAILURES = 5;

/** The traits of the StructuredOutput tool. */
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
                content: 'Answer accepted.',
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

/** Creates the feature that reminds the model to answer in a schema, a few times. */
export function createStructuredAnswerFeature(): Feature {
  let reminded = { promptId: '', count: 0 };
  return {
    name: 'structured answer',
    async onStop({ messages }) {
      const prompt = messages.findLast((message) => message.role === 'user' && message.origin === 'prompt');
      const promptId = prompt?.id ?? '';
      const count = reminded.promptId === promptId ? reminded.count : 0;
      if (count >= MAX_REMINDERS) return { kind: 'pass' };
      reminded = { promptId, count: count + 1 };
      return { kind: 'reject', words: REMINDER };
    },
  };
}
