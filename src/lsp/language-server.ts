import { pathToFileURL } from 'node:url';
import type { LanguageServerConfig } from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import { createHeldDocumentChanges } from './held-document-changes.ts';
import {
  createLanguageServerProcess,
  type InitializedLanguageServer,
  type LanguageServerProcessDeps,
} from './language-server-process.ts';
import {
  countEqualDiagnostics,
  type Diagnostic,
  type DiagnosticCounts,
  type PublishedDiagnostics,
  parseDiagnostics,
} from './parse-diagnostics.ts';

/** A file as a server knows it. Version 1 is the original text; a file that ouro created starts with version 2. */
type Document = {
  readonly language: string;
  readonly originalText: string | undefined;
  readonly text: string;
  readonly version: number;
  /** Changes of any file that the server had got when the file was opened in it. */
  readonly changesBefore: number;
};

/** The diagnostics of a file, those of its original text, and the version they belong to. */
export type FileDiagnostics = {
  readonly problems: readonly Diagnostic[];
  readonly before: DiagnosticCounts;
  readonly version: number;
};

/** A language server and the files that were opened in it. */
export type RunningLanguageServer = ReturnType<typeof createLanguageServer>;

const MAX_OPEN_FILES = 100;
/** Dependencies of one server. */
type LanguageServerDeps = LanguageServerProcessDeps & {
  /** Called on new diagnostics and at the end of the server. */
  readonly onUpdate: () => void;
  /** Opens a file that uses a changed one; false if it cannot. */
  readonly openUser: (path: string) => Promise<boolean>;
  readonly waits: ReportWaits;
};

/**
 * Time after which the diagnostics of the original text are complete if they name no version: such servers may publish
 * syntax errors first, and an empty list before they have checked anything.
 */
export type ReportWaits = { readonly emptyReportMs: number; readonly reportMs: number };

type ShowOptions = { readonly isWrittenByOuro: boolean };

/** File change types of the protocol. */
const CREATED = 1;
const CHANGED = 2;

/** Creates a language server that starts with its first file. */
export function createLanguageServer(config: LanguageServerConfig, deps: LanguageServerDeps) {
  const documents = new Map<string, Document>();
  const diagnostics = new Map<string, FileDiagnostics>();
  let changeCount = 0;
  /** Changes before the last report without a version: it may be the only one after a change, about another file. */
  let reportedChanges = 0;
  const held = createHeldDocumentChanges({
    isReported: (path) => diagnostics.has(path),
    isOpen: (path) => documents.has(path),
    openUser: deps.openUser,
    request: config.reportsDiagnostics ? (...args) => serverProcess.request(...args) : undefined,
    release(path) {
      const [server, document] = [serverProcess.getReady(), documents.get(path)];
      if (server !== undefined && document !== undefined) send(server, path, document, CHANGED);
    },
  });
  const serverProcess = createLanguageServerProcess(config, deps, {
    onInitialized() {
      const server = serverProcess.getReady();
      if (server !== undefined) for (const [path, document] of documents) openOriginal(server, path, document);
    },
    onNotification: (method, params) => method === 'textDocument/publishDiagnostics' && handleDiagnostics(params),
    onExit: deps.onUpdate,
  });

  function handleDiagnostics(params: JsonValue): void {
    const published = parseDiagnostics(params);
    if (published === undefined) return;
    const { path } = published;
    const [document, earlier] = [documents.get(path), diagnostics.get(path)];
    diagnostics.set(path, toFileDiagnostics(published, { document, earlier, isHeld: held.has(path), changeCount }));
    if (published.version === undefined) reportedChanges = changeCount;
    held.handleReport(path, getQuietMs(published, deps.waits));
    deps.onUpdate();
  }

  function send(server: InitializedLanguageServer, path: string, document: Document, type: number): void {
    changeCount += 1;
    sendChange(server, path, document, type);
  }

  /** Opens a file with its original text; a change made meanwhile waits until the server has checked that. */
  function openOriginal(server: InitializedLanguageServer, path: string, document: Document): void {
    const { originalText, text } = document;
    const isChanged = originalText !== undefined && originalText !== text;
    sendOpen(server, path, isChanged ? { ...document, text: originalText, version: 1 } : document);
    if (isChanged) held.hold(path);
  }

  function close(path: string): void {
    held.drop(path);
    if (!documents.delete(path)) return;
    diagnostics.delete(path);
    serverProcess.getReady()?.connection.notify('textDocument/didClose', { textDocument: { uri: getUri(path) } });
  }

  /** Opens or updates a file; `isWrittenByOuro` means ouro wrote it, so all of its diagnostics are new. */
  function show(path: string, language: string, text: string, { isWrittenByOuro }: ShowOptions): void {
    if (serverProcess.state() === 'failed' || serverProcess.state() === 'closed') return;
    const old = documents.get(path);
    serverProcess.start();
    if (old?.text === text) return;
    const document = createNextDocument(old, { language, text, isWrittenByOuro, changesBefore: changeCount });
    // Deleted first, so that the map stays ordered by last use.
    documents.delete(path);
    documents.set(path, document);
    for (const oldest of [...documents.keys()].slice(0, -MAX_OPEN_FILES)) close(oldest);
    const server = serverProcess.getReady();
    if (server === undefined || held.has(path)) return;
    if (old === undefined) sendOpen(server, path, document);
    if (old?.version === 1) {
      held.hold(path);
    } else if (old !== undefined || isWrittenByOuro) {
      send(server, path, document, old === undefined ? CREATED : CHANGED);
    }
  }

  return {
    config,
    state: serverProcess.state,
    show,
    close,
    opened: (): ReadonlyMap<string, Document> => documents,
    known: (): ReadonlyMap<string, FileDiagnostics> => diagnostics,
    /** Returns true when it has sent diagnostics for the current version, or will not send any. */
    hasAnswered(path: string): boolean {
      const document = documents.get(path);
      const isRunning = serverProcess.state() === 'starting' || serverProcess.state() === 'ready';
      if (document === undefined || !isRunning) return true;
      if (held.has(path)) return false;
      const isReported = document.version > 1 && reportedChanges === changeCount && changeCount > 0;
      return isReported || (diagnostics.get(path)?.version ?? -1) >= document.version;
    },
    /** Returns true when files that use this one are checked again after a change of it. */
    hasUsers: held.hasUsers,
    request: serverProcess.request,
    checkMemory: serverProcess.checkMemory,
    end: serverProcess.end,
  };
}

