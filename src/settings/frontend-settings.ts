import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Plugin } from '../contracts/extension.ts';
import type { Conversation } from '../contracts/frontend/conversation.ts';
import type { ThemeFile, ThemesPort } from '../contracts/frontend/frontend-settings.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { watchFolder } from '../lib/files/file-change-detector.ts';
import { readFileOrPipe, readRegularFile } from '../lib/files/read-regular-file.ts';
import { omitUndefined } from '../lib/json.ts';
import { runShellCommand } from '../lib/processes/find-shell.ts';
import type { ProgramCheck } from '../lib/processes/program-check.ts';
import { createTimeoutBackoff } from '../lib/processes/timeout-backoff.ts';
import { saveUserSetting } from './edit-settings.ts';

const keybindings = z.record(z.string(), z.string());

/** Creates the part of the conversation that reads and saves screen settings: keys, themes and the status line. */
export function createFrontendSettings(
  deps: StatusLineDeps & { readonly ouroHome: string; readonly plugins: () => readonly Plugin[] },
): Required<Pick<Conversation, 'readFrontendSettings' | 'saveSetting' | 'themes' | 'renderStatusLine'>> {
  return {
    async readFrontendSettings() {
      const settings = deps.settings();
      const file = join(deps.ouroHome, 'keybindings.json');
      const text = await readFileOrPipe(file).catch(() => undefined);
      const parsed = keybindings.safeParse(parse(text ?? '{}', [], { allowTrailingComma: true }));
      // An invalid file is reported as an unknown key.
      const fromFile = parsed.success ? parsed.data : { [file]: 'a table of keys' };
      return { ...settings, keybindings: { ...fromFile, ...settings.keybindings } };
    },
    saveSetting: (key, value) => saveUserSetting(deps.ouroHome, key, value),
    themes: createThemeFiles(join(deps.ouroHome, 'themes'), deps.plugins),
    renderStatusLine: createStatusLineScript(deps),
  };
}

const MAX_FILES = 50;
const MAX_CHARS = 20_000;

/** Reads the theme files of a folder. Those of a plugin have its name as a prefix. */
async function readThemeFiles(folder: string, prefix = ''): Promise<readonly ThemeFile[]> {
  const names = (await ignoreMissingFile(readdir(folder))) ?? [];
  const files = names.filter((name) => name.endsWith('.json')).toSorted();
  return Promise.all(
    files.slice(0, MAX_FILES).map(async (file) => {
      const path = join(folder, file);
      const text = ((await readRegularFile(path).catch(() => undefined)) ?? '').slice(0, MAX_CHARS);
      return { name: `${prefix}${basename(file, '.json')}`, path, text };
    }),
  );
}

function createThemeFiles(folder: string, plugins: () => readonly Plugin[]): ThemesPort {
  return {
    async read() {
      const ofPlugins = plugins().map(({ name, root }) => readThemeFiles(join(root, 'themes'), `${name}:`));
      return (await Promise.all([readThemeFiles(folder), ...ofPlugins])).flat();
    },
    watch: (onChange) => watchFolder(folder, onChange),
  };
}

/** Generous, because nothing waits for the script: starting a runtime and running git can take seconds. */
const TIMEOUT_MS = 5_000;
const MAX_SCRIPT_CHARS = 1000;
const MAX_BYTES = 10_000;
/** More lines would leave no room for the prompt. */
const MAX_LINES = 3;

/** The dependencies of the status line script. */
type StatusLineDeps = {
  readonly settings: () => Settings;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly cwd: () => string;
  readonly checkProgram: ProgramCheck;
  /** Input of the script. */
  readonly facts: () => JsonObject;
};

/**
 * Creates the runner of the user's status line script, which gets facts as JSON and prints the lines. When a run times
 * out, the last output stays; a script that keeps timing out is run less often. @internal
 */
export function createStatusLineScript(deps: StatusLineDeps): () => Promise<string | undefined> {
  const backoff = createTimeoutBackoff();
  let last: { readonly command: string; readonly output: string } | undefined;
  let running: Promise<string | undefined> | undefined;
  let next: Promise<string | undefined> | undefined;

  async function runCommand(command: string): Promise<string | undefined> {
    const sandbox = deps.settings().statusLine?.sandbox;
    if (backoff.isPaused(command)) return undefined;
    const { code, stdout, timedOut } = await runShellCommand('sh', command, {
      cwd: deps.cwd(),
      env: deps.variables(),
      input: `${JSON.stringify(deps.facts())}\n`,
      timeoutMs: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBytes: MAX_BYTES,
      check: (start, use) => deps.checkProgram({ ...start, ...omitUndefined({ sandbox }) }, use),
      use: 'reads',
    });
    backoff.record(command, { timedOut, tookMs: TIMEOUT_MS });
    if (code !== 0) return undefined;
    const lines = stdout.toString('utf8').trimEnd().split('\n', MAX_LINES);
    const margin = ' '.repeat(deps.settings().statusLine?.padding ?? 0);
    const output = lines.map((line) => `${margin}${line.slice(0, MAX_SCRIPT_CHARS).trimEnd()}`).join('\n');
    return output.trim() === '' ? undefined : output;
  }

  /** Runs one script at a time; requests during a run share one further run after it. */
  function enqueueRun(): Promise<string | undefined> {
    if (running === undefined) {
      running = update().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return enqueueRun();
    });
    return next;
  }

  async function update(): Promise<string | undefined> {
    const command = deps.settings().statusLine?.command;
    if (command !== last?.command) last = undefined;
    if (command === undefined) return undefined;
    const output = await runCommand(command);
    if (output !== undefined) last = { command, output };
    return last?.output;
  }

  return enqueueRun;
}
