import { basename } from 'node:path';
import type { LanguageServerConfig, Plugin } from '../contracts/extension.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { Settings } from '../contracts/settings.ts';
import { parseLanguageServers } from '../extensions/plugins/parse-language-servers.ts';
import type { ProgramCheck } from '../lib/processes/program-check.ts';
import type { ProcessLedger } from '../tools/bash/run-shell.ts';
import type { FileLineEdits } from '../tools/edit/file-line-edits.ts';
import { createDiagnosticsTracker, listDiagnostics } from './diagnostics-tracker.ts';
import { createLanguageServerFinder } from './find-language-servers.ts';
import { type LanguageQuery, runLanguageQuery } from './language-query.ts';
import { createLanguageServers } from './language-server-manager.ts';
import { findSymbolRenameChanges, type SymbolRenameRequest } from './symbol-rename.ts';

/** The language servers of a session, with their diagnostics and queries. */
export type SessionLanguageServers = ReturnType<typeof createSessionLanguageServers>;

type SessionLspDeps = {
  readonly ledger: ProcessLedger;
  readonly checkProgram: ProgramCheck;
  readonly editor: {
    hasDiagnostics(): boolean;
    listDiagnostics(path: string | undefined, signal: AbortSignal): Promise<readonly string[]>;
  };
};

/** Creates the language servers of a session; each starts with the first file of its language. */
export function createSessionLanguageServers(
  core: SessionCore & { readonly extensions: { current(): { readonly plugins: readonly Plugin[] } } },
  { ledger, editor, checkProgram }: SessionLspDeps,
) {
  const { environment, extensions, settings, bus } = core;
  const createNotifier = (level: 'info' | 'warn') => (text: string) =>
    void bus.emit({ type: 'notice', level, topic: 'languages', text });
  const readConfigured = createConfigReader((problem) => createNotifier('warn')(problem));
  const search = createLanguageServerFinder({
    folder: core.cwd,
    path: environment.path,
    isExcluded: (name) => Object.hasOwn(settings.current().languageServers ?? {}, name),
    getProjectPrograms: () => settings.current().projectPrograms,
    onUnused: (program) => createNotifier('info')(explainProjectProgram(program)),
  });
  const listConfigured = () => [
    ...extensions.current().plugins.flatMap(({ languageServers }) => languageServers),
    ...readConfigured(settings.current().languageServers),
  ];

  /** Installed servers run programs of the project, and check what the editor or a configured server may check. */
  function listServers(path?: string): readonly LanguageServerConfig[] {
    const configured = listConfigured();
    if (!core.trusted || editor.hasDiagnostics()) return configured;
    const isConfigured = ({ languages }: LanguageServerConfig) =>
      configured.some((other) => Object.keys(other.languages).some((extension) => Object.hasOwn(languages, extension)));
    const found = path === undefined ? search.listFound() : search.find(path);
    return [...configured, ...found.filter((server) => !isConfigured(server))];
  }

  const servers = createLanguageServers({
    folder: core.cwd,
    version: environment.version,
    getVariables: () => ({ ...settings.variables(), CLAUDE_PROJECT_DIR: core.cwd }),
    listServers,
    newMarker: core.newId,
    checkProgram,
    ledger,
    warn: createNotifier('warn'),
  });
  const hasServers = () => listConfigured().length > 0 || (core.trusted && search.hasInstalled());
  let hadEditorDiagnostics = false;
  return {
    /** Creates the record of the diagnostics of one conversation or sub-agent. */
    createTracker: () => createDiagnosticsTracker(servers, createNotifier('info')),
    hasServers,
    /** Returns whether servers or the editor report diagnostics; once they do, it stays true. */
    hasDiagnostics(): boolean {
      // It stays: a tool that comes or goes would invalidate the prompt cache.
      hadEditorDiagnostics ||= editor.hasDiagnostics();
      return hadEditorDiagnostics || hasServers();
    },
    runQuery: (query: LanguageQuery, signal: AbortSignal): Promise<readonly string[]> =>
      runLanguageQuery(servers, query, signal),
    /** Lists the present diagnostics of a file or of all files. */
    listDiagnostics: (path: string | undefined, signal: AbortSignal): Promise<readonly string[]> =>
      editor.hasDiagnostics() ? editor.listDiagnostics(path, signal) : listDiagnostics(servers, path, signal),
    findRenameChanges: (request: SymbolRenameRequest, signal: AbortSignal): Promise<readonly FileLineEdits[]> =>
      findSymbolRenameChanges(servers, request, signal),
    close: servers.close,
  };
}

/** Explains how to switch on a program of the project. */
function explainProjectProgram(program: string): string {
  return `${basename(program)} of this project is not started, since it is code of the project. Set "projectPrograms" to true in your settings to use it, or to false to hide this message.`;
}

/** Creates the reader of the setting; entries are parsed again, and problems reported, when it changes. */
function createConfigReader(warn: (problem: string) => void) {
  let seen: Settings['languageServers'];
  let servers: readonly LanguageServerConfig[] = [];
  return (setting: Settings['languageServers']): readonly LanguageServerConfig[] => {
    if (setting === seen) return servers;
    seen = setting;
    const entries = Object.entries(setting ?? {}).filter(([, entry]) => entry !== false);
    const parsed = parseLanguageServers(Object.fromEntries(entries), { variables: {} });
    for (const problem of parsed.problems) warn(problem);
    servers = parsed.servers;
    return servers;
  };
}
