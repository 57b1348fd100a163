import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  type CompleteRequest,
  type GetPromptResult,
  type Progress,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../contracts/json.ts';
import type { CallContext } from '../../contracts/tool.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import { isUnauthorized } from '../login/stored-auth.ts';
import { type ActiveCall, createActiveCalls } from './active-calls.ts';
import { LIST_TIMEOUT_MS, LISTS, list } from './lists.ts';
import { type ListKind, type OurSide, ourSide } from './our-side.ts';
import type { OpenTransport } from './stdio-transport.ts';
import { createSubscriptions } from './subscriptions.ts';
import { callAsTask } from './task-call.ts';

export type ConnectionParts = OpenTransport &
  Omit<OurSide, 'closed'> & {
    /** A list holds more than counts: to be read behind the server's name. */
    readonly onCut: (words: string) => void;
    readonly callTimeoutMs: () => number;
    /** Remote servers do not say when they are gone: after trouble they are asked. */
    readonly isRemote: boolean;
    /** Why it ended. */
    readonly onClosed: (why: string) => void;
  };

/** A server that answered, and everything that can be asked of it. */
export type Connection = {
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly instructions: string | undefined;
  /** Why it ended; `undefined` while it is there. */
  ending(): string | undefined;
  has(kind: ListKind | 'completions'): boolean;
  tools(signal?: AbortSignal): Promise<readonly Tool[]>;
  prompts(signal?: AbortSignal): Promise<readonly Prompt[]>;
  resources(signal: AbortSignal): Promise<readonly Resource[]>;
  /** Addresses of resources with places to fill in. */
  templates(signal: AbortSignal): Promise<readonly ResourceTemplate[]>;
  call(tool: string, input: JsonObject, context: CallContext): Promise<CallToolResult>;
  prompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GetPromptResult>;
  /** From then on its changes are told, where the server tells them. */
  read(uri: string, signal: AbortSignal): Promise<ReadResourceResult>;
  /** How what was begun could go on, in the server's order. */
  complete(params: CompleteRequest['params'], signal: AbortSignal): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** The server said nothing about a call for too long (`silent`), or nothing but progress (`endless`). */
export class ServerSilent extends Error {
  override readonly name = 'ServerSilent';
}

/** The largest delay a timer can have: our own limits count, not the library's. */
const NO_LIMIT_MS = 2 ** 31 - 1;
const PING_TIMEOUT_MS = 5_000;
const NOTE_CHARS = 200;
const CALM_MS = 50;

/** Shakes hands over a transport. Rejects when the server refuses, ends, or the signal is aborted. */
export async function openConnection(parts: ConnectionParts, signal: AbortSignal): Promise<Connection> {
  const calls = createActiveCalls(parts.callTimeoutMs);
  const life = new AbortController();
  const onResourceChanged = (uri: string) => subscriptions.follows(uri) && parts.onResourceChanged(uri);
  const client = ourSide({ ...parts, onResourceChanged, closed: life.signal }, calls.newest);
  const subscriptions = createSubscriptions(client);
  const cuts = new Set<string>();
  const onCut = (words: string) => {
    if (!cuts.has(words)) parts.onCut(words);
    cuts.add(words);
  };
  let ending: string | undefined;
  client.onclose = () => {
    life.abort();
    ending = parts.describeEnd() ?? 'the connection was closed';
    parts.onClosed(ending);
  };
  if (parts.isRemote) client.onerror = pinging(client);
  await client.connect(parts.transport, { signal, timeout: NO_LIMIT_MS });
  const limits = (callSignal: AbortSignal) => ({ signal: callSignal, timeout: parts.callTimeoutMs() });
  let tasks: ReadonlySet<string> = new Set();
  let rootsTold = parts.roots().join('\n');

  /** Folders that came or went since are told before the next call that may need them. */
  async function tellRoots(): Promise<void> {
    const roots = parts.roots().join('\n');
    if (roots === rootsTold) return;
    rootsTold = roots;
    await client.sendRootsListChanged();
  }

  const promptMs = () => Math.min(LIST_TIMEOUT_MS, parts.callTimeoutMs());

  return {
    info: client.getServerVersion(),
    instructions: client.getInstructions(),
    ending: () => ending,
    has: (kind) => client.getServerCapabilities()?.[kind] !== undefined,
    async tools(listSignal) {
      const listed = await list(client, LISTS.tools, listSignal, onCut);
      tasks = takesTasks(client) ? new Set(listed.filter(isTask).map(({ name }) => name)) : tasks;
      return listed;
    },
    prompts: (listSignal) => list(client, LISTS.prompts, listSignal, onCut),
    resources: (listSignal) => list(client, LISTS.resources, listSignal, onCut),
    templates: (listSignal) => list(client, LISTS.templates, listSignal, onCut),
    async call(name, input, context) {
      await tellRoots();
      return callOnce(client, { name, arguments: input, isTask: tasks.has(name) }, context, calls.begin(context.ask));
    },
    prompt: (name, args, callSignal) =>
      client.getPrompt({ name, arguments: { ...args } }, { signal: callSignal, timeout: promptMs() }),
    async read(uri, callSignal) {
      const contents = await client.readResource({ uri }, limits(callSignal));
      subscriptions.follow(uri);
      return contents;
    },
    async complete(params, callSignal) {
      if (client.getServerCapabilities()?.completions === undefined) return [];
      const { completion } = await client.complete(params, { signal: callSignal, timeout: promptMs() });
      return completion.values;
    },
    close: () => client.close(),
  };
}

type OneCall = { readonly name: string; readonly arguments: JsonObject; readonly isTask: boolean };

/** One call, given up when the server has said nothing about it for too long. */
async function callOnce(
  client: Client,
  { isTask, ...params }: OneCall,
  context: CallContext,
  call: ActiveCall,
): Promise<CallToolResult> {
  const calm = calmly((text) => context.report({ kind: 'note', text }));
  const note = (text: string) => {
    call.heard();
    calm.say(text);
  };
  const options = {
    signal: AbortSignal.any([context.signal, call.silent]),
    timeout: NO_LIMIT_MS,
    onprogress: ({ progress, total, message }: Progress) => note(progressWords(progress, total, message)),
  };
  try {
    const onStatus = (words: string) => note(untrustedLine(words, NOTE_CHARS));
    if (isTask) return await callAsTask(client, { ...params, onStatus }, options);
    // Not `callTool`: that one holds results against schemas of the server and throws good answers away.
    return await client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
  } catch (thrown) {
    if (call.silent.aborted && !context.signal.aborted) throw new ServerSilent(String(call.silent.reason));
    throw thrown;
  } finally {
    calm.end();
    call.end();
  }
}

/** Says the newest words at once or shortly after those before them; nobody reads faster. */
function calmly(say: (words: string) => void) {
  let newest: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    if (newest === undefined) return;
    say(newest);
    newest = undefined;
    timer = setTimeout(flush, CALM_MS);
  };
  return {
    say(words: string): void {
      newest = words;
      if (timer === undefined) flush();
    },
    end: () => clearTimeout(timer),
  };
}

/** A tool that answers with a task, and with nothing else. */
const isTask = ({ execution }: Tool) => execution?.taskSupport === 'required';

const takesTasks = (client: Client) => client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;

/** After an error: is the server still there? One question at a time. */
function pinging(client: Client): (error: Error) => void {
  let isAsking = false;
  return (error) => {
    // Who wants a login is there.
    if (isAsking || isUnauthorized(error) || client.getServerVersion() === undefined) return;
    isAsking = true;
    client
      .ping({ timeout: PING_TIMEOUT_MS })
      // Nobody answers any more: an end like any other, and `onclose` hears of it.
      .catch((thrown) => (isUnauthorized(thrown) ? undefined : client.close()))
      .finally(() => {
        isAsking = false;
      });
  };
}

function progressWords(progress: number, total: number | undefined, message: string | undefined): string {
  const amount = total === undefined || total <= 0 ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${untrustedLine(message, NOTE_CHARS)} (${amount})`;
}
