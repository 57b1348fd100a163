import { join } from 'node:path';
import { z } from 'zod';
import { getErrorMessage } from '../lib/errors.ts';
import { type JsonStore, openJsonStore } from '../lib/files/json-store.ts';
import { runShellCommand } from '../lib/processes/find-shell.ts';
import { type ProgramResult, requireProgramOutput, runProgram } from '../lib/processes/run-program.ts';
import { createTimeoutBackoff } from '../lib/processes/timeout-backoff.ts';
import { startOutsideWorkspace } from '../lib/programs/start-outside-workspace.ts';
import { KeyUnavailableError } from './stream/failures.ts';

/** A stored key and a label of its location. A key in the keyring is fetched when it is needed. */
export type StoredApiKey = { readonly key: string | (() => Promise<string>); readonly source: string };

/** Stored keys by provider: `anthropic`, `groq`. */
export type StoredApiKeys = ReadonlyMap<string, StoredApiKey>;

type KeyStoreOptions = Parameters<typeof openKeyring>[0];

const keyringEntry = z.object({ in: z.literal('keyring') });
const fileSchema = z.object({ v: z.literal(1).optional() }).catchall(z.union([z.string().min(1), keyringEntry]));

/** The stored keys; `problem` is set if the key file is unreadable. */
type KeysRead = { readonly keys: StoredApiKeys; readonly problem?: string };

/** Names of secrets that are not keys of providers: options of plugins. */
const PLUGIN_PREFIX = 'plugin/';

/** Returns the name under which an option of a plugin is stored. */
export const getPluginSecretName = (id: string, key: string) => `${PLUGIN_PREFIX}${id}/${key}`;

/** Reads the stored keys of providers. */
export async function readStoredApiKeys(options: KeyStoreOptions): Promise<KeysRead> {
  return readKeys(options, (name) => !name.startsWith(PLUGIN_PREFIX));
}

/** Reads the stored secrets of plugins. */
export async function readPluginSecrets(options: KeyStoreOptions): Promise<KeysRead> {
  return readKeys(options, (name) => name.startsWith(PLUGIN_PREFIX));
}

async function readKeys(options: KeyStoreOptions, isWanted: (name: string) => boolean): Promise<KeysRead> {
  const { value, problem } = await openKeyFile(options.ouroHome).read();
  const { v: _, ...entries } = value;
  const keys = Object.entries(entries).flatMap(([name, entry]): [string, StoredApiKey][] => {
    if (!isWanted(name)) return [];
    if (typeof entry === 'string') return [[name, { key: entry, source: 'stored key' }]];
    return typeof entry === 'object' ? [[name, { key: createKeyFetcher(name, options), source: 'keyring' }]] : [];
  });
  const result = { keys: new Map(keys) };
  return problem === undefined
    ? result
    : { ...result, problem: `${problem} Move the file away and store the key again with \`ouro login\`.` };
}

function createKeyFetcher(name: string, options: KeyStoreOptions): () => Promise<string> {
  let cached: string | undefined;
  return async () => {
    cached ??= await openKeyring(options)?.getKey(name);
    if (cached === undefined)
      throw new Error(
        `the keyring returned no key for ${name}. Unlock it, or store the key again with \`ouro login ${name}\`.`,
      );
    return cached;
  };
}

/** Stores a key in the keyring, or else in a file readable only by its owner. Returns a label of the location. */
export async function storeApiKey(options: KeyStoreOptions, name: string, input: string): Promise<string> {
  const key = input.trim();
  const keyring = openKeyring(options);
  const isInKeyring = keyring !== undefined && (await keyring.storeKey(name, key));
  await openKeyFile(options.ouroHome).change(() => [{ path: [name], value: isInKeyring ? { in: 'keyring' } : key }]);
  return isInKeyring ? keyring.label : getKeyFile(options.ouroHome);
}

/** Deletes a stored key; resolves to false if there was none. */
export async function deleteStoredApiKey(options: KeyStoreOptions, name: string): Promise<boolean> {
  const store = openKeyFile(options.ouroHome);
  const { value } = await store.read();
  const entry = Object.hasOwn(value, name) ? value[name] : undefined;
  if (entry === undefined) return false;
  if (typeof entry === 'object') await openKeyring(options)?.deleteKey(name);
  await store.change(() => [{ path: [name], value: undefined }]);
  return true;
}

function getKeyFile(ouroHome: string): string {
  return join(ouroHome, 'keys.json');
}

function openKeyFile(ouroHome: string): JsonStore<z.output<typeof fileSchema>> {
  return openJsonStore(getKeyFile(ouroHome), { empty: {}, entryDepth: 1, parse: (json) => fileSchema.safeParse(json) });
}

/** The system keyring, which keeps keys out of files. */
type Keyring = {
  /** Display name. */
  readonly label: string;
  /** Stores a key; resolves to false if the keyring is locked or unavailable. */
  storeKey(name: string, key: string): Promise<boolean>;
  getKey(name: string): Promise<string | undefined>;
  /** Deletes the stored key of a name; resolves to false if that failed. */
  deleteKey(name: string): Promise<boolean>;
};

