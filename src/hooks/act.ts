import { z } from 'zod';
import type { Hook, HookOutput } from '../contracts/hook.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import type { KeptVariables } from './kept-variables.ts';
import { fromJson, readOutput } from './read-output.ts';

/** How a command ended. */
export type CommandEnd = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** It hung lately and was not started at all. */
  readonly isPaused?: boolean;
};

/** A request of a hook. */
export type HookPost = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A question of a hook to a model, or to a sub-agent that may look around. */
export type HookQuestion = { readonly prompt: string; readonly model: string | undefined };

/** What hooks need from outside. */
export type HookRunners = {
  readonly runCommand: (
    command: string,
    stdin: string,
    timeoutMs: number,
    signal: AbortSignal,
    env?: Readonly<Record<string, string>>,
  ) => Promise<CommandEnd>;
  /** Where hooks can leave variables for the commands behind them; absent: nowhere. */
  readonly keep?: KeptVariables['around'];
  readonly post: (
    request: HookPost,
    timeoutMs: number,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly text: string }>;
  /** Nothing when no model answered. */
  readonly askModel: (question: HookQuestion, signal: AbortSignal) => Promise<string | undefined>;
  readonly askAgent: (question: HookQuestion, signal: AbortSignal) => Promise<string | undefined>;
  /** What the tool said; throws when there is none, or it could not. */
  readonly callTool: (server: string, tool: string, input: JsonObject, signal: AbortSignal) => Promise<string>;
  /** What a hook's headers may name. */
  readonly variables: () => Readonly<Record<string, string>>;
  /** The script a command names and that is not there. */
  readonly missingScript: (command: string, env?: Readonly<Record<string, string>>) => Promise<string | undefined>;
  readonly defaultTimeoutMs: () => number;
  readonly now: () => number;
};

/** What a hook did, before anybody judges it. */
export type Acted =
  | { readonly is: 'output'; readonly read: ReturnType<typeof readOutput> }
  | { readonly is: 'failed'; readonly why: string }
  | {
      readonly is: 'ended';
      readonly end: CommandEnd;
      readonly timeoutMs: number;
      readonly missing: string | undefined;
    };

const PROMPT_MS = 30_000;
const AGENT_MS = 60_000;

/** Does what a hook is there for: a call of the host, a command, a request, a question, a tool. */
export async function act(hook: Hook, input: JsonObject, runners: HookRunners, signal: AbortSignal): Promise<Acted> {
  if (hook.callback !== undefined) return { is: 'output', read: fromJson(await hook.callback(input, signal)) };
  const fallbackMs = hook.type === 'prompt' ? PROMPT_MS : hook.type === 'agent' ? AGENT_MS : runners.defaultTimeoutMs();
  const timeoutMs = hook.timeout === undefined ? fallbackMs : hook.timeout * 1000;
  const limits = () => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  switch (hook.type) {
    case 'http': {
      const { status, text } = await runners.post(requestOf(hook, input, runners), timeoutMs, signal);
      if (status < 200 || status > 299) return { is: 'failed', why: `answered with status ${status}` };
      return { is: 'output', read: readOutput(hook.event, text) };
    }
    case 'prompt':
    case 'agent': {
      const question = { prompt: questionOf(hook, input), model: hook.model };
      const answer = await (hook.type === 'prompt' ? runners.askModel : runners.askAgent)(question, limits());
      return { is: 'output', read: judgementOf(answer) };
    }
    case 'mcp_tool': {
      const given = filledIn(hook.input ?? {}, input);
      const text = await runners.callTool(
        hook.server ?? '',
        hook.tool ?? '',
        isJsonObject(given) ? given : {},
        limits(),
      );
      return { is: 'output', read: readOutput(hook.event, text) };
    }
    default: {
      const { env } = hook;
      const command = commandOf(hook);
      const end = await runners.runCommand(command, `${JSON.stringify(input)}\n`, timeoutMs, signal, env);
      // Some interpreters end with 1 when their script is gone, as a script may that is there.
      const missing = end.code === 0 || end.timedOut ? undefined : await runners.missingScript(command, env);
      return { is: 'ended', end, timeoutMs, missing };
    }
  }
}

/** With arguments it is a program and what it is given, letter by letter. */
export function commandOf({ command = '', args, shell }: Pick<Hook, 'command' | 'args' | 'shell'>): string {
  if (args !== undefined) return [command, ...args].map(quoted).join(' ');
  return shell === 'powershell' ? `pwsh -NoProfile -NonInteractive -Command ${quoted(command)}` : command;
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

function requestOf(hook: Hook, input: JsonObject, { variables }: Pick<HookRunners, 'variables'>): HookPost {
  const { url = '', headers = {}, allowedEnvVars = [] } = hook;
  const known = variables();
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+)\}|\$(\w+)/g, (_, braced: string | undefined, bare: string | undefined) => {
      const wanted = braced ?? bare ?? '';
      return allowedEnvVars.includes(wanted) ? (known[wanted] ?? '') : '';
    }),
  ]);
  return { url, body: JSON.stringify(input), headers: Object.fromEntries(filled) };
}

const ANSWER =
  'Answer with one JSON object and nothing else: {"ok": true} when it may go on, or {"ok": false, "reason": "why not, in a sentence"}.';

function questionOf({ prompt = '' }: Hook, input: JsonObject): string {
  const told = JSON.stringify(input);
  const asked = prompt.includes('$ARGUMENTS') ? prompt.replaceAll('$ARGUMENTS', () => told) : `${prompt}\n\n${told}`;
  return `${asked}\n\n${ANSWER}`;
}

const judgement = z.object({ ok: z.boolean(), reason: z.string().optional() });

function judgementOf(answer: string | undefined): ReturnType<typeof readOutput> {
  if (answer === undefined) return { ok: false, why: 'got no answer from the model' };
  const parsed = judgement.safeParse(jsonIn(answer));
  if (!parsed.success) return { ok: false, why: 'was answered with something else than {"ok": …}' };
  const { ok, reason } = parsed.data;
  const output: HookOutput = ok ? {} : { decision: 'block', reason: reason ?? 'The model that was asked says no.' };
  return { ok: true, output };
}

function jsonIn(text: string): unknown {
  const found = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  try {
    return JSON.parse(found);
  } catch {
    return undefined;
  }
}

/** `${tool_input.file_path}` in what a tool is given is what the hook was told. */
function filledIn(value: JsonValue | undefined, told: JsonObject): JsonValue {
  if (typeof value === 'string')
    return value.replaceAll(/\$\{([\w.]+)\}/g, (_, path: string) => textAt(told, path.split('.')));
  if (Array.isArray(value)) return value.map((one) => filledIn(one, told));
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filledIn(one, told)]));
}

function textAt(told: JsonObject, path: readonly string[]): string {
  const found = path.reduce<JsonValue | undefined>((at, key) => (isJsonObject(at) ? at[key] : undefined), told);
  return found === undefined ? '' : typeof found === 'string' ? found : JSON.stringify(found);
}
