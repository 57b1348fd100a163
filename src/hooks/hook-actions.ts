import { z } from 'zod';
import type { Hook, HookEvent, HookOutput } from '../contracts/hook.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { omitUndefined } from '../lib/json.ts';
import type { HookEnvStore } from './hook-env-store.ts';

/** The exit of a hook's command, with its output. */
export type HookCommandResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** True when the hook was not started because it hung recently. */
  readonly isPaused?: boolean;
  /** The sandbox it ran in, if it ran in one. */
  readonly sandbox?: 'without network' | 'with network';
};

/** The request of an HTTP hook. */
export type HookHttpRequest = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A hook's question to a model or to a sub-agent with read-only tools. */
export type HookModelQuestion = { readonly prompt: string; readonly model: string | undefined };

/** The effects hooks need: commands, requests, models and tools. */
export type HookRunners = {
  readonly runCommand: (
    command: string,
    stdin: string,
    timeoutMs: number,
    signal: AbortSignal,
    env?: Readonly<Record<string, string>>,
    hook?: Pick<Hook, 'source' | 'sandbox'>,
  ) => Promise<HookCommandResult>;
  /** Runs a hook with an env file for variables; absent where hooks cannot set any. */
  readonly withEnvFile?: HookEnvStore['runWithEnvFile'];
  readonly post: (
    request: HookHttpRequest,
    timeoutMs: number,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly text: string }>;
  /** Asks a model; `undefined` when none answered. */
  readonly askModel: (question: HookModelQuestion, signal: AbortSignal) => Promise<string | undefined>;
  readonly askAgent: (question: HookModelQuestion, signal: AbortSignal) => Promise<string | undefined>;
  /** Calls a tool and returns its text; throws when it does not exist or fails. */
  readonly callTool: (server: string, tool: string, input: JsonObject, signal: AbortSignal) => Promise<string>;
  /** Variables that may be expanded in a hook's headers. */
  readonly getVariables: () => Readonly<Record<string, string>>;
  /** Returns the path of a script the command names that does not exist. */
  readonly findMissingScript: (command: string, env?: Readonly<Record<string, string>>) => Promise<string | undefined>;
  readonly getDefaultTimeoutMs: () => number;
  readonly now: () => number;
};

/** The raw result of a hook's action, before it is turned into a verdict. */
export type HookActionResult =
  | { readonly kind: 'output'; readonly parsed: ReturnType<typeof parseHookOutput> }
  | { readonly kind: 'failed'; readonly problem: string }
  | EndedHookCommand;

/** The exit of a hook's command, with the script it names when that does not exist. */
export type EndedHookCommand = {
  readonly kind: 'ended';
  readonly end: HookCommandResult;
  readonly timeoutMs: number;
  readonly missingScript: string | undefined;
};

const PROMPT_TIMEOUT_MS = 30_000;
const AGENT_TIMEOUT_MS = 60_000;

/** Performs the action of a hook: a callback of the host, a command, an HTTP request, a question or a tool call. */
export async function performHookAction(
  hook: Hook,
  input: JsonObject,
  runners: HookRunners,
  signal: AbortSignal,
): Promise<HookActionResult> {
  if (hook.callback !== undefined) return { kind: 'output', parsed: parseHookJson(await hook.callback(input, signal)) };
  const fallbackMs =
    hook.type === 'prompt'
      ? PROMPT_TIMEOUT_MS
      : hook.type === 'agent'
        ? AGENT_TIMEOUT_MS
        : runners.getDefaultTimeoutMs();
  const timeoutMs = hook.timeout === undefined ? fallbackMs : hook.timeout * 1000;
  const createLimit = () => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  switch (hook.type) {
    case 'http': {
      const { status, text } = await runners.post(createRequest(hook, input, runners), timeoutMs, signal);
      if (status < 200 || status > 299) return { kind: 'failed', problem: `answered with status ${status}` };
      return { kind: 'output', parsed: parseHookOutput(hook.event, text) };
    }
    case 'prompt':
    case 'agent': {
      const question = { prompt: createPrompt(hook, input), model: hook.model };
      const answer = await (hook.type === 'prompt' ? runners.askModel : runners.askAgent)(question, createLimit());
      return { kind: 'output', parsed: parseJudgement(answer) };
    }
    case 'mcp_tool': {
      const toolInput = expandPlaceholders(hook.input ?? {}, input);
      const text = await runners.callTool(
        hook.server ?? '',
        hook.tool ?? '',
        isJsonObject(toolInput) ? toolInput : {},
        createLimit(),
      );
      return { kind: 'output', parsed: parseHookOutput(hook.event, text) };
    }
    default: {
      const { env } = hook;
      const command = buildHookCommandLine(hook);
      const end = await runners.runCommand(command, `${JSON.stringify(input)}\n`, timeoutMs, signal, env, hook);
      // Checked separately: some interpreters exit with 1 for a missing script, like a script that failed.
      const missingScript = end.code === 0 || end.timedOut ? undefined : await runners.findMissingScript(command, env);
      return { kind: 'ended', end, timeoutMs, missingScript };
    }
  }
}

