import { relative } from 'node:path';
import { sanitizeUntrustedLine } from '../lib/text/sanitize.ts';
import type { LanguageServers } from './language-server-manager.ts';
import {
  countEqualDiagnostics,
  type Diagnostic,
  type DiagnosticCounts,
  findNewDiagnostics,
} from './parse-diagnostics.ts';

/** The files one conversation or sub-agent read and wrote, with the diagnostics that are new since. */
export type DiagnosticsTracker = ReturnType<typeof createDiagnosticsTracker>;

/** The new diagnostics of a file, by its path for display. */
export type NewFileDiagnostics = { readonly path: string; readonly problems: readonly Diagnostic[] };

const MAX_PER_FILE = 10;
const MAX_FILES = 10;
const MESSAGE_CHARS = 400;
const CODE_CHARS = 60;

/** Creates the record of one conversation; `notify` gets a one-line summary for the user. */
export function createDiagnosticsTracker(languages: LanguageServers, notify: (message: string) => void) {
  /** Version of each file when it was last recorded or reported. */
  const seenVersions = new Map<string, number>();
  const reported = new Map<string, DiagnosticCounts>();
  let hasWritten = false;

  const getVersion = (path: string) =>
    Math.max(0, ...languages.listRunning().map((server) => server.opened().get(path)?.version ?? 0));

  async function record(path: string, seenVersion: number | undefined): Promise<void> {
    if (!languages.isSupported(path)) return;
    await languages.openFile(path, { isWrittenByOuro: seenVersion === 0 });
    if (!seenVersions.has(path)) seenVersions.set(path, seenVersion ?? getVersion(path));
  }

  /** Takes the recorded files that have a newer version. */
  function takeChanged(): readonly string[] {
    const paths = [...seenVersions]
      .filter(([path, seenVersion]) => getVersion(path) > seenVersion)
      .map(([path]) => path);
    for (const path of paths) seenVersions.set(path, getVersion(path));
    return paths;
  }

  return {
    /** Records a read file, whose present diagnostics are not new; resolves when the servers have the file. */
    recordRead: (path: string) => record(path, undefined),
    // Version 0: all diagnostics of a written file are new.
    recordWrite: (path: string) => record(path, 0),
    /** Takes the messages for the model about new diagnostics; each diagnostic is reported once. */
    async takeNewDiagnostics(signal: AbortSignal): Promise<readonly string[]> {
      if (seenVersions.size === 0) return [];
      await languages.syncWithDisk();
      const paths = takeChanged();
      hasWritten ||= paths.length > 0;
      if (!hasWritten) return [];
      if (paths.length > 0) await languages.waitForDiagnostics(paths, signal);
      return languages.listRunning().flatMap(({ config: { name, reportsDiagnostics }, known }) => {
        if (!reportsDiagnostics) return [];
        const files = [...known()].flatMap(([path, { problems, before }]): readonly NewFileDiagnostics[] => {
          const key = `${name} ${path}`;
          const fresh = findNewDiagnostics(reported.get(key) ?? before, problems);
          reported.set(key, countEqualDiagnostics(problems));
          return fresh.length === 0 ? [] : [{ path: relative(languages.folder, path), problems: fresh }];
        });
        if (files.length === 0) return [];
        notify(formatDiagnosticsSummary(name, files));
        return [formatDiagnosticsReport(`The language server ${name}`, files)];
      });
    },
  };
}

/** Formats new diagnostics for the user, in one line. */
export function formatDiagnosticsSummary(name: string, files: readonly NewFileDiagnostics[]): string {
  const count = files.reduce((sum, { problems }) => sum + problems.length, 0);
  const [first] = files;
  const location = files.length === 1 ? first?.path : `${files.length} files`;
  return `${name} found ${count === 1 ? 'a new problem' : `${count} new problems`} in ${location}.`;
}

/** Formats new diagnostics for the model. */
export function formatDiagnosticsReport(finder: string, files: readonly NewFileDiagnostics[]): string {
  return [`${finder} finds since the last changes:`, ...formatDiagnosticLines(files)].join('\n');
}

/** Formats diagnostics for the model, one line each. */
export function formatDiagnosticLines(files: readonly NewFileDiagnostics[]): readonly string[] {
  const lines = files.slice(0, MAX_FILES).flatMap(({ path, problems }) => {
    const shown = problems.slice(0, MAX_PER_FILE).map(({ line, column, kind, code, message }) => {
      const source = code === '' ? '' : ` (${sanitizeUntrustedLine(code, CODE_CHARS)})`;
      return `${sanitizeUntrustedLine(path, MESSAGE_CHARS)}:${line}:${column} ${kind}: ${sanitizeUntrustedLine(message, MESSAGE_CHARS)}${source}`;
    });
    const omitted = problems.length - shown.length;
    return omitted === 0 ? shown : [...shown, `${path}: and ${omitted} more`];
  });
  const more = files.length > MAX_FILES ? [`and more in ${files.length - MAX_FILES} other files`] : [];
  return [...lines, ...more];
}

/** Limits of a query: a server that was just started loads the project first. */
const QUERY_LIMITS = { maxMs: 20_000, overdueMs: 20_000, quietMs: 800 };

/** Lists the present diagnostics of a file, or of all files that the servers know; throws when no server can tell. */
export async function listDiagnostics(
  languages: LanguageServers,
  path: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await languages.syncWithDisk();
  const opened =
    path === undefined ? languages.listRunning() : await languages.openFile(path, { isWrittenByOuro: false });
  const servers = opened.filter(({ config, state }) => config.reportsDiagnostics && state() !== 'failed');
  if (servers.length === 0)
    throw new Error(
      path === undefined ? 'no language server has checked a file yet' : 'no language server checks this file',
    );
  const paths = path === undefined ? servers.flatMap((server) => [...server.opened().keys()]) : [path];
  await languages.waitForDiagnostics(paths, signal, QUERY_LIMITS);
  const files = servers.flatMap(({ known }) =>
    [...known()].flatMap(([file, { problems }]) =>
      (path === undefined || file === path) && problems.length > 0
        ? [{ path: relative(languages.folder, file), problems }]
        : [],
    ),
  );
  const silent = servers.filter(({ hasAnswered }) => !paths.every(hasAnswered));
  return [
    ...formatDiagnosticLines(files),
    ...silent.map(({ config: { name } }) => `[The language server ${name} is still busy; there may be more.]`),
  ];
}
