import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  type GetPromptResult,
  ListRootsRequestSchema,
  type Prompt,
  PromptListChangedNotificationSchema,
  PromptSchema,
  type ReadResourceResult,
  type Resource,
  ResourceListChangedNotificationSchema,
  ResourceSchema,
  type ResourceTemplate,
  ResourceTemplateSchema,
  type Tool,
  ToolListChangedNotificationSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import type { CallContext } from '../../contracts/tool.ts';
import { type Ask, elicit } from '../elicit.ts';
import { isUnauthorized } from '../login/stored-auth.ts';
import { untrustedLine } from '../untrusted-text.ts';
import { createActiveCalls } from './active-calls.ts';
import type { OpenTransport } from './stdio-transport.ts';

export type ListKind = 'tools' | 'prompts' | 'resources';

export type ConnectionParts = OpenTransport & {
  readonly server: string;
  readonly version: string;
  readonly roots: () => readonly string[];
  readonly callTimeoutMs: () => number;
  readonly ask: Ask | undefined;
  /** Remote servers do not say when they are gone: after trouble they are asked. */
  readonly isRemote: boolean;
  readonly onListChanged: (kind: ListKind) => void;
  /** A question of the server was answered with no, by nobody's wish: to be read behind its name. */
  readonly onDeclined: (words: string) => void;
  /** What a person was sent to an address for is done there. */
  readonly onVisited: (id: string) => void;
  /** Why it ended. */
  readonly onClosed: (why: string) => void;
};

/** A server that answered, and everything that can be asked of it. */
export type Connection = {
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly instructions: string | undefined;
  /** Why it ended; `undefined` while it is there. */
  ending(): string | undefined;
  has(kind: ListKind): boolean;
  tools(signal?: AbortSignal): Promise<readonly Tool[]>;
  prompts(signal?: AbortSignal): Promise<readonly Prompt[]>;
  resources(signal: AbortSignal): Promise<readonly Resource[]>;
  /** Addresses of resources with places to fill in. */
  templates(signal: AbortSignal): Promise<readonly ResourceTemplate[]>;
  call(tool: string, input: JsonObject, context: CallContext): Promise<CallToolResult>;
  prompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GetPromptResult>;
  read(uri: string, signal: AbortSignal): Promise<ReadResourceResult>;
  close(): Promise<void>;
};

/** The server said nothing about a call for too long. */
export class ServerSilent extends Error {
  override readonly name = 'ServerSilent';
}

/** The largest delay a timer can have: our own limits count, not the library's. */
const NO_LIMIT_MS = 2 ** 31 - 1;
const LIST_TIMEOUT_MS = 30_000;
const NEXT_PAGE_TIMEOUT_MS = 3_000;
const PING_TIMEOUT_MS = 5_000;
const MOST_PAGES = 50;
const NOTE_CHARS = 200;

/** How a list is asked for, and where it stands in the answer. */
type ListName = { readonly method: string; readonly key: string };

const LISTS = {
  tools: { method: 'tools/list', key: 'tools' },
  prompts: { method: 'prompts/list', key: 'prompts' },
  resources: { method: 'resources/list', key: 'resources' },
  templates: { method: 'resources/templates/list', key: 'resourceTemplates' },
} as const;

const listPage = z.looseObject({ nextCursor: z.string().optional() });

