import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { LanguageServerConfig } from '../contracts/extension.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { createDeferred } from '../lib/promises.ts';
import { createLanguageServer, type ReportWaits, type RunningLanguageServer } from './language-server.ts';
import type { LanguageServerProcessDeps } from './language-server-process.ts';

/** The dependencies of a session's language servers. */
type LanguageServersDeps = LanguageServerProcessDeps & {
  /** Lists the enabled servers; called with every file, so that those for the file can be looked for. */
  readonly listServers: (path?: string) => readonly LanguageServerConfig[];
  readonly waitLimits?: Partial<WaitLimits>;
};

const MAX_FILE_BYTES = 1024 * 1024;

/** The language servers of a session, and the files that were opened in them. */
export type LanguageServers = ReturnType<typeof createLanguageServers>;

/** Creates the language servers of a session; each starts with the first file of its language. */
export function createLanguageServers(deps: LanguageServersDeps) {
  const running = new Map<string, RunningLanguageServer>();
  const fileStamps = new Map<string, string>();
  const waitLimits = { ...DEFAULT_LIMITS, ...deps.waitLimits };
  const waiter = createDiagnosticsWaiter(() => [...running.values()], waitLimits);

  function getOrCreateServer(config: LanguageServerConfig): RunningLanguageServer {
    const key = JSON.stringify(config);
    const existing = running.get(key);
    if (existing !== undefined) return existing;
    const server = createLanguageServer(config, {
      ...deps,
      waits: waitLimits,
      onUpdate: waiter.notify,
      openUser: async (path) =>
        (await openFile(path, { isWrittenByOuro: false })).some(({ opened }) => opened().has(path)),
    });
    running.set(key, server);
    return server;
  }

  /** Lists the servers for a file, with the language id each one uses. */
  function listServersFor(
    path: string,
  ): readonly { readonly server: RunningLanguageServer; readonly language: string }[] {
    if (!isPathBelow(deps.folder, path)) return [];
    return deps.listServers(path).flatMap((config) => {
      const language = getLanguageId(config, basename(path));
      return language === undefined ? [] : [{ server: getOrCreateServer(config), language }];
    });
  }

  /** Ends the servers that are no longer enabled. */
  async function endDisabled(): Promise<void> {
    const enabledKeys = new Set(deps.listServers().map((config) => JSON.stringify(config)));
    const disabled = [...running].filter(([key]) => !enabledKeys.has(key));
    for (const [key] of disabled) running.delete(key);
    await Promise.all(disabled.map(([, server]) => server.end()));
  }

  /** Opens or updates a file from disk in the servers for its language. */
  async function openFile(
    path: string,
    options: { readonly isWrittenByOuro: boolean },
  ): Promise<readonly RunningLanguageServer[]> {
    const targets = listServersFor(path);
    if (targets.length === 0) return [];
    const stats = await stat(path).catch(() => undefined);
    // A file that cannot be read or is too large is closed in the servers.
    const text = await readRegularFile(path, MAX_FILE_BYTES).catch(() => undefined);
    if (text === undefined) {
      for (const { server } of targets) server.close(path);
      return [];
    }
    if (fileStamps.get(path) !== getStamp(stats)) waiter.recordChange();
    fileStamps.set(path, getStamp(stats));
    for (const { server, language } of targets) server.show(path, language, text, options);
    return targets.map(({ server }) => server);
  }

  /** Updates the open files that changed on disk for any reason. */
  async function syncWithDisk(): Promise<void> {
    await Promise.all([endDisabled(), ...[...running.values()].map((server) => server.checkMemory())]);
    const openPaths = new Set([...running.values()].flatMap((server) => [...server.opened().keys()]));
    await Promise.all(
      [...openPaths].map(async (path) => {
        const stamp = getStamp(await stat(path).catch(() => undefined));
        if (fileStamps.get(path) !== stamp) await openFile(path, { isWrittenByOuro: false });
      }),
    );
  }

  return {
    folder: deps.folder,
    isSupported: (path: string) => listServersFor(path).length > 0,
    listRunning: (): readonly RunningLanguageServer[] => [...running.values()],
    openFile,
    syncWithDisk,
    waitForDiagnostics: waiter.waitFor,
    /** Ends all servers and their processes. */
    async close(): Promise<void> {
      await Promise.all([...running.values()].map((server) => server.end()));
    },
  };
}