type KeyringOptions = {
  readonly variables: Readonly<Record<string, string>>;
  readonly ouroHome: string;
  readonly platform?: string;
};

/** Long enough for the user to unlock the keyring. */
const TIMEOUT_MS = 60_000;

/**
 * Opens the keyring of the platform; `undefined` if there is none, as over ssh. Called as a program: a module for it
 * would need a binary per platform.
 */
function openKeyring({ variables, ouroHome, platform = process.platform }: KeyringOptions): Keyring | undefined {
  const run = (file: string, args: readonly string[], input = '') =>
    runProgram(file, args, { env: variables, input, timeoutMs: TIMEOUT_MS, killSignal: 'SIGKILL' });
  // Keys are separate for each ouro home.
  const service = `ouro ${ouroHome}`;
  if (platform === 'darwin') return createKeychainKeyring(run, service);
  const hasSessionBus = variables.DBUS_SESSION_BUS_ADDRESS !== undefined;
  return platform === 'linux' && hasSessionBus ? createSecretServiceKeyring(run, service) : undefined;
}

type RunProgram = (file: string, args: readonly string[], input?: string) => Promise<ProgramResult>;

/** Creates a keyring over the Secret Service. Keys are passed on stdin, because arguments are visible to other users. */
function createSecretServiceKeyring(run: RunProgram, service: string): Keyring {
  const toAttributes = (name: string) => ['service', service, 'account', name];
  return {
    label: 'the system keyring',
    async storeKey(name, key) {
      const end = await run('secret-tool', ['store', '--label', `ouro: key of ${name}`, ...toAttributes(name)], key);
      return end.code === 0;
    },
    getKey: async (name) => parseOutput(await run('secret-tool', ['lookup', ...toAttributes(name)])),
    deleteKey: async (name) => (await run('secret-tool', ['clear', ...toAttributes(name)])).code === 0,
  };
}

function createKeychainKeyring(run: RunProgram, service: string): Keyring {
  const toAttributes = (name: string) => ['-s', service, '-a', name];
  const quote = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  const getKey = async (name: string) =>
    parseOutput(await run('security', ['find-generic-password', ...toAttributes(name), '-w']));
  return {
    label: 'the macOS keychain',
    async storeKey(name, key) {
      const line = ['add-generic-password', '-U', ...toAttributes(name).map(quote), '-w', quote(key)].join(' ');
      const end = await run('security', ['-i'], `${line}\n`);
      return end.code === 0 && (await getKey(name)) === key;
    },
    getKey,
    deleteKey: async (name) => (await run('security', ['delete-generic-password', ...toAttributes(name)])).code === 0,
  };
}

function parseOutput({ code, stdout }: ProgramResult): string | undefined {
  const text = stdout.toString('utf8').trim();
  return code === 0 && text !== '' ? text : undefined;
}

const HELPER_TIMEOUT_MS = 10_000;
/** Lifetime of a cached key; helpers usually print short-lived keys. */
const CACHE_TTL_MS = 5 * 60_000;

/** Creates a key helper for a command. A failing command throws a `KeyUnavailableError` with a message for the user. */
export function createKeyHelper(
  command: string,
  variables: Readonly<Record<string, string>>,
  now: () => number,
  timeoutMs = HELPER_TIMEOUT_MS,
) {
  let cached: { readonly key: string; readonly atMs: number } | undefined;
  const timeoutGuard = createTimeoutBackoff(now);
  /** Returns the key, running the command if none is cached. */
  async function getKey(): Promise<string> {
    if (cached !== undefined && now() - cached.atMs < CACHE_TTL_MS) return cached.key;
    if (timeoutGuard.isPaused(command)) throw new KeyUnavailableError(`${FAILED}: it timed out and is not retried yet`);
    const end = await runShellCommand('sh', command, {
      env: variables,
      timeoutMs,
      killSignal: 'SIGKILL',
      check: startOutsideWorkspace,
      use: 'reads',
    });
    timeoutGuard.record(command, { timedOut: end.timedOut, tookMs: timeoutMs });
    const newKey = parseKey(end);
    cached = { key: newKey, atMs: now() };
    return newKey;
  }

  return {
    getKey,
    /** Discards the cached key after it was rejected. */
    forget() {
      cached = undefined;
    },
  };
}

const FAILED = 'The apiKeyHelper command failed';

function parseKey(end: ProgramResult): string {
  let text: string;
  try {
    text = requireProgramOutput('it', end).trim();
  } catch (cause) {
    throw new KeyUnavailableError(`${FAILED}: ${takeLastLine(getErrorMessage(cause))}`, { cause });
  }
  if (text === '') throw new KeyUnavailableError('The apiKeyHelper command printed no key.');
  return text;
}

function takeLastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
