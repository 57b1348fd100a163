import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';
import type { JsonObject } from '../../../contracts/json.ts';
import type { UserBlock } from '../../../contracts/message.ts';

/** A prompt of an editor, split into what a conversation takes. */
export type AcpPromptContent = {
  /** Text of the prompt, with `@path` for every linked file. */
  readonly text: string;
  readonly images: readonly { readonly mediaType: string; readonly data: string }[];
  /** Embedded files, not parsed for commands and mentions. */
  readonly attached: readonly UserBlock[];
};

const resource = z.union([
  z.object({ uri: z.string(), text: z.string() }),
  z.object({ uri: z.string(), blob: z.string(), mimeType: z.string().nullish() }),
]);
const promptParams = z.object({
  sessionId: z.string(),
  prompt: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
      z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string() }),
      z.object({ type: z.literal('resource'), resource }),
    ]),
  ),
});

/** Parses the parameters of an extension method that carries a prompt; throws for other ones. */
export const parsePromptParams = (params: unknown) => promptParams.parse(params);

/** Splits the blocks of a prompt into text, images and attached files. */
export function parseAcpPromptContent(prompt: readonly ContentBlock[]): AcpPromptContent {
  return {
    text: prompt.map(formatBlock).join(''),
    images: prompt.flatMap((block) =>
      block.type === 'image' ? [{ mediaType: block.mimeType, data: block.data }] : [],
    ),
    attached: prompt.flatMap((block): readonly UserBlock[] => {
      if (block.type !== 'resource') return [];
      if (!('text' in block.resource)) return convertBlob(block.resource);
      const { uri, text } = block.resource;
      return [{ type: 'text', text: `<file path="${uriToPath(uri)}">\n${text}\n</file>` }];
    }),
  };
}

function formatBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return formatMention(uriToPath(block.uri));
    case 'resource':
      // In the text of the prompt an embedded file is its path.
      return uriToPath(block.resource.uri);
    case 'audio':
      return '[audio, not supported]';
    default:
      return '';
  }
}

type BlobResource = Extract<Extract<ContentBlock, { type: 'resource' }>['resource'], { blob: string }>;

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Converts an embedded binary: images and PDFs become media, text is decoded, anything else is only named. */
function convertBlob({ uri, blob, mimeType }: BlobResource): readonly UserBlock[] {
  const type = mimeType ?? '';
  const source = { type: 'base64', media_type: type, data: blob } as const;
  if (IMAGE_TYPES.includes(type)) return [{ type: 'image', source }];
  if (type === 'application/pdf') return [{ type: 'document', source }];
  const name = uriToPath(uri);
  if (!/^text\/|[/+](?:json|xml|yaml)$/.test(type))
    return [
      { type: 'text', text: `<file path="${name}">(${type === '' ? 'binary' : type}, not readable here)</file>` },
    ];
  return [{ type: 'text', text: `<file path="${name}">\n${Buffer.from(blob, 'base64').toString('utf8')}\n</file>` }];
}

function formatMention(path: string): string {
  return /[\s"]/.test(path) ? ` @"${path}" ` : ` @${path} `;
}

function uriToPath(uri: string): string {
  if (!uri.startsWith('file://')) return uri;
  const path = decodeURIComponent(new URL(uri).pathname);
  // A drive has a slash before it in an address: `file:///C:/a`.
  return path.replace(/^\/(?=[a-z]:\/)/i, '');
}

/** Converts the MCP servers of an editor to the form of `--mcp-config`. */
export function convertAcpMcpServers(servers: readonly McpServer[]): readonly string[] {
  if (servers.length === 0) return [];
  const entries = servers.flatMap((server): readonly (readonly [string, JsonObject])[] => {
    // Servers inside the editor process are not supported.
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
