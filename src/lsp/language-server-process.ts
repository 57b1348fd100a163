import { resolve } from 'node:path';
import type { LanguageServerConfig } from '../contracts/extension.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { describeFolderByUri } from '../lib/files/file-uri.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import type { ChildProcessLedger } from '../lib/processes/piped-program.ts';
import { readProcessGroupMemory } from '../lib/processes/process-info.ts';
import type { ProgramCheck } from '../lib/processes/program-check.ts';
import { formatBytes } from '../lib/text/format.ts';
import { createLspConnection, type LanguageServerConnection } from './lsp-connection.ts';

/** The dependencies of a language server. */
export type LanguageServerProcessDeps = {
  /** Folder of the session. */
  readonly folder: string;
  readonly version: string;
  readonly getVariables: () => Readonly<Record<string, string>>;
  readonly newMarker: () => string;
  readonly ledger: ChildProcessLedger | undefined;
  readonly checkProgram: ProgramCheck;
  /** Reports a failure to the user. */
  readonly warn: (message: string) => void;
};

type ProcessListeners = {
  /** Called when the server is initialized; it has no open files yet. */
  readonly onInitialized: () => void;
  readonly onNotification: (method: string, params: JsonValue) => void;
  /** Called when the server has ended or failed. */
  readonly onExit: () => void;
};

/** An initialized server. */
export type InitializedLanguageServer = { readonly connection: LanguageServerConnection; readonly sync: SyncOptions };

type ProcessState =
  | { readonly state: 'idle' | 'closed' }
  | { readonly state: 'starting'; readonly connection: LanguageServerConnection; readonly ready: Promise<void> }
  | ({ readonly state: 'ready' } & InitializedLanguageServer)
  | { readonly state: 'failed'; readonly problem: string };

/** Limit of the `shutdown` request. With the time to kill its group it must fit into the three seconds to exit. */
const MAX_SHUTDOWN_MS = 700;

/** Creates the process of a language server; it starts on demand, and again after a crash up to a limit. */
export function createLanguageServerProcess(
  config: LanguageServerConfig,
  deps: LanguageServerProcessDeps,
  listeners: ProcessListeners,
) {
  const folder = resolve(deps.folder, expandVariables(config.folder ?? '.', deps.getVariables()));
  let current: ProcessState = { state: 'idle' };
  let latest: LanguageServerConnection | undefined;
  let exitCount = 0;

  function start(): void {
    if (current.state !== 'idle') return;
    const { ledger, getVariables, newMarker, checkProgram: check } = deps;
    const environment = getVariables();
    const command = expandVariables(config.command, environment);
    const args = config.args.map((arg) => expandVariables(arg, environment));
    const extraVariables = Object.fromEntries(
      Object.entries(config.env).map(([name, value]) => [name, expandVariables(value, environment)]),
    );
    const env = { ...environment, ...extraVariables };
    const program = { command, args, cwd: folder, env, marker: newMarker(), ledger, check, use: 'reads' } as const;
    const connection = createLspConnection(program, {
      onNotification: listeners.onNotification,
      onRequest: (method, params) => answerServerRequest(config, folder, method, params),
      onExit: () => handleExit(connection),
    });
    latest = connection;
    current = { state: 'starting', connection, ready: initialize(connection) };
  }

  async function initialize(connection: LanguageServerConnection): Promise<void> {
    try {
      await connection.start();
      const params = buildInitializeParams(config, { folder, version: deps.version });
      const result = await connection.request('initialize', params, AbortSignal.timeout(config.startTimeoutMs));
      if (current.state !== 'starting') return;
      connection.notify('initialized', {});
      const { settings } = config;
      if (settings !== undefined) connection.notify('workspace/didChangeConfiguration', { settings });
      current = { state: 'ready', connection, sync: parseSyncOptions(result) };
      listeners.onInitialized();
    } catch (thrown) {
      if (current.state !== 'starting') return;
      fail(getErrorMessage(thrown));
      await connection.close();
    }
  }

  function fail(problem: string): void {
    current = { state: 'failed', problem };
    deps.warn(`The language server ${config.name} failed: ${problem}. It is not used again in this session.`);
    listeners.onExit();
  }

  function handleExit(connection: LanguageServerConnection): void {
    if (current.state !== 'ready' || current.connection !== connection) return;
    exitCount += 1;
    current = { state: 'idle' };
    if (exitCount > config.maxRestarts) fail(connection.describeExit());
    else listeners.onExit();
  }

  return {
    start,
    state: () => current.state,
    getReady: (): InitializedLanguageServer | undefined => (current.state === 'ready' ? current : undefined),
    /** Sends a request; starts the server and waits for it when necessary. */
    async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonValue> {
      start();
      if (current.state === 'starting') await current.ready;
      if (current.state !== 'ready') throw new Error(current.state === 'failed' ? current.problem : 'it has ended');
      return current.connection.request(method, params, signal);
    },
    /** Ends the server, for the rest of the session, when it uses more memory than it may. */
    async checkMemory(): Promise<void> {
      const { maxMemoryBytes = Number.POSITIVE_INFINITY } = config;
      const groupId = latest?.getGroupId();
      if (current.state !== 'ready' || groupId === undefined || maxMemoryBytes === Number.POSITIVE_INFINITY) return;
      if ((await readProcessGroupMemory(groupId)) <= maxMemoryBytes) return;
      fail(`it uses more than ${formatBytes(maxMemoryBytes)} of memory`);
      await latest?.close();
    },
    async end(): Promise<void> {
      const before = current;
      current = { state: 'closed' };
      if (before.state === 'ready') {
        const { connection } = before;
        const timeoutMs = Math.min(config.shutdownTimeoutMs, MAX_SHUTDOWN_MS);
        const isAnswered = await connection.request('shutdown', undefined, AbortSignal.timeout(timeoutMs)).then(
          () => true,
          () => false,
        );
        if (isAnswered) connection.notify('exit');
        else connection.abort('did not answer the shutdown request');
      }
      // In every state: the group of a server that failed or exited may still be ending.
      await latest?.close();
    },
  };
}

