import { spawn } from 'node:child_process';
import { ToolFailure } from '../../contracts/tool.ts';
import { exclusionGlobs, namesHidden } from './exclusions.ts';
import type { Locator, Taker, TextQuery } from './locator.ts';

export type ChildEnvironment = Readonly<Record<string, string | undefined>>;

const MAX_STDERR_CHARS = 4000;
// `--no-require-git`: a .gitignore counts also where there is no repository.
const COMMON = ['--no-config', '--color=never', '--no-require-git'];

/** Searches by running ripgrep. */
export function createRipgrepLocator(name: string, program: string, env: ChildEnvironment): Locator {
  return {
    name,
    async listFiles({ root, excluded, ignored }, take, signal) {
      const globs = exclusionGlobs(root, excluded);
      if (globs === 'all') return;
      const all = ignored === 'listed' ? ['--no-ignore'] : [];
      const args = [...COMMON, ...all, '--files', '--hidden', ...negative(['.git', ...globs])];
      await run(program, args, { cwd: root, env, take, signal });
    },
    async search(query, take, signal) {
      const globs = exclusionGlobs(query.root, query.excluded);
      if (globs === 'all') return;
      await run(program, [...COMMON, ...searchArguments(query, globs)], { cwd: query.root, env, take, signal });
    },
  };
}

function searchArguments(query: TextQuery, globs: readonly string[]): readonly string[] {
  return [
    '--null',
    ...modeArguments(query),
    ...(query.letters === 'any_case' ? ['-i'] : []),
    ...(query.span === 'multiline' ? ['-U', '--multiline-dotall'] : []),
    ...(query.type === undefined ? [] : [`--type=${query.type}`]),
    ...(namesHidden(query.glob) ? ['--hidden'] : []),
    ...(query.glob === undefined ? [] : [`--glob=${query.glob}`]),
    ...negative(['.git', ...globs]),
    '-e',
    query.pattern,
    ...(query.file === undefined ? [] : ['--', query.file]),
  ];
}

function modeArguments(query: TextQuery): readonly string[] {
  if (query.mode === 'files_with_matches') return ['--files-with-matches'];
  if (query.mode === 'count') return ['--count', '--with-filename'];
  const numbers = query.lineNumbers === 'shown' ? '--line-number' : '--no-line-number';
  const context = [`--before-context=${query.before}`, `--after-context=${query.after}`];
  return ['--with-filename', '--no-heading', '--max-columns=2000', '--max-columns-preview', numbers, ...context];
}

function negative(globs: readonly string[]): readonly string[] {
  return globs.map((glob) => `--iglob=!${glob}`);
}

type Run = {
  readonly cwd: string;
  readonly env: ChildEnvironment;
  readonly take: Taker;
  readonly signal: AbortSignal;
};

/** Rejects with the system's error when the program cannot be started. */
async function run(program: string, args: readonly string[], { cwd, env, take, signal }: Run): Promise<void> {
  signal.throwIfAborted();
  const { exitCode, stderr } = await new Promise<{ exitCode: number | null; stderr: string }>((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    const stop = () => void child.kill('SIGKILL');
    const decoder = new TextDecoder();
    let stderr = '';
    let isEnough = false;
    signal.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', (chunk: Uint8Array) => {
      if (isEnough || take(decoder.decode(chunk, { stream: true })) === 'more') return;
      isEnough = true;
      stop();
    });
    child.stderr.on('data', (chunk: Uint8Array) => {
      if (stderr.length < MAX_STDERR_CHARS) stderr += String(chunk);
    });
    child.on('error', (problem) => {
      signal.removeEventListener('abort', stop);
      reject(problem);
    });
    child.on('close', (exitCode) => {
      signal.removeEventListener('abort', stop);
      resolve({ exitCode, stderr });
    });
  });
  signal.throwIfAborted();
  // 2 also stands for single files that could not be read, which is no reason to fail.
  if (exitCode === 2 && /regex parse error|unrecognized|error parsing|invalid|PCRE2/i.test(stderr)) {
    throw new ToolFailure(`The search could not start: ${stderr.trim().slice(0, 1000)}`);
  }
}
