import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { type Environment, SECRET_VARIABLES } from '../contracts/environment.ts';
import { omitUndefined } from '../lib/json.ts';
import { findBundledRipgrep } from '../lib/processes/installed-files.ts';
import { RUNTIME_SETTINGS } from '../lib/processes/runtime-settings.ts';
import { splitWords } from '../lib/text/lines.ts';

const LIMIT_VARIABLES = splitWords(`
  OURO_STREAM_IDLE_TIMEOUT_MS OURO_HEADER_TIMEOUT_MS OURO_MAX_RETRIES OURO_RETRY_BASE_MS OURO_MCP_TIMEOUT_MS
  OURO_MCP_CALL_TIMEOUT_MS OURO_HOOK_TIMEOUT_MS OURO_BASH_TIMEOUT_MS OURO_BASH_MAX_TIMEOUT_MS
`);

export function readEnvironment(
  env: Readonly<Record<string, string | undefined>> = addRipgrepToPath(restoreBunVariables(process.env)),
): Environment {
  const home = nonEmpty(env.HOME) ?? nonEmpty(env.USERPROFILE) ?? (nonEmpty(homedir()) || userInfo().homedir);
  const apiKey = trimSecret(env.ANTHROPIC_API_KEY);
  const authToken = trimSecret(env.ANTHROPIC_AUTH_TOKEN);
  return {
    version: manifest.version,
    home,
    ouroHome: resolveLink(resolve(nonEmpty(env.OURO_HOME) ?? join(home, '.ouro'))),
    runtimeCache: findCacheFolder(env, home),
    credentials: {
      ...omitUndefined({ apiKey, authToken }),
    },
    baseUrl: nonEmpty(env.ANTHROPIC_BASE_URL),
    openAi: {
      ...(nonEmpty(env.OPENAI_BASE_URL) === undefined ? {} : { baseUrl: env.OPENAI_BASE_URL ?? '' }),
      ...(nonEmpty(env.OPENAI_API_KEY) === undefined ? {} : { apiKey: env.OPENAI_API_KEY ?? '' }),
    },
    model: nonEmpty(env.ANTHROPIC_MODEL),
    smallModel: nonEmpty(env.ANTHROPIC_SMALL_FAST_MODEL),
    editor: nonEmpty(env.VISUAL) ?? nonEmpty(env.EDITOR),
    limits: {
      streamIdleTimeoutMs: parseCount(env.OURO_STREAM_IDLE_TIMEOUT_MS),
      headerTimeoutMs: parseCount(env.OURO_HEADER_TIMEOUT_MS),
      maxRetries: parseCount(env.OURO_MAX_RETRIES),
      retryBaseMs: parseCount(env.OURO_RETRY_BASE_MS),
      mcpTimeoutMs: parseCount(env.OURO_MCP_TIMEOUT_MS),
      mcpCallTimeoutMs: parseCount(env.OURO_MCP_CALL_TIMEOUT_MS),
      hookTimeoutMs: parseCount(env.OURO_HOOK_TIMEOUT_MS),
      bashTimeoutMs: parseCount(env.OURO_BASH_TIMEOUT_MS),
      bashMaxTimeoutMs: parseCount(env.OURO_BASH_MAX_TIMEOUT_MS),
    },
    problems: LIMIT_VARIABLES.flatMap((name) => {
      const value = nonEmpty(env[name]);
      return value === undefined || parseCount(value) !== undefined
        ? []
        : [`${name} is "${value}", which is not a whole number. It is ignored.`];
    }),
    term: {
      name: env.TERM ?? '',
      noColor: nonEmpty(env.NO_COLOR) !== undefined,
      forceColor: nonEmpty(env.FORCE_COLOR),
      forceHyperlink: nonEmpty(env.FORCE_HYPERLINK),
      colorTerm: env.COLORTERM ?? '',
      colorFgBg: nonEmpty(env.COLORFGBG),
      program: nonEmpty(env.TERM_PROGRAM),
      programVersion: nonEmpty(env.TERM_PROGRAM_VERSION),
      isWindows: nonEmpty(env.WT_SESSION) !== undefined || env.ConEmuANSI === 'ON',
      tmux: nonEmpty(env.TMUX) !== undefined,
      isRemote: nonEmpty(env.SSH_CONNECTION) !== undefined || nonEmpty(env.SSH_TTY) !== undefined,
      reflows: nonEmpty(env.TMUX) !== undefined || !truncatesRows(env),
      locale: nonEmpty(env.LC_ALL) ?? nonEmpty(env.LC_CTYPE) ?? env.LANG ?? '',
      accessible: nonEmpty(env.ACCESSIBLE) !== undefined || nonEmpty(env.OURO_A11Y) !== undefined,
    },
    isCi: nonEmpty(env.CI) !== undefined,
    screenRecording: nonEmpty(env.OURO_DEBUG_SCREEN),
    modelRecording: readModelRecording(env),
    isSandbox: env.IS_SANDBOX === '1',
    path: (env.PATH ?? '').split(process.platform === 'win32' ? ';' : ':').filter((entry) => entry !== ''),
    variables: selectVariables(env, (name) => !SECRET_VARIABLES.includes(name) && !isPrivate(name, env)),
    keys: selectVariables(env, (name) => SECRET_VARIABLES.includes(name)),
  };
}