/** The state of a file before a report. */
type ReportContext = {
  readonly document: Document | undefined;
  readonly earlier: FileDiagnostics | undefined;
  readonly isHeld: boolean;
  readonly changeCount: number;
};

/** Adds to a report the diagnostics before the changes; a report before any change sets them. */
function toFileDiagnostics(
  { problems, version: reported }: PublishedDiagnostics,
  { document, earlier, isHeld, changeCount }: ReportContext,
): FileDiagnostics {
  const version = isHeld ? 1 : (reported ?? document?.version ?? 0);
  const isUnaffected = document?.changesBefore === changeCount || isHeld || earlier === undefined;
  const isOriginal = document === undefined ? changeCount === 0 : version === 1 && isUnaffected;
  const before = isOriginal ? countEqualDiagnostics(problems) : (earlier?.before ?? new Map());
  return { problems, before, version };
}

/** Returns the time after which the diagnostics of the original text are complete. */
function getQuietMs({ version, problems }: PublishedDiagnostics, { emptyReportMs, reportMs }: ReportWaits): number {
  if (version !== undefined) return 0;
  return problems.length === 0 ? emptyReportMs : reportMs;
}

const getUri = (path: string) => pathToFileURL(path).href;

type NewContent = Pick<Document, 'language' | 'text' | 'changesBefore'> & { readonly isWrittenByOuro: boolean };

function createNextDocument(
  old: Document | undefined,
  { language, text, isWrittenByOuro, changesBefore }: NewContent,
): Document {
  if (old !== undefined) return { ...old, text, version: old.version + 1 };
  return isWrittenByOuro
    ? { language, originalText: undefined, text, version: 2, changesBefore }
    : { language, originalText: text, text, version: 1, changesBefore };
}

function sendOpen(
  { connection }: InitializedLanguageServer,
  path: string,
  { language, text, version }: Document,
): void {
  const textDocument = { uri: getUri(path), languageId: language, version, text };
  connection.notify('textDocument/didOpen', { textDocument });
}

/** Sends a change as an edit, a change on disk and a save: many servers check a file only when it is saved. */
function sendChange(
  { connection, sync }: InitializedLanguageServer,
  path: string,
  { text, version }: Document,
  type: number,
): void {
  const uri = getUri(path);
  if (sync.wantsChanges && type === CHANGED)
    connection.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
  connection.notify('workspace/didChangeWatchedFiles', { changes: [{ uri, type }] });
  const savedText = sync.wantsTextOnSave ? { text } : {};
  connection.notify('textDocument/didSave', { textDocument: { uri }, ...savedText });
}
