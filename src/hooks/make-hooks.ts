import type { AgentEvent } from '../contracts/event.ts';
import { HOOK_EVENTS, type Hook, type HookEvent } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Live } from '../contracts/live.ts';
import type { LoadedSettings, SettingsLayer } from '../contracts/settings.ts';
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
};

/** The hooks of all settings layers and of the host, with real commands and real requests behind them. */
export function makeHooks(wiring: HookWiring): Hooks {
  const variables = () => ({
    ...wiring.variables(),
    CLAUDE_PROJECT_DIR: wiring.cwd,
    OURO_PROJECT_DIR: wiring.cwd,
  });
  return createHooks({
    hooks: () =>
      wiring.loaded().merged.disableAllHooks === true ? [] : [...configured(wiring.loaded()), ...wiring.hostHooks],
    common: () => ({
      session_id: wiring.session.id,
      transcript_path: wiring.session.path,
      cwd: wiring.live().cwd,
      permission_mode: wiring.live().mode,
    }),
    fitsRule: wiring.fitsRule,
    tell: wiring.tell,
    runCommand: (command, stdin, timeoutMs, signal) =>
      runHookCommand(command, stdin, {
        cwd: wiring.cwd,
        env: variables(),
        timeoutMs,
        signal,
      }),
    missingScript: (command) => missingScript(command, wiring.cwd, variables()),
    post: async (url, body, timeoutMs, signal) => {
      const limits = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
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

function configured({ layers }: LoadedSettings): readonly Hook[] {
  return layers.flatMap((layer) =>
    Object.entries(layer.settings.hooks ?? {}).flatMap(([event, groups]) => hooksOf(layer, event, groups)),
  );
}

function hooksOf(
  layer: SettingsLayer,
  event: string,
  groups: NonNullable<SettingsLayer['settings']['hooks']>[string],
): readonly Hook[] {
  return groups.flatMap((group, groupAt) =>
    group.hooks.flatMap((hook, at): Hook[] => {
      if (!isHookEvent(event)) return [];
      const line = layer.lineOf(['hooks', event, groupAt, 'hooks', at]);
      return [
        {
          ...hook,
          event,
          source: layer.source,
          file: layer.file,
          ...(line === undefined ? {} : { line }),
          ...(group.matcher === undefined ? {} : { matcher: group.matcher }),
        },
      ];
    }),
  );
}

const EVENTS: ReadonlySet<string> = new Set(HOOK_EVENTS);

function isHookEvent(event: string): event is HookEvent {
  return EVENTS.has(event);
}
