import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { PromptSchema, ResourceSchema, ResourceTemplateSchema, ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** Limit for the first page of a list. */
export const MCP_LIST_TIMEOUT_MS = 30_000;
const NEXT_PAGE_TIMEOUT_MS = 3_000;
const MAX_PAGES = 50;
/** More items than a model could choose from. */
const MAX_ITEMS = 2_000;

/** The method that requests a list, and the key that holds it in the response. */
type ListRequest = { readonly method: string; readonly key: string };

/** The lists of the protocol with the schemas of their items. */
export const MCP_LIST_REQUESTS = {
  tools: { method: 'tools/list', key: 'tools', schema: ToolSchema },
  prompts: { method: 'prompts/list', key: 'prompts', schema: PromptSchema },
  resources: { method: 'resources/list', key: 'resources', schema: ResourceSchema },
  templates: { method: 'resources/templates/list', key: 'resourceTemplates', schema: ResourceTemplateSchema },
} as const;

const listPage = z.looseObject({ nextCursor: z.string().optional() });

/** Fetches all pages of a list and drops invalid items; stops at the limits and at a repeated cursor. */
export async function fetchMcpList<Item>(
  client: Client,
  { schema, ...request }: ListRequest & { readonly schema: z.ZodType<Item> },
  signal: AbortSignal | undefined,
  /** Called with a message, to follow the server's name, when the list is longer than the limit. */
  onCut: (message: string) => void,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  const seenCursors = new Set<string | undefined>();
  let cursor: string | undefined;
  let skipped = 0;
  do {
    seenCursors.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const page = await fetchPage(client, request, params, signal);
    // Without the next page the items so far are used.
    if (page === undefined) break;
    const found = z.array(z.unknown()).parse(page[request.key] ?? []);
    const room = MAX_ITEMS - items.length;
    for (const item of found.slice(0, room)) {
      const { data } = schema.safeParse(item);
      if (data !== undefined) items.push(data);
    }
    cursor = page.nextCursor;
    skipped += Math.max(0, found.length - room);
  } while (
    cursor !== undefined &&
    !seenCursors.has(cursor) &&
    seenCursors.size < MAX_PAGES &&
    items.length < MAX_ITEMS
  );
  const isFull = items.length >= MAX_ITEMS || seenCursors.size >= MAX_PAGES;
  if (skipped > 0 || (isFull && cursor !== undefined && !seenCursors.has(cursor)))
    onCut(`offers too many ${request.key}; only the first ${items.length} are used.`);
  return items;
}

/** Fetches one page; a failure after the first page returns `undefined`. */
async function fetchPage(
  client: Client,
  { method }: ListRequest,
  params: { readonly cursor?: string },
  signal: AbortSignal | undefined,
) {
  const isFirst = params.cursor === undefined;
  const options = { signal, timeout: isFirst ? MCP_LIST_TIMEOUT_MS : NEXT_PAGE_TIMEOUT_MS };
  const response = client.request({ method, params }, listPage, options);
  return isFirst ? response : response.catch(() => undefined);
}
