import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrnoCode } from '../../lib/errors.ts';
import type { MountHealth } from '../../lib/files/mount-health.ts';
import { findBundledRipgrep } from '../../lib/processes/installed-files.ts';
import { abandonOnAbort } from '../../lib/promises.ts';
import { formatDuration } from '../../lib/text/format.ts';
import { IGNORE_FILES } from '../../permissions/paths/search-exclusions.ts';
import { buildExclusionGlobs, matchesHiddenFiles } from './globs.ts';
import { type FileSearchBackend, InvalidPattern, type SearchChunkHandler, type TextQuery } from './search-backend.ts';

/** A search that takes longer is blocked, by a file in /proc or a dead network drive for example. */
const SEARCH_TIMEOUT_MS = 60_000;

/** Creates the search backend: the bundled ripgrep, else the one of the system, else fast-glob. */
export function createSearchBackend(env: RipgrepEnvironment, bundled = findBundledRipgrep): FileSearchBackend {
  const sources = [
    async () => createRipgrepBackend('bundled', bundled(), env),
    async () => createRipgrepBackend('system', 'rg', env),
    loadWalkBackend,
  ];
  return walkWhere(hasBlockingIgnoreFile, limitSearchTime(tryInOrder(sources), SEARCH_TIMEOUT_MS));
}

/** Makes a search backend leave out mounts that do not answer. */
export function excludeHungMounts(backend: FileSearchBackend, mounts: MountHealth): FileSearchBackend {
  // ripgrep looks at the target of each link, even of those that it does not follow.
  const safe = walkWhere(async () => {
    await mounts.check();
    return mounts.listHung().length > 0;
  }, backend);
  const exclude = async (excluded: readonly string[]) => {
    await mounts.check();
    return [...excluded, ...mounts.listHung()];
  };
  return {
    name: backend.name,
    listFiles: async (query, take, signal) =>
      safe.listFiles({ ...query, excluded: await exclude(query.excluded) }, take, signal),
    search: async (query, take, signal) =>
      safe.search({ ...query, excluded: await exclude(query.excluded) }, take, signal),
  };
}

/** Replaces a backend by the one of last resort in folders where it could block. */
function walkWhere(mayBlock: (root: string) => Promise<boolean>, backend: FileSearchBackend): FileSearchBackend {
  const select = async (root: string) =>
    (await mayBlock(root)) ? limitSearchTime(await loadWalkBackend(), SEARCH_TIMEOUT_MS) : backend;
  return {
    name: backend.name,
    listFiles: async (query, take, signal) => (await select(query.root)).listFiles(query, take, signal),
    search: async (query, take, signal) => (await select(query.root)).search(query, take, signal),
  };
}

/** Tells whether an ignore file in or above a folder is a pipe or a device, for which ripgrep would wait for ever. */
async function hasBlockingIgnoreFile(root: string): Promise<boolean> {
  const parent = dirname(root);
  const checks = [...IGNORE_FILES, '.git/info/exclude'].map(async (name) => {
    const found = await stat(join(root, name)).catch(() => undefined);
    return found !== undefined && !found.isFile() && !found.isDirectory();
  });
  if ((await Promise.all(checks)).includes(true)) return true;
  return parent === root ? false : hasBlockingIgnoreFile(parent);
}

/** Loads the backend of last resort, which most processes never need. */
async function loadWalkBackend(): Promise<FileSearchBackend> {
  return (await import('./walk-backend.ts')).createWalkBackend();
}

/** Adds a time limit to a search backend. @internal Exported for tests. */
export function limitSearchTime(locator: FileSearchBackend, limitMs: number): FileSearchBackend {
  const runWithLimit = async (action: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> => {
    const timeout = AbortSignal.timeout(limitMs);
    const either = AbortSignal.any([signal, timeout]);
    try {
      // A blocked read cannot be cancelled, so it is not awaited.
      await abandonOnAbort(action(either), either);
    } catch (thrown) {
      if (!either.aborted) throw thrown;
    }
    signal.throwIfAborted();
    if (!timeout.aborted) return;
    throw new ToolFailure(
      `The search was ended after ${formatDuration(limitMs)}. Narrow it with path, glob or type, and leave out folders that are slow to read.`,
    );
  };
  return {
    name: locator.name,
    listFiles: (query, take, signal) => runWithLimit((either) => locator.listFiles(query, take, either), signal),
    search: (query, take, signal) => runWithLimit((either) => locator.search(query, take, either), signal),
  };
}

/** Creates a backend that tries each source in turn until one can be started. */
function tryInOrder(sources: readonly (() => Promise<FileSearchBackend>)[]): FileSearchBackend {
  let current = 0;
  let chosen: Promise<FileSearchBackend> | undefined;
  const attempt = async (action: (locator: FileSearchBackend) => Promise<void>): Promise<void> => {
    const source = sources[current];
    if (source === undefined) throw new Error('No search backend is available.');
    const attempted = current;
    try {
      chosen ??= source();
      await action(await chosen);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
      // A parallel search may have switched to the next source already.
      if (current === attempted) {
        current += 1;
        chosen = undefined;
      }
      await attempt(action);
    }
  };
  return {
    name: 'first available',
    listFiles: (query, take, signal) => attempt((locator) => locator.listFiles(query, take, signal)),
    search: (query, take, signal) => attempt((locator) => locator.search(query, take, signal)),
  };
}

function isMissing(thrown: unknown): boolean {
  const code = getErrnoCode(thrown);
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOEXEC' || code === 'ENOTDIR';
}

/** Environment variables for the ripgrep process. */
type RipgrepEnvironment = Readonly<Record<string, string | undefined>>;

const MAX_STDERR_CHARS = 4000;
// `--no-require-git`: .gitignore files apply outside of repositories too.
const COMMON_ARGUMENTS = ['--no-config', '--color=never', '--no-require-git', '--path-separator=/'];

/** Creates the search backend that runs ripgrep. @internal Exported for tests. */
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
  // Exit code 2 may also mean that single files could not be read, which is no failure.
  if (exitCode !== 2) return;
  const message = `The search could not start: ${stderr.trim().slice(0, 1000)}`;
  if (/regex parse error|PCRE2|not allowed in a regex/i.test(stderr)) throw new InvalidPattern(message);
  if (/unrecognized|error parsing|invalid/i.test(stderr)) throw new ToolFailure(message);
}