/** Shakes hands over a transport. Rejects when the server refuses, ends, or the signal is aborted. */
export async function openConnection(parts: ConnectionParts, signal: AbortSignal): Promise<Connection> {
  const calls = createActiveCalls(parts.callTimeoutMs);
  const client = newClient(parts, calls);
  let ending: string | undefined;
  client.onclose = () => {
    ending = parts.describeEnd() ?? 'the connection was closed';
    parts.onClosed(ending);
  };
  if (parts.isRemote) client.onerror = pinging(client);
  await client.connect(parts.transport, { signal, timeout: NO_LIMIT_MS });
  const limits = (callSignal: AbortSignal) => ({ signal: callSignal, timeout: parts.callTimeoutMs() });
  const promptMs = () => Math.min(LIST_TIMEOUT_MS, parts.callTimeoutMs());

  return {
    info: client.getServerVersion(),
    instructions: client.getInstructions(),
    ending: () => ending,
    has: (kind) => client.getServerCapabilities()?.[kind] !== undefined,
    tools: (listSignal) => list(client, LISTS.tools, ToolSchema, listSignal),
    prompts: (listSignal) => list(client, LISTS.prompts, PromptSchema, listSignal),
    resources: (listSignal) => list(client, LISTS.resources, ResourceSchema, listSignal),
    templates: (listSignal) => list(client, LISTS.templates, ResourceTemplateSchema, listSignal),
    async call(name, input, context) {
      const call = calls.begin(context.ask);
      try {
        // Not `callTool`: that one holds results against schemas of the server and throws good answers away.
        return await client.request(
          { method: 'tools/call', params: { name, arguments: input } },
          CallToolResultSchema,
          {
            signal: AbortSignal.any([context.signal, call.silent]),
            timeout: NO_LIMIT_MS,
            onprogress: ({ progress, total, message }) => {
              call.heard();
              context.report({ kind: 'note', text: progressWords(progress, total, message) });
            },
          },
        );
      } catch (thrown) {
        if (call.silent.aborted && !context.signal.aborted) throw new ServerSilent();
        throw thrown;
      } finally {
        call.end();
      }
    },
    prompt: (name, args, callSignal) =>
      client.getPrompt({ name, arguments: { ...args } }, { signal: callSignal, timeout: promptMs() }),
    read: (uri, callSignal) => client.readResource({ uri }, limits(callSignal)),
    close: () => client.close(),
  };
}

/** Our side of the protocol: what a server may ask, and what it may tell. */
function newClient(parts: ConnectionParts, calls: ActiveCalls): Client {
  const { server, version, roots, ask, onListChanged, onDeclined, onVisited } = parts;
  const capabilities = { roots: {}, elicitation: { form: {}, url: {} } };
  const client = new Client({ name: 'ouro', version }, { capabilities });
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: roots().map((root) => ({ uri: pathToFileURL(root).href })),
  }));
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    const call = calls.newest();
    const asked = () => elicit(server, params, call?.ask ?? ask);
    const { result, reason } = await (call === undefined ? asked() : call.whilePaused(asked));
    if (reason !== undefined)
      onDeclined(`wanted to know something and was told no: ${untrustedLine(reason, NOTE_CHARS)}`);
    return result;
  });
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    onVisited(params.elicitationId);
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => onListChanged('tools'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => onListChanged('prompts'));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onListChanged('resources'));
  return client;
}

type ActiveCalls = ReturnType<typeof createActiveCalls>;

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

/** Every item of a list; what does not fit its schema is left out. A server that never ends, or repeats itself, is not believed. */
async function list<Item>(
  client: Client,
  what: ListName,
  schema: z.ZodType<Item>,
  signal: AbortSignal | undefined,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  const seen = new Set<string | undefined>();
  let cursor: string | undefined;
  do {
    seen.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const page = await pageOf(client, what, params, signal);
    // What is there is used when the rest of it does not come.
    if (page === undefined) break;
    const found = z.array(z.unknown()).parse(page[what.key] ?? []);
    items.push(...found.flatMap((item) => schema.safeParse(item).data ?? []));
    cursor = page.nextCursor;
  } while (cursor !== undefined && !seen.has(cursor) && seen.size < MOST_PAGES);
  return items;
}

/** Of a list that has begun, a page that does not come in time is `undefined`. */
async function pageOf(
  client: Client,
  { method }: ListName,
  params: { readonly cursor?: string },
  signal: AbortSignal | undefined,
) {
  const isFirst = params.cursor === undefined;
  const options = { signal, timeout: isFirst ? LIST_TIMEOUT_MS : NEXT_PAGE_TIMEOUT_MS };
  const asked = client.request({ method, params }, listPage, options);
  return isFirst ? asked : asked.catch(() => undefined);
}

function progressWords(progress: number, total: number | undefined, message: string | undefined): string {
  const amount = total === undefined || total <= 0 ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${untrustedLine(message, NOTE_CHARS)} (${amount})`;
}
