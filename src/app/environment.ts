import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { type Environment, SECRETS } from '../contracts/environment.ts';

const LIMITS = [
  'OURO_STREAM_IDLE_TIMEOUT_MS',
  'OURO_HEADER_TIMEOUT_MS',
  'OURO_MAX_RETRIES',
  'OURO_RETRY_BASE_MS',
  'OURO_MCP_TIMEOUT_MS',
  'OURO_MCP_CALL_TIMEOUT_MS',
  'OURO_HOOK_TIMEOUT_MS',
  'OURO_BASH_TIMEOUT_MS',
  'OURO_BASH_MAX_TIMEOUT_MS',
];

/** Reads the surroundings of this process, once. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): Environment {
  const home = given(env.HOME) ?? given(env.USERPROFILE) ?? (given(homedir()) || userInfo().homedir);
  const apiKey = secret(env.ANTHROPIC_API_KEY);
  const authToken = secret(env.ANTHROPIC_AUTH_TOKEN);
  return {
    version: manifest.version,
    home,
    ouroHome: behindLink(resolve(given(env.OURO_HOME) ?? join(home, '.ouro'))),
    credentials: {
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(authToken === undefined ? {} : { authToken }),
    },
    baseUrl: given(env.ANTHROPIC_BASE_URL),
    openAi: {
      ...(given(env.OPENAI_BASE_URL) === undefined ? {} : { baseUrl: env.OPENAI_BASE_URL ?? '' }),
      ...(given(env.OPENAI_API_KEY) === undefined ? {} : { apiKey: env.OPENAI_API_KEY ?? '' }),
    },
    model: given(env.ANTHROPIC_MODEL),
    smallModel: given(env.ANTHROPIC_SMALL_FAST_MODEL),
    editor: given(env.VISUAL) ?? given(env.EDITOR),
    limits: {
      streamIdleTimeoutMs: count(env.OURO_STREAM_IDLE_TIMEOUT_MS),
      headerTimeoutMs: count(env.OURO_HEADER_TIMEOUT_MS),
      maxRetries: count(env.OURO_MAX_RETRIES),
      retryBaseMs: count(env.OURO_RETRY_BASE_MS),
      mcpTimeoutMs: count(env.OURO_MCP_TIMEOUT_MS),
      mcpCallTimeoutMs: count(env.OURO_MCP_CALL_TIMEOUT_MS),
      hookTimeoutMs: count(env.OURO_HOOK_TIMEOUT_MS),
      bashTimeoutMs: count(env.OURO_BASH_TIMEOUT_MS),
      bashMaxTimeoutMs: count(env.OURO_BASH_MAX_TIMEOUT_MS),
    },
    problems: LIMITS.flatMap((name) => {
      const value = given(env[name]);
      return value === undefined || count(value) !== undefined
        ? []
        : [`${name} is "${value}", which is not a whole number. It is ignored.`];
    }),
    term: {
      name: env.TERM ?? '',
      noColor: given(env.NO_COLOR) !== undefined,
      forceColor: given(env.FORCE_COLOR),
      forceHyperlink: given(env.FORCE_HYPERLINK),
      colorTerm: env.COLORTERM ?? '',
      colorFgBg: given(env.COLORFGBG),
      program: given(env.TERM_PROGRAM),
      programVersion: given(env.TERM_PROGRAM_VERSION),
      isWindows: given(env.WT_SESSION) !== undefined || env.ConEmuANSI === 'ON',
      tmux: given(env.TMUX) !== undefined,
      isRemote: given(env.SSH_CONNECTION) !== undefined || given(env.SSH_TTY) !== undefined,
      reflows: given(env.TMUX) !== undefined || !cutsRows(env),
      locale: env.LC_ALL ?? env.LC_CTYPE ?? env.LANG ?? '',
      accessible: given(env.ACCESSIBLE) !== undefined || given(env.OURO_A11Y) !== undefined,
    },
    isCi: given(env.CI) !== undefined,
    isSandbox: env.IS_SANDBOX === '1',
    path: (env.PATH ?? '').split(process.platform === 'win32' ? ';' : ':').filter((entry) => entry !== ''),
    variables: among(env, (name) => !SECRETS.includes(name) && !isOurPace(name, env)),
    keys: among(env, (name) => SECRETS.includes(name)),
  };
}

/** xterm, the console of Linux and GNU screen keep the rows of a window that becomes narrower, without their ends. */
function cutsRows(env: Readonly<Record<string, string | undefined>>): boolean {
  return given(env.XTERM_VERSION) !== undefined || env.TERM === 'linux' || given(env.STY) !== undefined;
}

/** People keep their dotfiles in other places; a link that leads nowhere yet names where they will be. */
function behindLink(path: string): string {
  try {
    return existsSync(path) && lstatSync(path).isSymbolicLink()
      ? realpathSync(path)
      : resolve(dirname(path), readlinkSync(path));
  } catch {
    return path;
  }
}

/** What bin/ouro tells our own runtime is nothing for other programs on it. */
const OUR_PACE: Readonly<Record<string, string>> = { BUN_GC_TIMER_INTERVAL: '60000', BUN_JSC_useFTLJIT: '0' };

function isOurPace(name: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const caches = env.XDG_CACHE_HOME || `${env.HOME}/.cache`;
  if (name === 'BUN_RUNTIME_TRANSPILER_CACHE_PATH') return ['0', `${caches}/ouro`].includes(env[name] ?? '');
  return OUR_PACE[name] !== undefined && env[name] === OUR_PACE[name];
}

/** The directory ouro was started in; from here on it travels as a value. */
export function startDirectory(): string {
  return process.cwd();
}

function among(
  env: Readonly<Record<string, string | undefined>>,
  fits: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && fits(name)) kept[name] = value;
  }
  return kept;
}

/** What is pasted often brings blanks and a line end along. */
function secret(value: string | undefined): string | undefined {
  return given(value?.trim());
}

/** Set and not empty. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

/** A whole number from 0 up; anything else counts as not said. */
function count(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}
