import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { createDeferred } from '../lib/promises.ts';
import { type McpServerConnection, openMcpServerConnection } from '../mcp/client/mcp-server-connection.ts';
import type { EditorInfo } from './find-editors.ts';

/** An open connection to an editor. */
export type EditorConnection = Awaited<ReturnType<typeof openEditorConnection>>;

/** Listeners for what an editor sends by itself. */
export type EditorListeners = {
  readonly onNotification: (method: string, params: JsonValue) => void;
  /** Called once when an open connection has ended. */
  readonly onClosed: () => void;
};

const TOKEN_HEADER = 'x-claude-code-ide-authorization';
const CONNECT_TIMEOUT_MS = 5_000;
/** A diff stays open until the user decides, so calls have no limit of their own. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_MESSAGE_CHARS = 16 * 1024 * 1024;

/** Connects to an editor and initializes the connection; rejects when the editor refuses or is silent. */
export async function openEditorConnection(
  { port, name, authToken }: EditorInfo,
  { cwd, version }: { readonly cwd: string; readonly version: string },
  listeners: EditorListeners,
) {
  const transport = createWebSocketTransport(port, authToken);
  const connection = await openMcpServerConnection(
    {
      transport,
      describeExit: () => undefined,
      server: name,
      version,
      getRoots: () => [cwd],
      // An editor is a place to show things: it may neither ask the user nor the model through ouro.
      ask: undefined,
      sample: undefined,
      getSamplingVerdict: () => 'deny',
      isRemote: false,
      callTimeoutMs: () => NO_TIMEOUT_MS,
      onNotification: listeners.onNotification,
      onClosed: listeners.onClosed,
      onListChanged: () => undefined,
      onListTruncated: () => undefined,
      onResourceChanged: () => undefined,
      onDeclined: () => undefined,
      onSampled: () => undefined,
      onVisited: () => undefined,
    },
    AbortSignal.timeout(CONNECT_TIMEOUT_MS),
  ).catch(async (thrown) => {
    await transport.close();
    throw thrown;
  });
  const tools = await listToolNames(connection);
  return {
    hasTool: (tool: string): boolean => tools.has(tool),
    /** Calls a tool of the editor; returns its texts, and rejects for an error or when the connection ends. */
    callTool: (tool: string, input: JsonObject, signal: AbortSignal): Promise<readonly string[]> =>
      callTool(connection, tool, input, signal),
    close: connection.close,
  };
}

async function listToolNames(connection: McpServerConnection): Promise<ReadonlySet<string>> {
  const listed = await connection.listTools(AbortSignal.timeout(CONNECT_TIMEOUT_MS)).catch(() => []);
  return new Set(listed.map(({ name }) => name));
}

async function callTool(
  connection: McpServerConnection,
  tool: string,
  input: JsonObject,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const context = { callId: '', cwd: '', signal, report: () => undefined, ask: async () => undefined };
  const { content, isError } = await connection.callTool(tool, input, context);
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (isError === true) throw new Error(texts.join('\n') || `${tool} failed`);
  return texts;
}

/** Creates the transport: one JSON-RPC message in each frame of a WebSocket on this machine. */
function createWebSocketTransport(port: number, authToken: string | undefined): Transport {
  const opened = createDeferred<void>();
  let socket: WebSocket | undefined;
  const transport: Transport = {
    start() {
      socket = openSocket(`ws://127.0.0.1:${port}/`, authToken === undefined ? {} : { [TOKEN_HEADER]: authToken });
      socket.onopen = () => opened.resolve();
      socket.onerror = () => opened.reject(new Error('it refused the connection'));
      socket.onclose = () => {
        opened.reject(new Error('it closed the connection'));
        transport.onclose?.();
      };
      socket.onmessage = ({ data }: { readonly data: unknown }) => receive(data);
      return opened.promise;
    },
    async send(message) {
      if (socket?.readyState !== WebSocket.OPEN) throw new Error('the connection to the editor is closed');
      socket.send(JSON.stringify(message));
    },
    async close() {
      socket?.close();
    },
  };

  function receive(data: unknown): void {
    if (typeof data !== 'string') return;
    const message = data.length > MAX_MESSAGE_CHARS ? undefined : parseMessage(data);
    if (message !== undefined) transport.onmessage?.(message);
  }
  return transport;
}

/** Opens a socket with headers, which the type of browsers lacks. */
function openSocket(url: string, headers: Readonly<Record<string, string>>): WebSocket {
  return Reflect.construct(WebSocket, [url, { headers }]);
}

function parseMessage(text: string) {
  try {
    return JSONRPCMessageSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
