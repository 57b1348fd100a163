import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type Call = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };
type Socket = { send(text: string): void; close(): void };
type Message = { readonly id?: number | string; readonly method?: string; readonly params?: Record<string, unknown> };

export type EditorOptions = {
  readonly name?: string;
  readonly folders: readonly string[];
  /** Token in the lock file, if it is not the one that the server wants. */
  readonly toldToken?: string;
  /** Neither the lock file nor the server has a token, as in claude-code-ide.el. */
  readonly hasToken?: false;
  readonly pid?: number;
  readonly mode?: number;
  readonly tools?: readonly string[];
};

export const EDITOR_TOOLS = ['openFile', 'openDiff', 'getDiagnostics', 'checkDocumentDirty', 'close_tab'];
const HEADER = 'x-claude-code-ide-authorization';

/** An editor as claudecode.nvim describes it in PROTOCOL.md: a WebSocket server with MCP and a lock file. */
export async function startEditor(home: string, options: EditorOptions) {
  const token = crypto.randomUUID();
  const calls: Call[] = [];
  const sockets = new Set<Socket>();
  const listeners = new Set<() => void>();
  const unsaved = new Set<string>();
  const pendingDiffs = new Map<string, (texts: readonly string[]) => void>();
  const diagnostics = new Map<string, readonly unknown[]>();
  let initialized = 0;
  let refused = 0;
  const changed = () => {
    for (const listener of listeners) listener();
  };

  async function runTool({ tool, input }: Call): Promise<readonly string[]> {
    switch (tool) {
      case 'openDiff':
        return new Promise((resolve) => {
          pendingDiffs.set(String(input.tab_name), resolve);
          changed();
        });
      case 'close_tab':
        pendingDiffs.get(String(input.tab_name))?.(['DIFF_REJECTED', String(input.tab_name)]);
        pendingDiffs.delete(String(input.tab_name));
        return ['TAB_CLOSED'];
      case 'getDiagnostics':
        return [JSON.stringify([...diagnostics].map(([uri, problems]) => ({ uri, diagnostics: problems })))];
      case 'checkDocumentDirty':
        return [JSON.stringify({ success: true, isDirty: unsaved.has(String(input.filePath)), isUntitled: false })];
      default:
        return [`Opened file: ${String(input.filePath)}`];
    }
  }

  async function answer(socket: Socket, { id, method, params = {} }: Message): Promise<void> {
    const reply = (result: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize')
      reply({
        protocolVersion: '2025-03-26',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'test-editor', version: '1' },
      });
    if (method === 'notifications/initialized') initialized += 1;
    if (method === 'tools/list')
      reply({ tools: (options.tools ?? EDITOR_TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) });
    if (method === 'tools/call') {
      const call = { tool: String(params.name), input: Object(params.arguments) };
      calls.push(call);
      const answered = runTool(call);
      changed();
      reply({ content: (await answered).map((text) => ({ type: 'text', text })) });
    }
    changed();
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, self) {
      const wanted = options.hasToken === false ? null : token;
      if (request.headers.get(HEADER) === wanted && self.upgrade(request)) return undefined;
      refused += 1;
      changed();
      return new Response('Unauthorized', { status: 401 });
    },
    websocket: {
      open: (socket) => void sockets.add(socket),
      close(socket) {
        sockets.delete(socket);
        changed();
      },
      message: (socket, text) => void answer(socket, JSON.parse(String(text))),
    },
  });

  const folder = join(home, '.claude/ide');
  const lockFile = join(folder, `${server.port}.lock`);
  await mkdir(folder, { recursive: true });
  const lock = {
    pid: options.pid ?? process.pid,
    workspaceFolders: options.folders,
    ideName: options.name ?? 'Test Editor',
    transport: 'ws',
    ...(options.hasToken === false ? {} : { authToken: options.toldToken ?? token }),
  };
  await writeFile(lockFile, JSON.stringify(lock), { mode: options.mode ?? 0o600 });

  const stop = async () => {
    await rm(lockFile, { force: true });
    await server.stop(true);
  };
  return {
    port: server.port,
    lockFile,
    calls,
    unsaved,
    initialized: () => initialized,
    refused: () => refused,
    sockets: () => sockets.size,
    /** Resolves when the condition holds after something has happened here. */
    until(isMet: () => boolean): Promise<void> {
      return new Promise((resolve) => {
        const check = () => {
          if (!isMet()) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
      });
    },
    callsOf: (tool: string) => calls.filter((call) => call.tool === tool).map(({ input }) => input),
    notify(method: string, params: object): void {
      for (const socket of sockets) socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
    },
    /** Sends any text, which need not be a message. */
    sendRaw(text: string): void {
      for (const socket of sockets) socket.send(text);
    },
    openDiffs: () => [...pendingDiffs.keys()],
    /** The user saves or refuses the only open diff. */
    answerDiff(...texts: readonly string[]): void {
      for (const resolve of pendingDiffs.values()) resolve(texts);
      pendingDiffs.clear();
    },
    setDiagnostics(path: string, messages: readonly string[]): void {
      const problems = messages.map((message) => ({
        message,
        severity: 'Error',
        range: { start: { line: 1, character: 2 } },
        source: 'test',
      }));
      diagnostics.set(pathToFileURL(path).href, problems);
    },
    /** The window is reloaded: connections end, the server and its lock file are gone. */
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
