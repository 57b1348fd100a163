import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk/unstable';
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
    attached: prompt.flatMap((block): readonly UserBlock[] => {
      if (block.type !== 'resource') return [];
      if (!('text' in block.resource)) return blobOf(block.resource);
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
      return pathOf(block.resource.uri);
    case 'audio':
      return '[sound, which cannot be heard here]';
    default:
      return '';
  }
}

type Blob = Extract<Extract<ContentBlock, { type: 'resource' }>['resource'], { blob: string }>;

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** A file of bytes: a picture or a PDF is seen, text is read, anything else is named. */
function blobOf({ uri, blob, mimeType }: Blob): readonly UserBlock[] {
  const type = mimeType ?? '';
  const source = { type: 'base64', media_type: type, data: blob } as const;
  if (PICTURES.includes(type)) return [{ type: 'image', source }];
  if (type === 'application/pdf') return [{ type: 'document', source }];
  const name = pathOf(uri);
  if (!/^text\/|[/+](?:json|xml|yaml)$/.test(type))
    return [{ type: 'text', text: `<file path="${name}">(${type === '' ? 'bytes' : type}, not readable here)</file>` }];
  return [{ type: 'text', text: `<file path="${name}">\n${Buffer.from(blob, 'base64').toString('utf8')}\n</file>` }];
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
  const entries = servers.flatMap((server): readonly (readonly [string, JsonObject])[] => {
    // Servers inside the editor are not spoken to.
    if ('type' in server && server.type === 'acp') return [];
    if (!('type' in server)) {
      const { command, args, env } = server;
      return [[server.name, { command, args, env: Object.fromEntries(env.map(({ name, value }) => [name, value])) }]];
    }
    const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
    return [[server.name, { type: server.type, url: server.url, headers }]];
  });
  return [JSON.stringify({ mcpServers: Object.fromEntries(entries) })];
}
