import { pathToFileURL } from 'node:url';
import type { LanguageServer } from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import { type Counts, countsOf, type Problem, readPublished } from './problems.ts';
import { createServerLife, type Greeted, type ServerParts } from './server-life.ts';

/** A file as a server knows it. The first version is the text it was found with; one that we wrote begins with the second. */
type Document = {
  readonly language: string;
  readonly found: string | undefined;
  readonly text: string;
  readonly version: number;
};

/** What is known of a file: its problems now, those it had before anybody changed it, and for which version that holds. */
export type Known = { readonly problems: readonly Problem[]; readonly before: Counts; readonly version: number };

/** One language server and the files it was shown. */
export type RunningServer = ReturnType<typeof createLanguageServer>;

const MOST_OPEN = 100;
const CREATED = 1;
const CHANGED = 2;

export function createLanguageServer(config: LanguageServer, parts: ServerParts, onNews: () => void) {
  const documents = new Map<string, Document>();
  const known = new Map<string, Known>();
  let changes = 0;
  const life = createServerLife(config, parts, {
    greeted() {
      const server = life.ready();
      if (server !== undefined) for (const [path, document] of documents) openLate(server, path, document);
    },
    notified: (method, params) => method === 'textDocument/publishDiagnostics' && published(params),
    gone: onNews,
  });

  function published(params: JsonValue): void {
    const told = readPublished(params);
    if (told === undefined) return;
    const { path, problems } = told;
    const version = told.version ?? documents.get(path)?.version ?? 0;
    const isAsFound = documents.has(path) ? version === 1 : changes === 0;
    const before = isAsFound ? countsOf(problems) : (known.get(path)?.before ?? new Map());
    known.set(path, { problems, before, version });
    onNews();
  }

  function close(path: string): void {
    if (!documents.delete(path)) return;
    known.delete(path);
    life.ready()?.connection.notify('textDocument/didClose', { textDocument: { uri: uriOf(path) } });
  }

  /** Shows it a file as it is now. `isOurs`: we wrote it, so that nothing in it was there before. */
  function show(path: string, language: string, text: string, { isOurs }: { readonly isOurs: boolean }): void {
    if (life.state() === 'failed' || life.state() === 'closed') return;
    const old = documents.get(path);
    life.wake();
    if (old?.text === text) return;
    if (old !== undefined || isOurs) changes += 1;
    const document = nextDocument(old, { language, text, isOurs });
    // The last in the map is the one that was used last.
    documents.delete(path);
    documents.set(path, document);
    for (const oldest of [...documents.keys()].slice(0, -MOST_OPEN)) close(oldest);
    const server = life.ready();
    if (server === undefined) return;
    if (old === undefined) sendOpen(server, path, document);
    if (old !== undefined || isOurs) sendChange(server, path, document, old === undefined ? CREATED : CHANGED);
  }

  return {
    config,
    state: life.state,
    show,
    close,
    opened: (): ReadonlyMap<string, Document> => documents,
    known: (): ReadonlyMap<string, Known> => known,
    /** Has it said what it thinks of the file as it is now, or will it never? */
    hasAnswered(path: string): boolean {
      const document = documents.get(path);
      const isThere = life.state() === 'starting' || life.state() === 'ready';
      if (document === undefined || !isThere) return true;
      return (known.get(path)?.version ?? -1) >= document.version;
    },
    request: life.request,
    end: life.end,
  };
}

const uriOf = (path: string) => pathToFileURL(path).href;

type Shown = Pick<Document, 'language' | 'text'> & { readonly isOurs: boolean };

function nextDocument(old: Document | undefined, { language, text, isOurs }: Shown): Document {
  if (old !== undefined) return { ...old, text, version: old.version + 1 };
  return isOurs ? { language, found: undefined, text, version: 2 } : { language, found: text, text, version: 1 };
}

/** A file that was changed before the server had started: it hears how it was, and how it is now. */
function openLate(server: Greeted, path: string, document: Document): void {
  const { found, text } = document;
  const isChanged = found !== undefined && found !== text;
  sendOpen(server, path, isChanged ? { ...document, text: found, version: 1 } : document);
  if (isChanged) sendChange(server, path, document, CHANGED);
}

function sendOpen({ connection }: Greeted, path: string, { language, text, version }: Document): void {
  const textDocument = { uri: uriOf(path), languageId: language, version, text };
  connection.notify('textDocument/didOpen', { textDocument });
}

/** Told as a change of an open file and as one of the disk: many look at a file only when it is saved. */
function sendChange({ connection, sync }: Greeted, path: string, { text, version }: Document, type: number): void {
  const uri = uriOf(path);
  if (sync.hears && type === CHANGED)
    connection.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
  connection.notify('workspace/didChangeWatchedFiles', { changes: [{ uri, type }] });
  const saved = sync.savesWithText ? { text } : {};
  connection.notify('textDocument/didSave', { textDocument: { uri }, ...saved });
}
