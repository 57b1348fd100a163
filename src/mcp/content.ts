import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../contracts/json.ts';
import type { ResultBlock } from '../contracts/message.ts';
import type { ToolOutcome } from '../contracts/tool.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { copyAsJson, isNestedDeeperThan, MAX_JSON_DEPTH } from '../lib/json.ts';
import { formatBytes } from '../lib/text/format.ts';
import { sanitizeUntrusted, sanitizeUntrustedLine } from '../lib/text/sanitize.ts';

type ResourceContents = ReadResourceResult['contents'][number];

const DISPLAYABLE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'];
/** The API's limit for one image, in base64 characters. */
const MAX_BASE64_CHARS = 5 * 1024 * 1024;
const URI_CHARS = 500;
const TOO_DEEP = `[structured answer left out: it is nested more than ${MAX_JSON_DEPTH} levels deep]`;

/** Saves bytes no model can be shown; returns where they are, or why not, as the end of a sentence. */
export type SaveBinaryContent = (bytes: Uint8Array, mediaType: string) => Promise<string>;

/** Converts the result of a server's tool into the outcome the model reads. */
export async function convertMcpResult(
  result: CallToolResult,
  saveBytes: SaveBinaryContent | undefined,
): Promise<ToolOutcome> {
  const structured = isReadable(result.structuredContent) ? copyAsJson(result.structuredContent) : undefined;
  // The text beside structured content repeats it.
  const relevant = result.content.filter(({ type }) => structured === undefined || type !== 'text');
  const blocks = await convertInOrder(relevant, (block) => convertBlock(block, saveBytes));
  const isTooDeep = structured === undefined && result.structuredContent !== undefined;
  const first = structured !== undefined ? [structuredBlock(structured)] : isTooDeep ? [textBlock(TOO_DEEP)] : [];
  const all = [...first, ...blocks];
  return {
    content: all.length === 0 ? 'The tool returned no content.' : joinText(all),
    ...(result.isError === true ? { isError: true } : {}),
    ...(structured === undefined ? {} : { structured }),
  };
}

/** Returns true when the value is shallow enough to serialize and to display. */
function isReadable<Value>(structured: Value | undefined): structured is Value {
  return structured !== undefined && !isNestedDeeperThan(structured, MAX_JSON_DEPTH);
}

function structuredBlock(value: JsonObject): ResultBlock {
  return textBlock(JSON.stringify(value, null, 2));
}

/** Joins blocks into a string when all of them are text. */
function joinText(blocks: readonly ResultBlock[]): string | readonly ResultBlock[] {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === blocks.length ? texts.join('\n') : blocks;
}

/** Converts one block of a result; bytes that cannot be shown are saved to a file. */
async function convertBlock(
  block: ContentBlock,
  saveBytes: SaveBinaryContent | undefined,
): Promise<readonly ResultBlock[]> {
  if (block.type === 'resource') return convertMcpResource(block.resource, saveBytes);
  if (block.type !== 'audio' || saveBytes === undefined) return convertMcpContentBlock(block);
  return [await saveAsBlock('a sound', block.mimeType, block.data, saveBytes)];
}

/** Converts the contents of a resource; bytes that cannot be shown are saved to a file. */
export async function convertMcpResource(
  contents: ResourceContents,
  saveBytes: SaveBinaryContent | undefined,
): Promise<readonly ResultBlock[]> {
  const isBytes =
    'blob' in contents &&
    !isText(getMediaType(contents)) &&
    !DISPLAYABLE_TYPES.includes(normalizeMediaType(getMediaType(contents)));
  if (!isBytes || saveBytes === undefined) return resourceBlocks(contents);
  const label = `resource ${sanitizeUntrustedLine(contents.uri, URI_CHARS)}`;
  return [await saveAsBlock(label, getMediaType(contents), contents.blob, saveBytes)];
}

async function saveAsBlock(
  label: string,
  mediaType: string,
  data: string,
  saveBytes: SaveBinaryContent,
): Promise<ResultBlock> {
  const bytes = Buffer.from(data, 'base64');
  const where = await saveBytes(bytes, normalizeMediaType(mediaType));
  return textBlock(`[${label}, ${sanitizeUntrustedLine(mediaType, 80)}, ${formatBytes(bytes.length)}, ${where}]`);
}

/** Converts items one after the other: saving counts towards a limit per session. */
async function convertInOrder<Item>(
  items: readonly Item[],
  convert: (item: Item) => Promise<readonly ResultBlock[]>,
): Promise<readonly ResultBlock[]> {
  const all: ResultBlock[] = [];
  for (const item of items) all.push(...(await convert(item)));
  return all;
}

