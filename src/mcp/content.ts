import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../contracts/json.ts';
import type { ResultBlock } from '../contracts/message.ts';
import type { ToolOutcome } from '../contracts/tool.ts';
import { asJson } from '../lib/as-json.ts';
import { isDeeperThan, MAX_DEPTH } from '../lib/depth.ts';
import { formatBytes } from '../lib/text/format.ts';
import { untrustedLine, untrustedText } from '../lib/text/sanitize.ts';

type ResourceContents = ReadResourceResult['contents'][number];

const SHOWN_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'];
/** What the API takes of one picture, as base64. */
const MOST_BASE64_CHARS = 5 * 1024 * 1024;
const URI_CHARS = 500;
const LEFT_OUT = `[structured answer left out: it is nested more than ${MAX_DEPTH} levels deep]`;

/** Keeps bytes that no model can be shown; answers with where they are, or why not, to be read behind a comma. */
export type KeepBytes = (bytes: Uint8Array, mediaType: string) => Promise<string>;

/** What a server answered, as the model gets it. */
export async function outcomeOf(result: CallToolResult, keep: KeepBytes | undefined): Promise<ToolOutcome> {
  const structured = isReadable(result.structuredContent) ? asJson(result.structuredContent) : undefined;
  // The text beside a structured answer says the same again.
  const wanted = result.content.filter(({ type }) => structured === undefined || type !== 'text');
  const blocks = await inTurn(wanted, (block) => keptBlocks(block, keep));
  const isLeftOut = structured === undefined && result.structuredContent !== undefined;
  const first = structured !== undefined ? [structuredBlock(structured)] : isLeftOut ? [textBlock(LEFT_OUT)] : [];
  const all = [...first, ...blocks];
  return {
    content: all.length === 0 ? 'The tool answered with nothing.' : joined(all),
    ...(result.isError === true ? { isError: true } : {}),
    ...(structured === undefined ? {} : { structured }),
  };
}

/** Nobody reads what is nested deeper, and neither writing nor drawing it would come to an end. */
function isReadable<Value>(structured: Value | undefined): structured is Value {
  return structured !== undefined && !isDeeperThan(structured, MAX_DEPTH);
}

function structuredBlock(value: JsonObject): ResultBlock {
  return textBlock(JSON.stringify(value, null, 2));
}

/** Text alone is a string, as most results are. */
function joined(blocks: readonly ResultBlock[]): string | readonly ResultBlock[] {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === blocks.length ? texts.join('\n') : blocks;
}

/** One block of a result; bytes that cannot be shown are kept in a file. */
async function keptBlocks(block: ContentBlock, keep: KeepBytes | undefined): Promise<readonly ResultBlock[]> {
  if (block.type === 'resource') return keptResource(block.resource, keep);
  if (block.type !== 'audio' || keep === undefined) return blocksOf(block);
  return [await keptBlock('a sound', block.mimeType, block.data, keep)];
}

/** What a resource holds, with bytes that cannot be shown kept in a file. */
export async function keptResource(
  contents: ResourceContents,
  keep: KeepBytes | undefined,
): Promise<readonly ResultBlock[]> {
  const isBytes = 'blob' in contents && !isText(typeOf(contents)) && !SHOWN_TYPES.includes(plainType(typeOf(contents)));
  if (!isBytes || keep === undefined) return resourceBlocks(contents);
  const what = `resource ${untrustedLine(contents.uri, URI_CHARS)}`;
  return [await keptBlock(what, typeOf(contents), contents.blob, keep)];
}

async function keptBlock(what: string, mediaType: string, data: string, keep: KeepBytes): Promise<ResultBlock> {
  const bytes = Buffer.from(data, 'base64');
  const where = await keep(bytes, plainType(mediaType));
  return textBlock(`[${what}, ${untrustedLine(mediaType, 80)}, ${formatBytes(bytes.length)}, ${where}]`);
}

/** One after the other: what keeps them has a limit. */
async function inTurn<Item>(
  items: readonly Item[],
  blocksFor: (item: Item) => Promise<readonly ResultBlock[]>,
): Promise<readonly ResultBlock[]> {
  const all: ResultBlock[] = [];
  for (const item of items) all.push(...(await blocksFor(item)));
  return all;
}

/** One block of a result or a prompt. */
export function blocksOf(block: ContentBlock): readonly ResultBlock[] {
  switch (block.type) {
    case 'text':
      return [textBlock(block.text)];
    case 'image':
      return [mediaBlock(block.mimeType, block.data, 'a picture')];
    case 'audio':
      return [textBlock(`[sound, ${untrustedLine(block.mimeType, 80)}, cannot be heard here]`)];
    case 'resource':
      return resourceBlocks(block.resource);
    default: {
      const about = block.description === undefined ? '' : ` — ${untrustedLine(block.description, 300)}`;
      return [
        textBlock(`[resource ${untrustedLine(block.uri, URI_CHARS)}: ${untrustedLine(block.name, 200)}${about}]`),
      ];
    }
  }
}

/** The contents of a resource, with where they are from. */
function resourceBlocks(contents: ResourceContents): readonly ResultBlock[] {
  const uri = untrustedLine(contents.uri, URI_CHARS);
  if ('text' in contents) return [textBlock(`[resource ${uri}]\n${contents.text}`)];
  const type = typeOf(contents);
  const words = isText(type) ? wordsOf(contents.blob) : undefined;
  if (words !== undefined) return [textBlock(`[resource ${uri}]\n${words}`)];
  return [textBlock(`[resource ${uri}]`), mediaBlock(type, contents.blob, `resource ${uri}`)];
}

const typeOf = ({ mimeType }: ResourceContents) => mimeType ?? 'application/octet-stream';

const plainType = (mediaType: string) => mediaType.toLowerCase().split(';')[0]?.trim() ?? '';

const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh)(?:;|$)|[^;]+\+(?:json|xml)(?:;|$))/;

function isText(type: string): boolean {
  return TEXT_TYPES.test(type.toLowerCase());
}

/** The words of bytes that say they are text; `undefined` where they are not. */
function wordsOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}

function textBlock(text: string): ResultBlock {
  return { type: 'text', text: untrustedText(text) };
}

function mediaBlock(mediaType: string, data: string, what: string): ResultBlock {
  const type = plainType(mediaType);
  const base64 = data.replaceAll(/\s/g, '');
  const size = formatBytes(Math.floor((base64.length * 3) / 4));
  const left = (why: string) => textBlock(`[${what}, ${untrustedLine(mediaType, 80)}, ${size}, left out: ${why}]`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return left('it is no base64');
  if (!SHOWN_TYPES.includes(type)) return left('it is neither a picture nor a PDF');
  if (base64.length > MOST_BASE64_CHARS) return left('it is too large');
  const source = { type: 'base64', media_type: type, data: base64 } as const;
  return type === 'application/pdf' ? { type: 'document', source } : { type: 'image', source };
}
