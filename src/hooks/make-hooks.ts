import type { AgentEvent } from '../contracts/event.ts';
import type { Hook } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Live } from '../contracts/live.ts';
import type { LoadedSettings } from '../contracts/settings.ts';
import type { HookRunners } from './act.ts';
import { configuredHooks } from './configured-hooks.ts';
import { createHooks, type Hooks } from './create-hooks.ts';
import { missingScript } from './missing-script.ts';
import { runHookCommand } from './run-command.ts';

const DEFAULT_TIMEOUT_MS = 60_000;

export type HookWiring = {
  readonly loaded: () => LoadedSettings;
  readonly hostHooks: readonly Hook[];
  readonly session: { readonly id: string; readonly path: string };
  readonly live: () => Live;
  readonly cwd: string;
  readonly variables: () => Readonly<Record<string, string>>;
  /** Asked at each hook. */
  readonly timeoutMs: () => number | undefined;
  readonly fitsRule: (rule: string, tool: string, input: JsonObject) => boolean;
  readonly tell: (event: AgentEvent) => void;
  /** Those that plugins and skills bring, as they hold now. */
  readonly carried: () => readonly Hook[];
} & Pick<HookRunners, 'askModel' | 'askAgent' | 'callTool'>;

/** The hooks of all settings layers and of the host, with real commands and real requests behind them. */
export function makeHooks(wiring: HookWiring): Hooks {
  const variables = () => ({
    ...wiring.variables(),
    CLAUDE_PROJECT_DIR: wiring.cwd,
    OURO_PROJECT_DIR: wiring.cwd,
  });
  return createHooks({
    hooks: () =>
      wiring.loaded().merged.disableAllHooks === true
        ? []
        : [...configuredHooks(wiring.loaded()), ...wiring.carried(), ...wiring.hostHooks],
    common: () => ({
      session_id: wiring.session.id,
      transcript_path: wiring.session.path,
      cwd: wiring.live().cwd,
      permission_mode: wiring.live().mode,
    }),
    fitsRule: wiring.fitsRule,
    tell: wiring.tell,
    runCommand: (command, stdin, timeoutMs, signal, env) =>
      runHookCommand(command, stdin, { cwd: wiring.cwd, env: { ...variables(), ...env }, timeoutMs, signal }),
    missingScript: (command, env) => missingScript(command, wiring.cwd, { ...variables(), ...env }),
    askModel: wiring.askModel,
    askAgent: wiring.askAgent,
    callTool: wiring.callTool,
    variables,
    post: async ({ url, body, headers }, timeoutMs, signal) => {
      const limits = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
        redirect: 'error',
        signal: limits,
      });
      return { status: answer.status, text: await firstOf(answer) };
    },
    defaultTimeoutMs: () => wiring.timeoutMs() ?? DEFAULT_TIMEOUT_MS,
    now: Date.now,
  });
}

const MAX_ANSWER_BYTES = 1_000_000;

/** The beginning of an answer: one that never ends must not fill the memory. */
async function firstOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
}
