import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk';
import type { JsonObject } from '../../contracts/json.ts';
import type { UserBlock } from '../../contracts/message.ts';

/** What an editor sends as a prompt. */
export type EditorPrompt = {
  /** What was written, with `@path` for every file that is linked. */
  readonly words: string;
  readonly images: readonly { readonly mediaType: string; readonly data: string }[];
  /** Files that came along whole: nobody looks for commands or mentions in them. */
  readonly attached: readonly UserBlock[];
};

export function readEditorPrompt(prompt: readonly ContentBlock[]): EditorPrompt {
  return {
    words: prompt.map(wordsOf).join(''),
    images: prompt.flatMap((block) =>
      block.type === 'image' ? [{ mediaType: block.mimeType, data: block.data }] : [],
    ),
    attached: prompt.flatMap((block): UserBlock[] => {
      if (block.type !== 'resource' || !('text' in block.resource)) return [];
      const { uri, text } = block.resource;
      return [{ type: 'text', text: `<file path="${pathOf(uri)}">\n${text}\n</file>` }];
    }),
  };
}

function wordsOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return mention(pathOf(block.uri));
    case 'resource':
      // Where it stands in the sentence, a file is its name.
      return 'text' in block.resource ? pathOf(block.resource.uri) : '';
    default:
      return '';
  }
}

function mention(path: string): string {
  return /[\s"]/.test(path) ? ` @"${path}" ` : ` @${path} `;
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
