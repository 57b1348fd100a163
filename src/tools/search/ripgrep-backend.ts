import { spawn } from 'node:child_process';
import { ToolFailure } from '../../contracts/tool.ts';
import { buildExclusionGlobs, matchesHiddenFiles } from './globs.ts';
import { type FileSearchBackend, InvalidPattern, type SearchChunkHandler, type TextQuery } from './search-backend.ts';

/** Environment variables for the ripgrep process. */
export type RipgrepEnvironment = Readonly<Record<string, string | undefined>>;

const MAX_STDERR_CHARS = 4000;
// `--no-require-git`: .gitignore files apply outside of repositories too.
const COMMON_ARGUMENTS = ['--no-config', '--color=never', '--no-require-git', '--path-separator=/'];

/** Creates the search backend that runs ripgrep. */
export function createRipgrepBackend(name: string, program: string, env: RipgrepEnvironment): FileSearchBackend {
  return {
    name,
    async listFiles({ root, excluded, ignored }, take, signal) {
      const globs = buildExclusionGlobs(root, excluded);
      if (globs === 'all') return;
      const ignoreArguments = ignored === 'listed' ? ['--no-ignore'] : [];
      const args = [
        ...COMMON_ARGUMENTS,
        ...ignoreArguments,
        '--files',
        '--hidden',
        ...excludeGlobs(['.git', ...globs]),
      ];
      await runRipgrep(program, args, { cwd: root, env, take, signal });
    },
    async search(query, take, signal) {
      const globs = buildExclusionGlobs(query.root, query.excluded);
      if (globs === 'all') return;
      await runRipgrep(program, [...COMMON_ARGUMENTS, ...buildSearchArguments(query, globs)], {
        cwd: query.root,
        env,
        take,
        signal,
      });
    },
  };
}

function buildSearchArguments(query: TextQuery, globs: readonly string[]): readonly string[] {
  return [
    '--null',
    ...buildModeArguments(query),
    ...(query.letters === 'any_case' ? ['-i'] : []),
    ...(query.span === 'multiline' ? ['-U', '--multiline-dotall'] : []),
    ...(query.type === undefined ? [] : [`--type=${query.type}`]),
    ...(matchesHiddenFiles(query.glob) ? ['--hidden'] : []),
    ...(query.glob === undefined ? [] : [`--glob=${query.glob}`]),
    ...excludeGlobs(['.git', ...globs]),
    '-e',
    query.pattern,
    ...(query.file === undefined ? [] : ['--', query.file]),
  ];
}

function buildModeArguments(query: TextQuery): readonly string[] {
  if (query.mode === 'files_with_matches') return ['--files-with-matches'];
  if (query.mode === 'count') return ['--count-matches', '--with-filename'];
  const numbers = query.lineNumbers === 'shown' ? '--line-number' : '--no-line-number';
  const context = [`--before-context=${query.before}`, `--after-context=${query.after}`];
  return ['--with-filename', '--no-heading', '--max-columns=2000', '--max-columns-preview', numbers, ...context];
}

function excludeGlobs(globs: readonly string[]): readonly string[] {
  return globs.map((glob) => `--iglob=!${glob}`);
}

type RunOptions = {
  readonly cwd: string;
  readonly env: RipgrepEnvironment;
  readonly take: SearchChunkHandler;
  readonly signal: AbortSignal;
};

/** Runs ripgrep; rejects with the system error if it cannot be started. */
async function runRipgrep(
  program: string,
  args: readonly string[],
  { cwd, env, take, signal }: RunOptions,
): Promise<void> {
  signal.throwIfAborted();
  const { exitCode, stderr } = await new Promise<{ exitCode: number | null; stderr: string }>((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    const stop = () => void child.kill('SIGKILL');
    const decoder = new TextDecoder();
    let stderr = '';
    let hasEnough = false;
    signal.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', (chunk: Uint8Array) => {
      if (hasEnough || take(decoder.decode(chunk, { stream: true })) === 'more') return;
      hasEnough = true;
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
  // Exit code 2 may also mean that single files could not be read, which is not a failure.
  if (exitCode !== 2) return;
  const message = `The search could not start: ${stderr.trim().slice(0, 1000)}`;
  if (/regex parse error|PCRE2|not allowed in a regex/i.test(stderr)) throw new InvalidPattern(message);
  if (/unrecognized|error parsing|invalid/i.test(stderr)) throw new ToolFailure(message);
}
