import type { Tool } from '../../contracts/tool.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import { createMcpPromptCommands, type McpServerPrompt } from '../prompt-commands.ts';
import { createMcpServerTools, type McpServerToolsOptions } from '../tools.ts';
import type { McpListKind } from './create-mcp-client.ts';
import type { McpServerConnection } from './mcp-server-connection.ts';

/** The tools and prompts of a server, as last listed. */
export type McpServerCatalog = {
  readonly tools: readonly Tool[];
  /** The same tools under the server's own names, for display. */
  readonly toolSummaries: readonly { readonly name: string; readonly description?: string }[];
  readonly prompts: readonly McpServerPrompt[];
};

/** The catalog of a server that is not connected. */
export const EMPTY_MCP_SERVER_CATALOG: McpServerCatalog = { tools: [], toolSummaries: [], prompts: [] };
const DESCRIPTION_CHARS = 200;

/** Fetches one list of a server; resources are not part of the catalog and fetched on demand. */
export async function fetchMcpCatalogPart(
  connection: McpServerConnection,
  options: McpServerToolsOptions,
  kind: McpListKind,
): Promise<Partial<McpServerCatalog>> {
  if (kind === 'resources') return {};
  return kind === 'tools' ? fetchTools(connection, options) : fetchPrompts(connection, options);
}

async function fetchTools(
  connection: McpServerConnection,
  options: McpServerToolsOptions,
): Promise<Pick<McpServerCatalog, 'tools' | 'toolSummaries'>> {
  const listed = connection.hasCapability('tools') ? await connection.listTools() : [];
  return {
    tools: createMcpServerTools(listed, options),
    toolSummaries: listed.map(({ name, description }) => ({
      name: sanitizeUntrustedLine(name, DESCRIPTION_CHARS),
      ...(description === undefined ? {} : { description: sanitizeUntrustedLine(description, DESCRIPTION_CHARS) }),
    })),
  };
}

/** Fetches the prompts; a failure counts as none, so the server's tools stay usable. */
async function fetchPrompts(
  connection: McpServerConnection,
  options: McpServerToolsOptions,
): Promise<Pick<McpServerCatalog, 'prompts'>> {
  const listed = connection.hasCapability('prompts') ? await connection.listPrompts().catch(() => []) : [];
  return {
    prompts: createMcpPromptCommands(listed, { ...options, canComplete: connection.hasCapability('completions') }),
  };
}

/** Compares two lists of tools by name and definition; a changed tool counts as added. */
export function diffMcpTools(
  before: readonly Tool[],
  after: readonly Tool[],
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  const mapSpecs = (tools: readonly Tool[]) => new Map(tools.map((tool) => [tool.name, JSON.stringify(tool.spec)]));
  const [oldSpecs, newSpecs] = [mapSpecs(before), mapSpecs(after)];
  return {
    added: [...newSpecs].flatMap(([name, spec]) => (oldSpecs.get(name) === spec ? [] : [name])),
    removed: [...oldSpecs.keys()].filter((name) => !newSpecs.has(name)),
  };
}
