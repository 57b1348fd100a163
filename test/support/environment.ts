import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RUN_FOLDER } from './file-leftovers.ts';

/** The folders of a project that its processes need. */
export type ProjectFolders = { readonly home: string; readonly ouroHome: string; readonly marker: string };

const PATH = '/usr/local/bin:/usr/bin:/bin';

/** A fresh home would have the runtime translate every library anew, which takes longer than most tests. */
export const SHARED_CACHE = {
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(process.env[RUN_FOLDER] ?? tmpdir(), 'ouro-test-cache'),
};

/** A program that runs for a second does not earn back what compiling it costs: a third of its processor time. */
const NO_COMPILER = { BUN_JSC_useJIT: '0' };

/**
 * A proxy that nobody serves, which all tests and the programs that they start have: no request to this machine may take
 * it. `NO_PROXY` is left out, because few people list this machine there.
 */
export const DEAD_PROXY = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) =>
    [name, name.toLowerCase()].map((variable) => [variable, 'http://127.0.0.1:9']),
  ),
);

/** A setting for programs of others, which would look for this machine behind the proxy. */
export const DIRECT = { NO_PROXY: '127.0.0.1,localhost,::1', no_proxy: '127.0.0.1,localhost,::1' };

/** Settings that take the proxy away. */
export const NO_PROXY_AT_ALL = Object.fromEntries(Object.keys(DEAD_PROXY).map((name) => [name, undefined]));

/** The surroundings of a machine that has nothing but a key and a base URL. */
export function bareEnvironment(project: ProjectFolders, apiUrl?: string): Record<string, string> {
  const [name = '', value = ''] = project.marker.split('=');
  return {
    ...SHARED_CACHE,
    ...NO_COMPILER,
    ...DEAD_PROXY,
    PATH,
    [name]: value,
    HOME: project.home,
    // What a killed program leaves is removed with the project.
    TMPDIR: dirname(project.home),
    OURO_HOME: project.ouroHome,
    LANG: 'C.UTF-8',
    ...(apiUrl === undefined
      ? {}
      : { ANTHROPIC_BASE_URL: apiUrl, ANTHROPIC_API_KEY: 'sk-ant-test', OURO_RETRY_BASE_MS: '1' }),
  };
}

/** The same in front of a terminal that can do what xterm can. */
export function terminalEnvironment(project: ProjectFolders, apiUrl?: string): Record<string, string> {
  return { ...bareEnvironment(project, apiUrl), TERM: 'xterm-256color', COLORTERM: 'truecolor' };
}

/** A unique variable that marks the processes of a test. */
export function newMarker(): string {
  return `OURO_TEST_MARK=${crypto.randomUUID()}`;
}

/** Settings of a test over an environment; `undefined` takes a variable away. */
export function withSettings(
  env: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...env, ...settings })) if (value !== undefined) kept[name] = value;
  return kept;
}
