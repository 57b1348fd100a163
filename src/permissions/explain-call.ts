import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { MODES, type PermissionMode, type Policy, type ToolStatement } from '../contracts/permission.ts';
import { messageOf } from '../lib/errors.ts';
import { answerCase, decideCase, explainText, traceJson } from './explain.ts';
import { factsFrom, statementOf } from './facts.ts';
import { lintRules } from './lint-rules.ts';
import { diskFs } from './paths/fs.ts';
import { familyOf } from './rules/families.ts';

const modeSchema = z.string().transform((text, context): PermissionMode => {
  const mode = MODES.find((one) => one === text);
  if (mode !== undefined) return mode;
  context.addIssue({ code: 'custom', message: `there is no mode "${text}", there are ${MODES.join(', ')}` });
  return z.NEVER;
});
const texts = z.array(z.string()).optional();
const caseSchema = z.object({
  id: z.json().optional(),
  tool: z.string().min(1),
  input: z.json().default({}),
  cwd: z.string().optional(),
  mode: modeSchema.optional(),
  rules: z.object({ allow: texts, deny: texts, ask: texts }).optional(),
  trusted: z.boolean().optional(),
});

/** The rules, and the tools they are about. */
type Known = { readonly policy: Policy; readonly tools: readonly ToolStatement[] };

/** Why one call would be allowed, asked about or refused: for people, or as JSON. */
export function explainCall(
  call: { readonly tool: string; readonly text: string },
  { policy, tools }: Known,
  form: 'text' | 'json',
): { readonly ok: true; readonly words: string } | { readonly ok: false; readonly problem: string } {
  const input = caseInput(call.tool, call.text, tools);
  if (input === undefined) return { ok: false, problem: `The input of ${call.tool} must be a JSON object.` };
  const decision = decideCase({ tool: call.tool, input }, policy, { fs: diskFs, factsOf: factsFrom(tools) });
  const { verdict, reasons, trace, suggestions, unanalysed = [] } = decision;
  const words =
    form === 'text'
      ? explainText(decision)
      : JSON.stringify({
          verdict,
          reasons,
          trace: traceJson(trace),
          ...(unanalysed.length === 0 ? {} : { unanalysed }),
          suggestions: suggestions.map(({ rule }) => rule),
        });
  return { ok: true, words };
}

/** One line of `--batch`, answered in one line. What cannot be read is never allowed. */
export function explainLine(
  text: string,
  number: number,
  { policy, tools }: Known,
): { readonly line: JsonObject; readonly problem?: string } {
  const read = readCase(text, tools);
  if (!read.ok) {
    const problem = `Line ${number}: ${read.problem}`;
    const trace = [{ stage: 'facts', verdict: 'ask', text: problem }];
    return {
      line: { ...(read.id === undefined ? {} : { id: read.id }), verdict: 'ask', error: problem, trace },
      problem,
    };
  }
  return { line: { ...answerCase(read.given, policy, { fs: diskFs, factsOf: factsFrom(tools) }) } };
}

type ReadCase =
  | { readonly ok: true; readonly given: Parameters<typeof answerCase>[0] }
  | { readonly ok: false; readonly id?: JsonValue; readonly problem: string };

function readCase(text: string, tools: readonly ToolStatement[]): ReadCase {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { ok: false, problem: `not JSON (${messageOf(thrown)}).` };
  }
  const parsed = caseSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const id = z.object({ id: z.json() }).safeParse(value);
    const where = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.');
    return {
      ok: false,
      ...(id.success ? { id: id.data.id } : {}),
      problem: `${where}: ${issue?.message ?? 'not understood'}.`,
    };
  }
  const { id, tool, input: given, cwd, mode, rules, trusted } = parsed.data;
  const input = caseInput(tool, given, tools);
  const named = id === undefined ? {} : { id };
  if (input === undefined) return { ok: false, ...named, problem: `the input of ${tool} must be a JSON object.` };
  return {
    ok: true,
    given: {
      ...named,
      tool,
      input,
      ...(cwd === undefined ? {} : { cwd }),
      ...(mode === undefined ? {} : { mode }),
      ...(trusted === undefined ? {} : { trusted }),
      ...(rules === undefined
        ? {}
        : { rules: { allow: rules.allow ?? [], deny: rules.deny ?? [], ask: rules.ask ?? [] } }),
    },
  };
}

/** The input of a call from what somebody typed: an object as it is, a text in the place where the tool wants it. */
function caseInput(tool: string, given: JsonValue, tools: readonly ToolStatement[]): JsonObject | undefined {
  if (isJsonObject(given)) return given;
  if (typeof given !== 'string') return undefined;
  const key = statementOf(tools, tool)?.mainInput;
  // A command may begin with a brace.
  const isWhole = given.trimStart().startsWith('{') && familyOf(tool) !== 'command';
  if (key !== undefined && !isWhole) return { [key]: given };
  if (given.trim() === '') return {};
  try {
    const parsed: JsonValue = JSON.parse(given);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** What is wrong with rules: a sentence each, and the same as data. */
export function lintPolicy(
  { rules }: Pick<Policy, 'rules'>,
  tools: readonly ToolStatement[],
): readonly { readonly text: string; readonly data: JsonObject }[] {
  return lintRules(rules, tools).map(({ rule, kind, text }) => {
    const { behavior, source, file, line } = rule;
    const place = { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
    return { text: `${kind}: ${text}`, data: { kind, rule: rule.text, behavior, source, ...place, text } };
  });
}
