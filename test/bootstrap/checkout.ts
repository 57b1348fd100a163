import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTempFolder } from '../support/temp-folder.ts';

export const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** How a started program ended. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** A program that says what it was given, in place of the real one. */
const ECHO_PROGRAM = `
const facts = { args: process.argv.slice(2), cwd: process.cwd(), env: process.env, library: process.env.NODE_ENV };
if (process.argv.includes('--wait')) { console.log('waiting'); setInterval(() => {}, 1000); }
else if (process.argv.includes('--read')) process.stdin.pipe(process.stdout);
else { console.log(JSON.stringify(facts)); process.exitCode = Number(process.env.EXIT ?? 0); }
`;

/** Records each call and "installs" by linking the runtimes that are already here. */
const FAKE_NPM = `#!/bin/sh
echo "$@" >> "$NPM_LOG"
echo "noise of npm"
[ -z "$NPM_FAILS" ] || exit 7
[ -z "$NPM_HANGS" ] || { echo here >&2; sleep "$NPM_HANGS" & wait; }
mkdir -p node_modules
ln -s "${repository}/node_modules/@oven" node_modules/@oven
`;

/**
 * A bare clone as far as the bootstrap can tell: no node_modules, a fake npm first on the PATH. Most need no build that
 * takes its time.
 */
export function bareCheckout(build: 'does nothing' | 'builds' = 'does nothing'): {
  root: string;
  env: Record<string, string>;
  npmCalls: () => readonly string[];
} {
  const home = createTempFolder();
  const root = join(home, 'a checkout');
  const programs = join(home, 'programs');
  const log = join(home, 'npm.log');
  mkdirSync(join(root, 'src', 'cli'), { recursive: true });
  mkdirSync(join(root, 'docs'));
  mkdirSync(join(root, 'packages', 'one', 'src'), { recursive: true });
  mkdirSync(programs);
  cpSync(join(repository, 'bin'), join(root, 'bin'), { recursive: true });
  if (build === 'does nothing') writeFileSync(join(root, 'bin', 'build.mjs'), '');
  for (const name of ['bunfig.toml', 'tsconfig.json']) cpSync(join(repository, name), join(root, name));
  writeFileSync(join(root, 'package.json'), '{ "name": "ouro", "type": "module" }');
  writeFileSync(join(root, 'package-lock.json'), '{ "packages": {} }');
  writeFileSync(join(root, 'src', 'cli', 'main.ts'), ECHO_PROGRAM);
  writeExecutable(join(programs, 'npm'), FAKE_NPM);
  const env = { PATH: [programs, dirname(nodeFile()), '/usr/bin', '/bin'].join(delimiter), HOME: home, NPM_LOG: log };
  const npmCalls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  return { root, env, npmCalls };
}

/** Writes a program that can be run. */
export function writeExecutable(file: string, text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

/** Where Node is: the tests themselves run on another runtime. */
export function nodeFile(): string {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new Error('Node is not on the PATH.');
  return found;
}

/** Starts a program and gives everything it said; `onOutput` may act on it while it runs. */
export function started(
  file: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Record<string, string>;
    readonly input?: string;
    readonly onOutput?: (kill: (signal: NodeJS.Signals) => void) => void;
  },
): Promise<Ended & { readonly signal: string | null }> {
  const child = spawn(file, args, { cwd: options.cwd, env: options.env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    options.onOutput?.((signal) => child.kill(signal));
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    if (String(chunk).includes('here')) options.onOutput?.((signal) => child.kill(signal));
  });
  child.stdin.end(options.input ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
