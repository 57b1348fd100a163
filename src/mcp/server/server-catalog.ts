import type { JsonObject } from '../../contracts/json.ts';
import type { CallContext, Tool, ToolOutcome } from '../../contracts/tool.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import { type ServerPrompt, toPrompts } from '../server-prompt.ts';
import { toTools } from '../tools.ts';
import type { Connection } from './connection.ts';
import type { ListKind } from './our-side.ts';

/** What a server offers, as it was last told. */
export type Catalog = {
  readonly tools: readonly Tool[];
  /** The same tools in the server's own words, for people. */
  readonly described: readonly { readonly name: string; readonly description?: string }[];
  readonly prompts: readonly ServerPrompt[];
};

export type CatalogOf = {
  readonly server: string;
  readonly prefix: string;
  readonly call: (tool: string, input: JsonObject, context: CallContext) => Promise<ToolOutcome>;
};

export const EMPTY_CATALOG: Catalog = { tools: [], described: [], prompts: [] };
const DESCRIPTION_CHARS = 200;

/** Asks for one of the lists; resources are asked for when somebody wants one. */
export async function readList(connection: Connection, of: CatalogOf, kind: ListKind): Promise<Partial<Catalog>> {
  if (kind === 'resources') return {};
  return kind === 'tools' ? readTools(connection, of) : readPrompts(connection, of);
}

async function readTools(connection: Connection, of: CatalogOf): Promise<Pick<Catalog, 'tools' | 'described'>> {
  const listed = connection.has('tools') ? await connection.tools() : [];
  return {
    tools: toTools(listed, of),
    described: listed.map(({ name, description }) => ({
      name: untrustedLine(name, DESCRIPTION_CHARS),
      ...(description === undefined ? {} : { description: untrustedLine(description, DESCRIPTION_CHARS) }),
    })),
  };
}

/** A server whose prompts cannot be listed still has its tools. */
async function readPrompts(connection: Connection, of: CatalogOf): Promise<Pick<Catalog, 'prompts'>> {
  const listed = connection.has('prompts') ? await connection.prompts().catch(() => []) : [];
  return { prompts: toPrompts(listed, { ...of, canComplete: connection.has('completions') }) };
}

/** Which names came and went; a tool that only changed is both, so that it is told anew. */
export function toolChanges(
  before: readonly Tool[],
  after: readonly Tool[],
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  const specs = (tools: readonly Tool[]) => new Map(tools.map((tool) => [tool.name, JSON.stringify(tool.spec)]));
  const [old, fresh] = [specs(before), specs(after)];
  return {
    added: [...fresh].flatMap(([name, spec]) => (old.get(name) === spec ? [] : [name])),
    removed: [...old.keys()].filter((name) => !fresh.has(name)),
  };
}