/** Builds the command line of a hook; `args` are quoted literally. */
export function buildHookCommandLine({ command = '', args, shell }: Pick<Hook, 'command' | 'args' | 'shell'>): string {
  if (args !== undefined) return [command, ...args].map(quote).join(' ');
  return shell === 'powershell' ? `pwsh -NoProfile -NonInteractive -Command ${quote(command)}` : command;
}

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Creates the request of an HTTP hook; headers may contain only allowed variables. */
function createRequest(hook: Hook, input: JsonObject, { getVariables }: HookRunners): HookHttpRequest {
  const { url = '', headers = {}, allowedEnvVars = [] } = hook;
  const values = getVariables();
  const expanded = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+)\}|\$(\w+)/g, (_, braced: string | undefined, plain: string | undefined) => {
      const variable = braced ?? plain ?? '';
      return allowedEnvVars.includes(variable) ? (values[variable] ?? '') : '';
    }),
  ]);
  return { url, body: JSON.stringify(input), headers: Object.fromEntries(expanded) };
}

const ANSWER_FORMAT =
  'Answer with one JSON object and nothing else: {"ok": true} when it may go on, or {"ok": false, "reason": "why not, in a sentence"}.';

function createPrompt({ prompt = '' }: Hook, input: JsonObject): string {
  const json = JSON.stringify(input);
  const question = prompt.includes('$ARGUMENTS') ? prompt.replaceAll('$ARGUMENTS', () => json) : `${prompt}\n\n${json}`;
  return `${question}\n\n${ANSWER_FORMAT}`;
}

const judgement = z.object({ ok: z.boolean(), reason: z.string().optional() });

function parseJudgement(answer: string | undefined): ReturnType<typeof parseHookOutput> {
  if (answer === undefined) return { ok: false, problem: 'got no answer from the model' };
  const parsed = judgement.safeParse(extractJson(answer));
  if (!parsed.success) return { ok: false, problem: 'got an answer that is not {"ok": …}' };
  const { ok, reason } = parsed.data;
  const output: HookOutput = ok ? {} : { decision: 'block', reason: reason ?? 'The model answered no.' };
  return { ok: true, output };
}

/** Parses the text between the first `{` and the last `}`; `undefined` when it is not JSON. */
function extractJson(text: string): unknown {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Expands placeholders such as `${tool_input.file_path}` in a tool's input with the values of the event. */
function expandPlaceholders(value: JsonValue | undefined, event: JsonObject): JsonValue {
  if (typeof value === 'string')
    return value.replaceAll(/\$\{([\w.]+)\}/g, (_, path: string) => readText(event, path.split('.')));
  if (Array.isArray(value)) return value.map((item) => expandPlaceholders(item, event));
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expandPlaceholders(item, event)]));
}

function readText(event: JsonObject, path: readonly string[]): string {
  const value = path.reduce<JsonValue | undefined>(
    (current, key) => (isJsonObject(current) ? current[key] : undefined),
    event,
  );
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}

const outputSchema = z.lazy(() =>
  z.object({
    continue: z.boolean().optional(),
    stopReason: z.string().optional(),
    suppressOutput: z.boolean().optional(),
    systemMessage: z.string().optional(),
    decision: z.enum(['approve', 'block']).optional(),
    reason: z.string().optional(),
    hookSpecificOutput: z
      .object({
        permissionDecision: z.enum(['allow', 'deny', 'ask']).optional(),
        permissionDecisionReason: z.string().optional(),
        updatedInput: z.record(z.string(), z.json()).optional(),
        additionalContext: z.string().optional(),
        updatedToolOutput: z.json().optional(),
        worktreePath: z.string().optional(),
        action: z.enum(['accept', 'decline', 'cancel']).optional(),
        content: z.record(z.string(), z.json()).optional(),
        watchPaths: z.array(z.string()).optional(),
        sessionTitle: z.string().optional(),
        reloadSkills: z.boolean().optional(),
        displayContent: z.string().optional(),
        /** Alternative form of a PermissionRequest hook's decision, used by other assistants. */
        decision: z
          .object({
            behavior: z.enum(['allow', 'deny']),
            updatedInput: z.record(z.string(), z.json()).optional(),
            message: z.string().optional(),
          })
          .optional(),
      })
      .optional(),
  }),
);

/** Events whose plain-text output is context for the model. */
const PLAIN_CONTEXT: readonly HookEvent[] = ['UserPromptSubmit', 'SessionStart'];

/** Parses the output of a hook's command, or returns why it is invalid. */
export function parseHookOutput(
  event: HookEvent,
  stdout: string,
): { readonly ok: true; readonly output: HookOutput } | { readonly ok: false; readonly problem: string } {
  const text = stdout.trim();
  if (!text.startsWith('{')) {
    if (text === '') return { ok: true, output: {} };
    if (event === 'WorktreeCreate') return { ok: true, output: { worktreePath: text.split('\n').at(-1) ?? text } };
    return { ok: true, output: PLAIN_CONTEXT.includes(event) ? { additionalContext: text } : {} };
  }
  try {
    return parseHookJson(JSON.parse(text));
  } catch {
    return { ok: false, problem: 'printed invalid JSON' };
  }
}

/** Parses the output of a hook that is already a JSON value. */
function parseHookJson(
  value: unknown,
): { readonly ok: true; readonly output: HookOutput } | { readonly ok: false; readonly problem: string } {
  const parsed = outputSchema.safeParse(value);
  if (!parsed.success)
    return { ok: false, problem: `answered with an invalid "${parsed.error.issues[0]?.path.join('.')}"` };
  const { hookSpecificOutput: { decision: permission, ...specific } = {}, ...common } = parsed.data;
  const { behavior, updatedInput, message } = permission ?? {};
  return {
    ok: true,
    output: {
      ...common,
      ...omitUndefined({ permissionDecision: behavior, permissionDecisionReason: message, updatedInput }),
      ...specific,
    },
  };
}
