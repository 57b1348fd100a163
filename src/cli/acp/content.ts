import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk';
import type { JsonObject } from '../../contracts/json.ts';
import type { UserBlock } from '../../contracts/message.ts';

/** What an editor sends as a prompt, in our blocks. */
export function blocksOf(prompt: readonly ContentBlock[]): readonly UserBlock[] {
  return prompt.flatMap(blockOf);
}

function blockOf(block: ContentBlock): readonly UserBlock[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
      return [{ type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } }];
    case 'resource_link':
      return [{ type: 'text', text: `@${pathOf(block.uri)}` }];
    case 'resource':
      return 'text' in block.resource
        ? [{ type: 'text', text: `<file path="${pathOf(block.resource.uri)}">\n${block.resource.text}\n</file>` }]
        : [];
    default:
      return [];
  }
}

function pathOf(uri: string): string {
  return uri.startsWith('file://') ? decodeURIComponent(new URL(uri).pathname) : uri;
}

/** The editor's MCP servers in the form of `--mcp-config`. */
export function mcpConfigOf(servers: readonly McpServer[]): readonly string[] {
  if (servers.length === 0) return [];
  const entries = servers.map((server): readonly [string, JsonObject] => {
    if (!('type' in server)) {
      const { command, args, env } = server;
      return [server.name, { command, args, env: Object.fromEntries(env.map(({ name, value }) => [name, value])) }];
    }
    const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
    return [server.name, { type: server.type, url: server.url, headers }];
  });
  return [JSON.stringify({ mcpServers: Object.fromEntries(entries) })];
}
