import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { delimiter, dirname, join, normalize, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { type Environment, type RuntimeLimits, SECRET_VARIABLES } from '../contracts/environment.ts';
import { omitUndefined } from '../lib/json.ts';
import { findBundledRipgrep } from '../lib/processes/installed-files.ts';
import { RUNTIME_SETTINGS } from '../lib/processes/runtime-settings.ts';

/** The variables of the process, as they are. */
type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the environment of the process. An empty variable counts as unset. */
export function readEnvironment(env: Variables = addRipgrepToPath(restoreBunVariables(process.env))): Environment {
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
    limits: readLimits(env),
    problems: describeInvalidLimits(env),
    term: {
      name: env.TERM ?? '',
      isColorDisabled: nonEmpty(env.NO_COLOR) !== undefined,
      forceColor: nonEmpty(env.FORCE_COLOR),
      forceHyperlink: nonEmpty(env.FORCE_HYPERLINK),
      colorTerm: env.COLORTERM ?? '',
      colorFgBg: nonEmpty(env.COLORFGBG),
      program: nonEmpty(env.TERM_PROGRAM),
      programVersion: nonEmpty(env.TERM_PROGRAM_VERSION),
      isWindows: nonEmpty(env.WT_SESSION) !== undefined || env.ConEmuANSI === 'ON',
      isTmux: nonEmpty(env.TMUX) !== undefined,
      isRemote: nonEmpty(env.SSH_CONNECTION) !== undefined || nonEmpty(env.SSH_TTY) !== undefined,
      canReflow: nonEmpty(env.TMUX) !== undefined || !truncatesRows(env),
      locale: nonEmpty(env.LC_ALL) ?? nonEmpty(env.LC_CTYPE) ?? env.LANG ?? '',
      isAccessible: nonEmpty(env.ACCESSIBLE) !== undefined || nonEmpty(env.OURO_A11Y) !== undefined,
    },
    isCi: nonEmpty(env.CI) !== undefined,
    screenRecording: nonEmpty(env.OURO_DEBUG_SCREEN),
    modelRecording: readModelRecording(env),
    isSandbox: env.IS_SANDBOX === '1',
    path: (env.PATH ?? '').split(process.platform === 'win32' ? ';' : ':').filter((entry) => entry !== ''),
    variables: selectVariables(env, (name) => !SECRET_VARIABLES.includes(name) && !isPrivate(name, env, home)),
    keys: selectVariables(env, (name) => SECRET_VARIABLES.includes(name)),
  };
}

/** The variable of each limit. Its value is a whole number from 0 up; anything else is ignored and reported. */
const LIMIT_VARIABLES = {
  streamIdleTimeoutMs: 'OURO_STREAM_IDLE_TIMEOUT_MS',
  headerTimeoutMs: 'OURO_HEADER_TIMEOUT_MS',
  maxRetries: 'OURO_MAX_RETRIES',
  retryBaseMs: 'OURO_RETRY_BASE_MS',
  mcpTimeoutMs: 'OURO_MCP_TIMEOUT_MS',
  mcpCallTimeoutMs: 'OURO_MCP_CALL_TIMEOUT_MS',
  hookTimeoutMs: 'OURO_HOOK_TIMEOUT_MS',
  bashTimeoutMs: 'OURO_BASH_TIMEOUT_MS',
  bashMaxTimeoutMs: 'OURO_BASH_MAX_TIMEOUT_MS',
} as const satisfies Record<keyof RuntimeLimits, string>;

function readLimits(env: Variables): RuntimeLimits {
  return Object.fromEntries(Object.entries(LIMIT_VARIABLES).map(([limit, name]) => [limit, parseCount(env[name])]));
}

function describeInvalidLimits(env: Variables): readonly string[] {
  return Object.values(LIMIT_VARIABLES).flatMap((name) => {
    const value = nonEmpty(env[name]);
    return value === undefined || parseCount(value) !== undefined
      ? []
      : [`${name} is "${value}", which is not a whole number. It is ignored.`];
  });
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
function findCacheFolder(env: Variables, home: string): string {
  const [cache, local] = [nonEmpty(env.XDG_CACHE_HOME), nonEmpty(env.LOCALAPPDATA)];
  return cache === undefined && local !== undefined
    ? join(local, 'ouro', 'cache')
    : join(cache ?? join(home, '.cache'), 'ouro');
}

function readModelRecording(env: Variables): Environment['modelRecording'] {
  const [record, replay] = [nonEmpty(env.OURO_MODEL_RECORD), nonEmpty(env.OURO_MODEL_REPLAY)];
  if (replay !== undefined) return { mode: 'replay', file: replay };
  return record === undefined ? undefined : { mode: 'record', file: record };
}

/** xterm, the Linux console, GNU screen and the terminal of Neovim truncate rows when the window becomes narrower. */
function truncatesRows(env: Variables): boolean {
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

/** Returns whether ouro or its launcher set a variable for this process alone: programs it starts must not inherit it. */
function isPrivate(name: string, env: Variables, home: string): boolean {
  const value = env[name] ?? '';
  switch (name) {
    case 'OURO_DEBUG_SCREEN':
      // A nested ouro would overwrite the recording.
      return true;
    case SAFE_SEARCH:
      return value === OWN_VALUE;
    case 'BUN_RUNTIME_TRANSPILER_CACHE_PATH':
      // The launcher joins the path without normalizing it.
      return value === '0' || normalize(value) === findCacheFolder(env, home);
    default:
      return value === RUNTIME_SETTINGS[name];
  }
}

/** Returns the system that this executable was built for, as in the names of archives. */
export function getBuildTarget(): string {
  // A build replaces this expression; it tells the two C libraries of Linux apart.
  return process.env.OURO_TARGET ?? `${process.platform}-${process.arch}`;
}

/** Returns the directory ouro was started in. From here on it is passed as a value. */
export function getStartDirectory(): string {
  return process.cwd();
}

function selectVariables(env: Variables, isIncluded: (name: string) => boolean): Readonly<Record<string, string>> {
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
