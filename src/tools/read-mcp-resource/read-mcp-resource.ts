import { z } from 'zod';
import type { ResultBlock } from '../../contracts/message.ts';
import type { ToolStatement } from '../../contracts/permission.ts';
import { buildTool } from '../build-tool.ts';

/** What it says of itself to those who decide about its calls. */
export const readMcpResourceStatement: ToolStatement = { name: 'ReadMcpResource', result: 'repeatable' };

/** Reads one resource of a server. */
export function createReadMcpResourceTool(
  read: (server: string, uri: string, signal: AbortSignal) => Promise<readonly ResultBlock[]>,
) {
  return buildTool({
    ...readMcpResourceStatement,
    prompt: 'Reads a resource of an MCP server by its uri.',
    input: z.object({ server: z.string(), uri: z.string() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ server, uri }) => `Read ${server} ${uri}`,
    call: async ({ server, uri }, { signal }) => ({ content: await read(server, uri, signal) }),
  });
}
