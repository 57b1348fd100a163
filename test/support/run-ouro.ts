import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TempProject } from './temp-project.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/ouro');

/** How a run ended. */
export type RunEnd = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Running = {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout fits. */
  waitForOutput(fits: RegExp): Promise<void>;
  readonly ended: Promise<RunEnd>;
};

export type RunSettings = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** What stdin holds; the pipe stays open when it is `open`. */
  readonly stdin?: string | 'open';
};

/** The surroundings of a machine that has nothing but a key and a base URL. */
export function bareEnvironment(project: TempProject, apiUrl?: string): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: project.home,
    LANG: 'C.UTF-8',
    ...(apiUrl === undefined
      ? {}
      : { ANTHROPIC_BASE_URL: apiUrl, ANTHROPIC_API_KEY: 'sk-ant-test', OURO_RETRY_BASE_MS: '1' }),
  };
}

/** Starts the real launcher as a process of its own. */
export function startOuro(
  project: TempProject,
  args: readonly string[],
  apiUrl?: string,
  settings: RunSettings = {},
): Running {
  const env = { ...bareEnvironment(project, apiUrl), ...settings.env };
  const child = spawn(LAUNCHER, [...args], { cwd: settings.cwd ?? project.dir, env: withoutUndefined(env) });
  let stdout = '';
  let stderr = '';
  let listeners: (() => void)[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  if (settings.stdin !== 'open') child.stdin.end(settings.stdin ?? '');
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    async waitForOutput(fits) {
      const gone = ended.then(() => true);
      while (!fits.test(stdout)) {
        const more = new Promise<false>((resolve) => {
          listeners.push(() => resolve(false));
        });
        if (await Promise.race([more, gone])) {
          if (fits.test(stdout)) return;
          throw new Error(`ouro ended without printing ${fits}.\nstdout: ${stdout}\nstderr: ${stderr}`);
        }
        listeners = [];
      }
    },
    ended,
  };
}

export function runOuro(
  project: TempProject,
  args: readonly string[],
  apiUrl?: string,
  settings?: RunSettings,
): Promise<RunEnd> {
  return startOuro(project, args, apiUrl, settings).ended;
}

function withoutUndefined(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) kept[name] = value;
  return kept;
}
