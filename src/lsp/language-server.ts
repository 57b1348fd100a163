import { pathToFileURL } from 'node:url';
import type { LanguageServerConfig } from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import {
  countDiagnostics,
  type Diagnostic,
  type DiagnosticCounts,
  type PublishedDiagnostics,
  parseDiagnostics,
} from './diagnostics.ts';
import { createServerProcess, type InitializedServer, type ServerDeps } from './server-process.ts';

/** A file as a server knows it. Version 1 is the original text; a file that ouro created starts with version 2. */
type Document = {
  readonly language: string;
  readonly originalText: string | undefined;
  readonly text: string;
  readonly version: number;
};

/** The diagnostics of a file, those of its original text, and the version they belong to. */
export type FileDiagnostics = {
  readonly problems: readonly Diagnostic[];
  readonly before: DiagnosticCounts;
  readonly version: number;
};

/** A language server and the files that were opened in it. */
export type RunningServer = ReturnType<typeof createLanguageServer>;

const MAX_OPEN_FILES = 100;
/** Limit for the diagnostics of the original text. */
const ORIGINAL_WAIT_MS = 3_000;
/** File change types of the protocol. */
const CREATED = 1;
const CHANGED = 2;

/** Creates a language server that starts with its first file; calls `onUpdate` on new diagnostics and at its end. */
export function createLanguageServer(config: LanguageServerConfig, deps: ServerDeps, onUpdate: () => void) {
  const documents = new Map<string, Document>();
  const diagnostics = new Map<string, FileDiagnostics>();
  /** Changes that wait for the diagnostics of the original text. */
  const held = new Map<string, ReturnType<typeof setTimeout>>();
  let changeCount = 0;
  const serverProcess = createServerProcess(config, deps, {
    onInitialized() {
      const server = serverProcess.getReady();
      if (server !== undefined) for (const [path, document] of documents) openOriginal(server, path, document);
    },
    onNotification: (method, params) => method === 'textDocument/publishDiagnostics' && handleDiagnostics(params),
    onExit: onUpdate,
  });

  function handleDiagnostics(params: JsonValue): void {
    const published = parseDiagnostics(params);
    if (published === undefined) return;
    const { path, problems } = published;
    const isHeld = held.has(path);
    const version = isHeld ? 1 : (published.version ?? documents.get(path)?.version ?? 0);
    const isOriginal = documents.has(path) ? version === 1 : changeCount === 0;
    const before = isOriginal ? countDiagnostics(problems) : (diagnostics.get(path)?.before ?? new Map());
    diagnostics.set(path, { problems, before, version });
    if (isHeld) holdChange(path, getQuietMs(published));
    onUpdate();
  }

  /** Opens a file with its original text; a change made meanwhile waits until the server has checked that. */
  function openOriginal(server: InitializedServer, path: string, document: Document): void {
    const { originalText, text } = document;
    const isChanged = originalText !== undefined && originalText !== text;
    sendOpen(server, path, isChanged ? { ...document, text: originalText, version: 1 } : document);
    if (isChanged) holdChange(path, ORIGINAL_WAIT_MS);
  }

  function holdChange(path: string, delayMs: number): void {
    clearTimeout(held.get(path));
    const timer = setTimeout(() => {
      held.delete(path);
      const [server, document] = [serverProcess.getReady(), documents.get(path)];
      if (server !== undefined && document !== undefined) sendChange(server, path, document, CHANGED);
    }, delayMs);
    held.set(path, timer.unref());
  }

  function close(path: string): void {
    clearTimeout(held.get(path));
    held.delete(path);
    if (!documents.delete(path)) return;
    diagnostics.delete(path);
    serverProcess.getReady()?.connection.notify('textDocument/didClose', { textDocument: { uri: getUri(path) } });
  }

  /** Opens or updates a file; `isWrittenByOuro` means ouro wrote it, so all of its diagnostics are new. */
  function show(
    path: string,
    language: string,
    text: string,
    { isWrittenByOuro }: { readonly isWrittenByOuro: boolean },
  ): void {
    if (serverProcess.state() === 'failed' || serverProcess.state() === 'closed') return;
    const old = documents.get(path);
    serverProcess.start();
    if (old?.text === text) return;
    if (old !== undefined || isWrittenByOuro) changeCount += 1;
    const document = createNextDocument(old, { language, text, isWrittenByOuro });
    // Deleted first, so that the map stays ordered by last use.
    documents.delete(path);
    documents.set(path, document);
    for (const oldest of [...documents.keys()].slice(0, -MAX_OPEN_FILES)) close(oldest);
    const server = serverProcess.getReady();
    if (server === undefined || held.has(path)) return;
    if (old === undefined) sendOpen(server, path, document);
    if (old !== undefined || isWrittenByOuro) sendChange(server, path, document, old === undefined ? CREATED : CHANGED);
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
      return (diagnostics.get(path)?.version ?? -1) >= document.version;
    },
    request: serverProcess.request,
    checkMemory: serverProcess.checkMemory,
    end: serverProcess.end,
  };
}

/**
 * Returns the time after which the diagnostics of the original text are complete. Servers that name no version may
 * publish syntax errors first, and an empty list before they have checked anything.
 */
function getQuietMs({ version, problems }: PublishedDiagnostics): number {
  if (version !== undefined) return 0;
  return problems.length === 0 ? 800 : 250;
}

const getUri = (path: string) => pathToFileURL(path).href;

type NewContent = Pick<Document, 'language' | 'text'> & { readonly isWrittenByOuro: boolean };

function createNextDocument(old: Document | undefined, { language, text, isWrittenByOuro }: NewContent): Document {
  if (old !== undefined) return { ...old, text, version: old.version + 1 };
  return isWrittenByOuro
    ? { language, originalText: undefined, text, version: 2 }
    : { language, originalText: text, text, version: 1 };
}

function sendOpen({ connection }: InitializedServer, path: string, { language, text, version }: Document): void {
  const textDocument = { uri: getUri(path), languageId: language, version, text };
  connection.notify('textDocument/didOpen', { textDocument });
}

/** Sends a change as an edit, a change on disk and a save: many servers check a file only when it is saved. */
function sendChange(
  { connection, sync }: InitializedServer,
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
