import { z } from 'zod';
import type { ResultBlock } from '../contracts/message.ts';
import { buildTool } from './definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';
import { getSessionOnlyFacts } from './tool-facts.ts';

/** A resource that an MCP server offers. */
type McpResource = {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly description?: string;
};

const SERVER_SYNONYMS = ['server_name', 'mcp_server', 'name'];

/** The traits of the ListMcpResources tool. */
export const listMcpResourcesTraits: BuiltInToolTraits = defineToolTraits({
  name: 'ListMcpResources',
  facts: getSessionOnlyFacts,
  result: 'repeatable',
  forms: { names: ['list_mcp_resources_tool'], synonyms: { server: SERVER_SYNONYMS }, ignored: ['cursor'] },
});

/** Creates the tool that lists the resources of MCP servers. */
export function createListMcpResourcesTool(list: (server: string | undefined) => Promise<readonly McpResource[]>) {
  return buildTool({
    ...listMcpResourcesTraits,
    prompt: 'Lists resources of the connected MCP servers, or of one server.',
    input: z.strictObject({ server: z.string().optional() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    async call({ server }) {
      const found = await list(server);
      if (found.length === 0) return { content: 'There are no resources.' };
      const lines = found.map(
        (resource) =>
          `${resource.server}: ${resource.uri} ${resource.name}${resource.description === undefined ? '' : ` — ${resource.description}`}`,
      );
      return {
        content: lines.join('\n'),
        display: { kind: 'list', summary: `${found.length} resources`, items: lines, total: found.length },
      };
    },
  });
}

/** The traits of the ReadMcpResource tool. */
export const readMcpResourceTraits: BuiltInToolTraits = defineToolTraits({
  name: 'ReadMcpResource',
  result: 'repeatable',
  forms: {
    names: ['read_mcp_resource_tool', 'access_mcp_resource', 'fetch_mcp_resource'],
    synonyms: { server: SERVER_SYNONYMS, uri: ['url', 'resource', 'resource_uri'] },
  },
});

/** Creates the tool that reads a resource of an MCP server. */
export function createReadMcpResourceTool(
  read: (server: string, uri: string, signal: AbortSignal) => Promise<readonly ResultBlock[]>,
) {
  return buildTool({
    ...readMcpResourceTraits,
    prompt: 'Reads a resource of an MCP server by its uri.',
    input: z.strictObject({ server: z.string(), uri: z.string() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ server, uri }) => `Read ${server} ${uri}`,
    call: async ({ server, uri }, { signal }) => ({ content: await read(server, uri, signal) }),
  });
}
