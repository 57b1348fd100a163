import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { PromptSchema, ResourceSchema, ResourceTemplateSchema, ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

export const LIST_TIMEOUT_MS = 30_000;
const NEXT_PAGE_TIMEOUT_MS = 3_000;
const MOST_PAGES = 50;
/** No model can choose among more, and no person. */
const MOST_ITEMS = 2_000;

/** How a list is asked for, and where it stands in the answer. */
type ListName = { readonly method: string; readonly key: string };

export const LISTS = {
  tools: { method: 'tools/list', key: 'tools', schema: ToolSchema },
  prompts: { method: 'prompts/list', key: 'prompts', schema: PromptSchema },
  resources: { method: 'resources/list', key: 'resources', schema: ResourceSchema },
  templates: { method: 'resources/templates/list', key: 'resourceTemplates', schema: ResourceTemplateSchema },
} as const;

const listPage = z.looseObject({ nextCursor: z.string().optional() });

/** Every item of a list; what does not fit its schema is left out. A server that never ends, or repeats itself, is not believed. */
export async function list<Item>(
  client: Client,
  { schema, ...what }: ListName & { readonly schema: z.ZodType<Item> },
  signal: AbortSignal | undefined,
  /** There is more than what counts: to be read behind the server's name. */
  onCut: (words: string) => void,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  const seen = new Set<string | undefined>();
  let cursor: string | undefined;
  let left = 0;
  do {
    seen.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const page = await pageOf(client, what, params, signal);
    // What is there is used when the rest of it does not come.
    if (page === undefined) break;
    const found = z.array(z.unknown()).parse(page[what.key] ?? []);
    const room = MOST_ITEMS - items.length;
    for (const item of found.slice(0, room)) {
      const { data } = schema.safeParse(item);
      if (data !== undefined) items.push(data);
    }
    cursor = page.nextCursor;
    left += Math.max(0, found.length - room);
  } while (cursor !== undefined && !seen.has(cursor) && seen.size < MOST_PAGES && items.length < MOST_ITEMS);
  const isFull = items.length >= MOST_ITEMS || seen.size >= MOST_PAGES;
  if (left > 0 || (isFull && cursor !== undefined && !seen.has(cursor)))
    onCut(`offers more ${what.key} than count: the first ${items.length} are used.`);
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