const getStamp = (stats: { readonly mtimeMs: number; readonly size: number } | undefined) =>
  stats === undefined ? 'gone' : `${stats.mtimeMs} ${stats.size}`;

/** Returns the language id of a file by its longest matching extension. */
function getLanguageId({ languages }: LanguageServerConfig, name: string): string | undefined {
  const lower = name.toLowerCase();
  const extensions = Object.keys(languages).filter((extension) => lower.endsWith(extension));
  const [longest] = extensions.toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : languages[longest];
}

/** Limits of one wait for diagnostics. */
type QueryLimits = {
  readonly maxMs: number;
  /** Applies when every pending server also missed the previous limit. */
  readonly overdueMs: number;
  /** Time after the last report or change in which the diagnostics count as complete. */
  readonly quietMs: number;
};

/** Limits for waiting on diagnostics. */
type WaitLimits = QueryLimits &
  ReportWaits & {
    /** Quiet time of a server that checks the users of a file after the file. */
    readonly usersQuietMs: number;
  };

const DEFAULT_LIMITS: WaitLimits = {
  maxMs: 3_000,
  overdueMs: 400,
  quietMs: 120,
  usersQuietMs: 400,
  emptyReportMs: 800,
  reportMs: 250,
};

/** Creates the wait for the diagnostics of files. */
function createDiagnosticsWaiter(running: () => readonly RunningLanguageServer[], usualLimits: WaitLimits) {
  /** Files whose diagnostics servers had not sent at the end of the last wait. */
  const overdue = new Map<RunningLanguageServer, { readonly path: string; readonly version: number }>();
  const listeners = new Set<() => void>();
  let lastActivityMs = Number.NEGATIVE_INFINITY;
  const recordActivity = () => {
    lastActivityMs = performance.now();
  };

  /** Returns true for a server that still has not sent overdue diagnostics, so a long wait is useless. */
  function isOverdue(server: RunningLanguageServer): boolean {
    const file = overdue.get(server);
    return file !== undefined && (server.known().get(file.path)?.version ?? -1) < file.version;
  }

  return {
    /** Reports that a server has sent diagnostics or ended. */
    notify(): void {
      recordActivity();
      for (const listener of listeners) listener();
    },
    /** Reports that a file has changed, which may change the diagnostics of any other. */
    recordChange: recordActivity,
    /** Resolves when every server has sent diagnostics for these files and is quiet, or at the limit. */
    async waitFor(paths: readonly string[], signal: AbortSignal, limits: QueryLimits = usualLimits): Promise<void> {
      const listPending = () => running().filter((server) => !paths.every(server.hasAnswered));
      const { promise, resolve } = createDeferred<void>();
      const limitTimer = setTimeout(resolve, listPending().every(isOverdue) ? limits.overdueMs : limits.maxMs);
      let quietTimer: ReturnType<typeof setTimeout> | undefined;
      const check = () => {
        clearTimeout(quietTimer);
        if (listPending().length > 0) return;
        const hasUsers = running().some((server) => paths.some(server.hasUsers));
        const quietMs = hasUsers ? Math.max(limits.quietMs, usualLimits.usersQuietMs) : limits.quietMs;
        quietTimer = setTimeout(resolve, Math.max(0, lastActivityMs + quietMs - performance.now()));
      };
      listeners.add(check);
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      check();
      await promise;
      clearTimeout(limitTimer);
      clearTimeout(quietTimer);
      listeners.delete(check);
      for (const server of listPending()) {
        const path = paths.find((candidate) => !server.hasAnswered(candidate)) ?? '';
        overdue.set(server, { path, version: server.opened().get(path)?.version ?? 0 });
      }
    },
  };
}