/** Expands `${NAME}` and `${NAME:-default}`; a variable without value and default stays as it is. */
function expandVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(?:\}|:-([^}]*)(?:\}|$))/g, (whole, name: string, fallback?: string) => {
    if (!whole.endsWith('}')) return whole;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value !== undefined && value !== '' ? value : (fallback ?? whole);
  });
}

/** Client capabilities. Pull diagnostics are not among them, so servers push diagnostics. */
const CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { versionSupport: true },
    hover: { contentFormat: ['markdown', 'plaintext'] },
    definition: { linkSupport: true },
    implementation: { linkSupport: true },
    references: {},
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    callHierarchy: {},
    rename: {},
  },
  workspace: {
    workspaceEdit: { documentChanges: true },
    workspaceFolders: true,
    configuration: true,
    symbol: {},
    didChangeWatchedFiles: {},
  },
};

/** Builds the parameters of the `initialize` request. */
function buildInitializeParams(
  { command, initializationOptions }: LanguageServerConfig,
  { folder, version }: { readonly folder: string; readonly version: string },
): JsonObject {
  return {
    // Servers end when this process is gone, and those of the project may run where it has no id.
    processId: isPathBelow(folder, command) ? null : process.pid,
    clientInfo: { name: 'ouro', version },
    rootPath: folder,
    rootUri: describeFolderByUri(folder).uri,
    workspaceFolders: [describeFolderByUri(folder)],
    capabilities: CAPABILITIES,
    ...(initializationOptions === undefined ? {} : { initializationOptions }),
  };
}

/** Answers a server's request; `undefined` for an unknown method. Edits of files are refused. */
function answerServerRequest(
  { settings = {} }: LanguageServerConfig,
  folder: string,
  method: string,
  params: JsonValue,
): JsonValue | undefined {
  switch (method) {
    case 'workspace/configuration': {
      const items = isJsonObject(params) && Array.isArray(params.items) ? params.items : [];
      return items.map((item) => readSection(settings, isJsonObject(item) ? item.section : undefined));
    }
    case 'workspace/workspaceFolders':
      return [describeFolderByUri(folder)];
    case 'workspace/applyEdit':
      return { applied: false, failureReason: 'ouro edits files itself.' };
    case 'client/registerCapability':
    case 'client/unregisterCapability':
    case 'window/workDoneProgress/create':
    case 'window/showMessageRequest':
    case 'workspace/diagnostic/refresh':
    case 'workspace/codeLens/refresh':
    case 'workspace/inlayHint/refresh':
    case 'workspace/semanticTokens/refresh':
      return null;
    default:
      return undefined;
  }
}

/** Reads a section of the settings: `a.b` is the key `a.b`, or `b` inside `a`. */
function readSection(settings: JsonObject, section: JsonValue | undefined): JsonValue {
  if (typeof section !== 'string' || section === '') return settings;
  if (settings[section] !== undefined) return settings[section];
  let value: JsonValue | undefined = settings;
  for (const part of section.split('.')) value = isJsonObject(value) ? value[part] : undefined;
  return value ?? null;
}

/** The notifications of file changes a server wants. */
type SyncOptions = { readonly wantsChanges: boolean; readonly wantsTextOnSave: boolean };

/** Parses the synchronization options from a server's `initialize` result. */
function parseSyncOptions(result: JsonValue): SyncOptions {
  const capabilities = isJsonObject(result) && isJsonObject(result.capabilities) ? result.capabilities : {};
  const sync = capabilities.textDocumentSync;
  if (!isJsonObject(sync)) return { wantsChanges: sync !== 0, wantsTextOnSave: false };
  return {
    wantsChanges: sync.change !== 0,
    wantsTextOnSave: isJsonObject(sync.save) && sync.save.includeText === true,
  };
}