const BUN_VARIABLES = ['BUN_OPTIONS', 'BUN_INSPECT_PRELOAD'];

/** Gives the variables for the user's own Bun their names back; the launcher has hidden them from the runtime. */
function restoreBunVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const restored = { ...env };
  for (const name of BUN_VARIABLES) {
    const value = env[`OURO_${name}`];
    if (value !== undefined) restored[name] = value;
    delete restored[`OURO_${name}`];
  }
  return restored;
}

/** Adds the folder of the bundled ripgrep to PATH if the machine has none: models often use `rg` in commands. */
function addRipgrepToPath(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  if (folders.length === 0 || folders.some((folder) => existsSync(join(folder, program)))) return env;
  try {
    return { ...env, PATH: `${env.PATH}${delimiter}${dirname(findBundledRipgrep())}` };
  } catch {
    return env;
  }
}

/** `%LOCALAPPDATA%\\ouro` is where the installer puts the program, so the cache of Windows is a folder in it. */
function findCacheFolder(env: Readonly<Record<string, string | undefined>>, home: string): string {
  const [cache, local] = [nonEmpty(env.XDG_CACHE_HOME), nonEmpty(env.LOCALAPPDATA)];
  return cache === undefined && local !== undefined
    ? join(local, 'ouro', 'cache')
    : join(cache ?? join(home, '.cache'), 'ouro');
}

function readModelRecording(env: Readonly<Record<string, string | undefined>>): Environment['modelRecording'] {
  const [record, replay] = [nonEmpty(env.OURO_MODEL_RECORD), nonEmpty(env.OURO_MODEL_REPLAY)];
  if (replay !== undefined) return { mode: 'replay', file: replay };
  return record === undefined ? undefined : { mode: 'record', file: record };
}

/** xterm, the Linux console, GNU screen and the terminal of Neovim truncate rows when the window becomes narrower. */
function truncatesRows(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.TERM === 'linux' || [env.XTERM_VERSION, env.STY, env.NVIM].some((value) => nonEmpty(value) !== undefined);
}

/** Resolves a link to the ouro folder; a dangling link gives the path it names. */
function resolveLink(path: string): string {
  try {
    return existsSync(path) && lstatSync(path).isSymbolicLink()
      ? realpathSync(path)
      : resolve(dirname(path), readlinkSync(path));
  } catch {
    return path;
  }
}

/** Variable that keeps Windows from running a program of the working directory instead of the one on the PATH. */
const SAFE_SEARCH = 'NoDefaultCurrentDirectoryInExePath';

/** Lets this process find the programs it runs on the PATH only. Scripts of the user search as they do elsewhere. */
export function limitProgramSearch(): void {
  if (process.platform === 'win32') process.env[SAFE_SEARCH] ??= OWN_VALUE;
}

/** Any value works; this one tells it from a value of the user. */
const OWN_VALUE = 'ouro';

function isPrivate(name: string, env: Readonly<Record<string, string | undefined>>): boolean {
  // A nested ouro would overwrite the recording.
  if (name === 'OURO_DEBUG_SCREEN') return true;
  if (name === SAFE_SEARCH) return env[name] === OWN_VALUE;
  const caches = env.XDG_CACHE_HOME || `${env.HOME}/.cache`;
  if (name === 'BUN_RUNTIME_TRANSPILER_CACHE_PATH') return ['0', `${caches}/ouro`].includes(env[name] ?? '');
  return RUNTIME_SETTINGS[name] !== undefined && env[name] === RUNTIME_SETTINGS[name];
}

/** The package and the releases that this build belongs to. */
export type ReleaseSource = {
  readonly packageName: string;
  /** Address of the releases; `undefined` for a build that belongs to no release. */
  readonly releasesUrl: string | undefined;
  /** Public key that signs the releases; `undefined` for a build that verifies no signatures. */
  readonly releaseKey: string | undefined;
  /** The system that this executable was built for, as in the names of archives. */
  readonly target: string;
};

/** Returns where this build is published: the release workflow adds its repository to the manifest. */
export function getReleaseSource(): ReleaseSource {
  const {
    name,
    repository,
    releaseKey,
  }: {
    readonly name: string;
    readonly repository?: { readonly url: string };
    readonly releaseKey?: string;
  } = manifest;
  const address = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');
  return {
    packageName: name,
    releasesUrl: address === undefined ? undefined : `${address}/releases`,
    releaseKey: nonEmpty(releaseKey),
    // A build replaces this expression; it tells the two C libraries of Linux apart.
    target: process.env.OURO_TARGET ?? `${process.platform}-${process.arch}`,
  };
}

/** Returns the directory ouro was started in. From here on it is passed as a value. */
export function getStartDirectory(): string {
  return process.cwd();
}

function selectVariables(
  env: Readonly<Record<string, string | undefined>>,
  isIncluded: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const selected: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isIncluded(name)) selected[name] = value;
  }
  return selected;
}

/** Removes blanks and line ends, which pasted keys often contain. */
function trimSecret(value: string | undefined): string | undefined {
  return nonEmpty(value?.trim());
}

/** Returns a value that is set and not empty. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

/** Parses a whole number from 0 up; anything else is ignored. */
function parseCount(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}
