import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  type CallToolResult,
  CallToolResultSchema,
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
  type Tool,
  ToolListChangedNotificationSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import type { CallContext } from '../../contracts/tool.ts';
import { cleanLine } from '../clean-text.ts';
import { type Ask, elicit } from '../elicit.ts';
import { createIdleLimit, type IdleLimit } from './idle-limit.ts';
import type { OpenTransport } from './stdio-transport.ts';

export type ListKind = 'tools' | 'prompts' | 'resources';

export type ConnectionParts = OpenTransport & {
  readonly server: string;
  readonly version: string;
  readonly roots: () => readonly string[];
  readonly callTimeoutMs: () => number;
  readonly ask: Ask | undefined;
  /** Remote servers do not tell when they are gone: after trouble they are asked. */
  readonly afterTrouble: 'ask' | 'go on';
  readonly onListChanged: (kind: ListKind) => void;
  readonly onClosed: () => void;
};

/** A server that answered, and everything that can be asked of it. */
export type Connection = {
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly instructions: string | undefined;
  has(kind: ListKind): boolean;
  tools(signal?: AbortSignal): Promise<readonly Tool[]>;
  prompts(signal?: AbortSignal): Promise<readonly Prompt[]>;
  resources(signal: AbortSignal): Promise<readonly Resource[]>;
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
const PING_TIMEOUT_MS = 5_000;
const MOST_PAGES = 50;
const NOTE_CHARS = 200;

const listPage = z.looseObject({ nextCursor: z.string().optional() });

type Asker = { readonly ask: Ask; readonly idle: IdleLimit };

/** Shakes hands over a transport. Rejects when the server refuses, ends, or the signal is aborted. */
export async function openConnection(parts: ConnectionParts, signal: AbortSignal): Promise<Connection> {
  const { server, transport } = parts;
  const client = new Client(
    { name: 'ouro', version: parts.version },
    { capabilities: { roots: {}, elicitation: { form: {} } } },
  );
  // Calls at work, the newest last: a question of the server is asked in the name of one of them.
  const askers: Asker[] = [];
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: parts.roots().map((root) => ({ uri: pathToFileURL(root).href })),
  }));
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    const asker = askers.at(-1);
    if (asker === undefined) return elicit(server, params, parts.ask);
    return asker.idle.whilePaused(() => elicit(server, params, asker.ask));
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => parts.onListChanged('tools'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => parts.onListChanged('prompts'));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => parts.onListChanged('resources'));
  client.onclose = parts.onClosed;
  let asking = false;
  client.onerror = () => {
    if (parts.afterTrouble === 'go on' || asking || client.getServerVersion() === undefined) return;
    asking = true;
    client
      .ping({ timeout: PING_TIMEOUT_MS })
      // Nobody answers any more: an end like any other, and `onClosed` hears of it.
      .catch(() => client.close())
      .finally(() => {
        asking = false;
      });
  };
  await client.connect(transport, { signal, timeout: NO_LIMIT_MS });
  const instructions = client.getInstructions();

  /** Every page of a list; what does not fit its schema is left out, the rest is used. */
  function list<Item>(
    method: string,
    key: ListKind,
    schema: z.ZodType<Item>,
    listSignal: AbortSignal | undefined,
  ): Promise<readonly Item[]> {
    return allPages(async (cursor) => {
      const params = cursor === undefined ? {} : { cursor };
      const page = await client.request({ method, params }, listPage, { signal: listSignal, timeout: LIST_TIMEOUT_MS });
      const items = z.array(z.unknown()).parse(page[key] ?? []);
      return { items: items.flatMap((item) => schema.safeParse(item).data ?? []), next: page.nextCursor };
    });
  }

  return {
    info: client.getServerVersion(),
    instructions,
    has: (kind) => client.getServerCapabilities()?.[kind] !== undefined,
    tools: (listSignal) => list('tools/list', 'tools', ToolSchema, listSignal),
    prompts: (listSignal) => list('prompts/list', 'prompts', PromptSchema, listSignal),
    resources: (listSignal) => list('resources/list', 'resources', ResourceSchema, listSignal),
    async call(name, input, context) {
      const idle = createIdleLimit(parts.callTimeoutMs());
      const asker: Asker = { ask: context.ask, idle };
      askers.push(asker);
      try {
        // Not `callTool`: that one holds results against schemas of the server and throws good answers away.
        return await client.request(
          { method: 'tools/call', params: { name, arguments: input } },
          CallToolResultSchema,
          {
            signal: AbortSignal.any([context.signal, idle.signal]),
            timeout: NO_LIMIT_MS,
            onprogress: ({ progress, total, message }) => {
              idle.heard();
              context.report({ kind: 'note', text: progressWords(progress, total, message) });
            },
          },
        );
      } catch (thrown) {
        if (idle.signal.aborted && !context.signal.aborted) throw new ServerSilent();
        throw thrown;
      } finally {
        idle.end();
        askers.splice(askers.indexOf(asker), 1);
      }
    },
    prompt: (name, args, promptSignal) =>
      client.getPrompt({ name, arguments: { ...args } }, { signal: promptSignal, timeout: parts.callTimeoutMs() }),
    read: (uri, readSignal) => client.readResource({ uri }, { signal: readSignal, timeout: parts.callTimeoutMs() }),
    close: () => client.close(),
  };
}

function progressWords(progress: number, total: number | undefined, message: string | undefined): string {
  const amount = total === undefined || total <= 0 ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${cleanLine(message, NOTE_CHARS)} (${amount})`;
}

/** All pages of a list. A server that never ends, or repeats itself, is not believed. */
async function allPages<Item>(
  page: (cursor: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next?: string }>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  const seen = new Set<string | undefined>();
  let cursor: string | undefined;
  do {
    seen.add(cursor);
    const { items: found, next } = await page(cursor);
    items.push(...found);
    cursor = next;
  } while (cursor !== undefined && !seen.has(cursor) && seen.size < MOST_PAGES);
  return items;
}
