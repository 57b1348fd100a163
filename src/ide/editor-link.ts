import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { sanitizeUntrustedLine } from '../lib/text/sanitize.ts';
import type { EditorConnection } from './editor-connection.ts';
import { type EditorInfo, type FindEditorsOptions, type FoundEditors, findEditors } from './find-editors.ts';
import { type EditorFocus, type EditorMention, parseEditorFocus, parseEditorMention } from './parse-notification.ts';

/** The state of the link. `lost`: the editor went away, and ouro looks for it; `off`: the user disconnected it. */
export type EditorLinkState =
  | { readonly status: 'none' | 'off' }
  | { readonly status: 'connecting' | 'connected' | 'lost'; readonly editor: EditorInfo };

/** A change of the link. */
export type EditorLinkEvent =
  | { readonly type: 'state'; readonly state: EditorLinkState }
  /** The open file or the selection changed; several changes in a short time are one event. */
  | { readonly type: 'focus' }
  | { readonly type: 'mention'; readonly mention: EditorMention };

/** The dependencies of a link. */
export type EditorLinkDeps = {
  readonly search: FindEditorsOptions;
  readonly version: string;
  readonly onEvent: (event: EditorLinkEvent) => void;
  /** Delays before each attempt to find an editor again that went away. */
  readonly retryDelaysMs?: readonly number[];
};

/** The result of an attempt to connect. */
export type EditorConnectResult =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: string };

/** The link of a session to at most one editor. */
export type EditorLink = ReturnType<typeof createEditorLink>;

const ERROR_CHARS = 200;
const FOCUS_DELAY_MS = 50;
/** An extension that reloads needs seconds; an editor that starts again may need minutes. */
const RETRY_DELAYS_MS: readonly number[] = [
  250,
  500,
  1_000,
  2_000,
  ...Array.from({ length: 20 }, () => 3_000),
  ...Array.from({ length: 20 }, () => 15_000),
];
/** About ten seconds, in which a window reloads. */
const SAME_WINDOW_ATTEMPTS = 6;

/** Creates the link of a session; `connectBest` looks for an editor. */
export function createEditorLink({ search, version, onEvent, retryDelaysMs = RETRY_DELAYS_MS }: EditorLinkDeps) {
  let state: EditorLinkState = { status: 'none' };
  let connection: EditorConnection | undefined;
  const focus = createFocus(onEvent);
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** Counts connections, so that a late result of a replaced one is ignored. */
  let generation = 0;

  function setState(next: EditorLinkState): void {
    state = next;
    onEvent({ type: 'state', state });
  }

  /** Gives up the present connection or attempt, if there is one. */
  function release(): Promise<void> {
    generation += 1;
    clearTimeout(retryTimer);
    const closing = connection;
    connection = undefined;
    if (focus.get() !== undefined) focus.set(undefined);
    return closing?.close() ?? Promise.resolve();
  }

  async function open(editor: EditorInfo): Promise<EditorConnectResult> {
    await release();
    const own = generation;
    let hasEnded = false;
    setState({ status: 'connecting', editor });
    try {
      // Loaded on demand: it needs the MCP library, which the start of a session does not.
      const { openEditorConnection } = await import('./editor-connection.ts');
      const opened = await openEditorConnection(
        editor,
        { cwd: search.cwd, version },
        {
          onNotification: (method, params) => own === generation && focus.receive(method, params),
          onClosed() {
            hasEnded = true;
            if (own === generation && connection !== undefined) handleLoss(editor);
          },
        },
      );
      if (own !== generation) {
        await opened.close();
        return { ok: false, problem: 'the connection was replaced' };
      }
      if (hasEnded) throw new Error('it closed the connection');
      connection = opened;
      setState({ status: 'connected', editor });
      return { ok: true, name: editor.name };
    } catch (thrown) {
      if (own === generation) setState({ status: 'none' });
      return { ok: false, problem: sanitizeUntrustedLine(getErrorMessage(thrown), ERROR_CHARS) };
    }
  }

  function handleLoss(editor: EditorInfo): void {
    void release();
    setState({ status: 'lost', editor });
    retry(editor, 0);
  }

  function retry(editor: EditorInfo, attempt: number): void {
    const own = generation;
    const tryAgain = async () => {
      const found = await findAgain(search, editor, attempt);
      if (own !== generation) return;
      const result = found === undefined ? undefined : await open(found);
      if (result?.ok === true || (generation !== own && state.status !== 'none')) return;
      setState({ status: 'lost', editor });
      retry(editor, attempt + 1);
    };
    if (attempt === retryDelaysMs.length) setState({ status: 'none' });
    else retryTimer = setTimeout(tryAgain, retryDelaysMs[attempt]).unref();
  }

  return {
    getState: () => state,
    getFocus: focus.get,
    find: (): Promise<FoundEditors> => findEditors(search),
    connect: open,
    connectBest: () => connectFirst(search, open),
    async disconnect(): Promise<void> {
      await release();
      setState({ status: 'off' });
    },
    /** Forgets the open file and the selection until they change again. */
    dropFocus: () => focus.set(undefined),
    hasTool: (name: string) => connection?.hasTool(name) === true,
    /** Calls a tool of the editor; rejects when it fails or no editor is connected. */
    async callTool(name: string, input: JsonObject, signal: AbortSignal): Promise<readonly string[]> {
      if (connection === undefined) throw new Error('no editor is connected');
      return connection.callTool(name, input, signal);
    },
    async close(): Promise<void> {
      await release();
      focus.close();
    },
  };
}

/** Connects to the best match, if there is one; the other matches are tried if it refuses. */
async function connectFirst(
  search: FindEditorsOptions,
  open: (editor: EditorInfo) => Promise<EditorConnectResult>,
): Promise<EditorConnectResult> {
  const { editors } = await findEditors(search);
  let result: EditorConnectResult = { ok: false, problem: 'no editor has this folder open' };
  for (const editor of editors.filter(({ mismatch }) => mismatch === undefined)) {
    result = await open(editor);
    if (result.ok) return result;
    result = { ok: false, problem: `${editor.name}: ${result.problem}` };
  }
  return result;
}

/**
 * Finds the same window after a reload, when it has a new port and a new token. Another window of the same editor is
 * taken only later: the one that reloads may have other folders now.
 */
async function findAgain(
  search: FindEditorsOptions,
  lost: EditorInfo,
  attempt: number,
): Promise<EditorInfo | undefined> {
  const { editors } = await findEditors(search);
  const windows = editors.filter(({ name, mismatch }) => name === lost.name && mismatch === undefined);
  const same = windows.find(({ folders }) => folders.join('\n') === lost.folders.join('\n'));
  return same ?? (attempt < SAME_WINDOW_ATTEMPTS ? undefined : windows[0]);
}

/** Creates the holder of the open file and the selection; several changes in a short time are one event. */
function createFocus(onEvent: (event: EditorLinkEvent) => void) {
  let focus: EditorFocus | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function set(next: EditorFocus | undefined): void {
    focus = next;
    timer ??= setTimeout(() => {
      timer = undefined;
      onEvent({ type: 'focus' });
    }, FOCUS_DELAY_MS);
  }

  return {
    get: () => focus,
    set,
    /** Takes a notification of the editor; unknown ones are ignored. */
    receive(method: string, params: JsonValue): void {
      const mention = method === 'at_mentioned' ? parseEditorMention(params) : undefined;
      if (mention !== undefined) onEvent({ type: 'mention', mention });
      if (method === 'selection_changed') set(parseEditorFocus(params));
    },
    close: () => clearTimeout(timer),
  };
}