/** Converts one block of a result or a prompt without saving any bytes. */
export function convertMcpContentBlock(block: ContentBlock): readonly ResultBlock[] {
  switch (block.type) {
    case 'text':
      return [textBlock(block.text)];
    case 'image':
      return [mediaBlock(block.mimeType, block.data, 'a picture')];
    case 'audio':
      return [textBlock(`[audio, ${sanitizeUntrustedLine(block.mimeType, 80)}, not supported]`)];
    case 'resource':
      return resourceBlocks(block.resource);
    default: {
      const description = block.description === undefined ? '' : ` — ${sanitizeUntrustedLine(block.description, 300)}`;
      return [
        textBlock(
          `[resource ${sanitizeUntrustedLine(block.uri, URI_CHARS)}: ${sanitizeUntrustedLine(block.name, 200)}${description}]`,
        ),
      ];
    }
  }
}

/** Converts the contents of a resource, headed by its address. */
function resourceBlocks(contents: ResourceContents): readonly ResultBlock[] {
  const uri = sanitizeUntrustedLine(contents.uri, URI_CHARS);
  if ('text' in contents) return [textBlock(`[resource ${uri}]\n${contents.text}`)];
  const type = getMediaType(contents);
  const text = isText(type) ? decodeText(contents.blob) : undefined;
  if (text !== undefined) return [textBlock(`[resource ${uri}]\n${text}`)];
  return [textBlock(`[resource ${uri}]`), mediaBlock(type, contents.blob, `resource ${uri}`)];
}

const getMediaType = ({ mimeType }: ResourceContents) => mimeType ?? 'application/octet-stream';

const normalizeMediaType = (mediaType: string) => mediaType.toLowerCase().split(';')[0]?.trim() ?? '';

const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh)(?:;|$)|[^;]+\+(?:json|xml)(?:;|$))/;

function isText(type: string): boolean {
  return TEXT_TYPES.test(type.toLowerCase());
}

/** Decodes base64 as UTF-8; `undefined` when the bytes are not valid UTF-8. */
function decodeText(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}

function textBlock(text: string): ResultBlock {
  return { type: 'text', text: sanitizeUntrusted(text) };
}

function mediaBlock(mediaType: string, data: string, label: string): ResultBlock {
  const type = normalizeMediaType(mediaType);
  const base64 = data.replaceAll(/\s/g, '');
  const size = formatBytes(Math.floor((base64.length * 3) / 4));
  const omitted = (reason: string) =>
    textBlock(`[${label}, ${sanitizeUntrustedLine(mediaType, 80)}, ${size}, left out: ${reason}]`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return omitted('it is not base64');
  if (!DISPLAYABLE_TYPES.includes(type)) return omitted('it is neither a picture nor a PDF');
  if (base64.length > MAX_BASE64_CHARS) return omitted('it is too large');
  const source = { type: 'base64', media_type: type, data: base64 } as const;
  return type === 'application/pdf' ? { type: 'document', source } : { type: 'image', source };
}

/** Total bytes servers may save in one session. */
const MAX_SAVED_BYTES = 100 * 1024 * 1024;

/** Creates a store that saves servers' bytes beside the session, in files named by their hash. */
export function createBinaryContentStore(folder: () => string, maxBytes = MAX_SAVED_BYTES): SaveBinaryContent {
  let savedBytes = 0;
  const savedPaths = new Set<string>();
  return async (bytes, mediaType) => {
    const name = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const path = join(folder(), `${name}.${getExtension(mediaType)}`);
    if (savedPaths.has(path)) return `kept in ${path}`;
    if (savedBytes + bytes.length > maxBytes)
      return `left out: servers may leave ${formatBytes(maxBytes)} in one session`;
    savedBytes += bytes.length;
    savedPaths.add(path);
    try {
      await mkdir(folder(), { recursive: true, mode: 0o700 });
      await writeFile(path, bytes, { mode: 0o600 });
      return `kept in ${path}`;
    } catch (problem) {
      savedPaths.delete(path);
      return `left out: it could not be saved (${getErrorMessage(problem)})`;
    }
  };
}

/** Returns the usual file extension of a media type: its subtype when that is a plain word, else `bin`. */
function getExtension(mediaType: string): string {
  const [, subtype = 'bin'] = /^[a-z]+\/(?:x-|vnd\.)?([a-z0-9]{1,8})$/.exec(mediaType) ?? [];
  return EXTENSIONS[subtype] ?? subtype;
}

const EXTENSIONS: Readonly<Record<string, string>> = { mpeg: 'mp3', gzip: 'gz', svg: 'svg', plain: 'txt' };
