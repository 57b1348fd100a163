import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

export type McpResource = {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly description?: string;
};

/** What it says of itself to those who decide about its calls. */
export const listMcpResourcesStatement: ToolStatement = {
  name: 'ListMcpResources',
  facts: sessionFacts,
  result: 'repeatable',
};

/** What the connected servers have to read. */
export function createListMcpResourcesTool(list: (server: string | undefined) => Promise<readonly McpResource[]>) {
  return buildTool({
    ...listMcpResourcesStatement,
    prompt: 'Lists resources of the connected MCP servers, or of one server.',
    input: z.object({ server: z.string().optional() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    async call({ server }) {
      const found = await list(server);
      if (found.length === 0) return { content: 'There are no resources.' };
      const lines = found.map(
        (one) => `${one.server}: ${one.uri} ${one.name}${one.description === undefined ? '' : ` — ${one.description}`}`,
      );
      return {
        content: lines.join('\n'),
        display: { kind: 'list', summary: `${found.length} resources`, items: lines, total: found.length },
      };
    },
  });
}
