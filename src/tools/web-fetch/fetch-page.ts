import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { type CheckedFetchAddress, checkFetchAddress, type FetchAddressPolicy, parseFetchUrl } from './check-url.ts';
import type { WebPage } from './page-cache.ts';

const MAX_REDIRECTS = 5;

/** A page, or the URL of another host that it redirects to; the model must request that one itself. */
export type PageFetchResult =
  | { readonly kind: 'page'; readonly page: WebPage }
  | { readonly kind: 'elsewhere'; readonly url: string };

/** Fetches a page and follows redirects within its host; every step is resolved and checked again. */
export async function fetchPage(
  start: URL,
  network: FetchAddressPolicy,
  limits: PageRequestOptions,
  signal: AbortSignal,
): Promise<PageFetchResult> {
  let address = await checkFetchAddress(start, network);
  for (let step = 0; step <= MAX_REDIRECTS; step += 1) {
    signal.throwIfAborted();
    const response = await requestPage(address, limits, signal);
    if (response.kind === 'page') {
      const { status, contentType, body } = response;
      const text = await convertPageToText(body, contentType);
      return { kind: 'page', page: { url: address.url.href, status, bytes: body.length, text } };
    }
    const next = resolveRedirect(response.location, address.url);
    if (next.hostname !== address.url.hostname) return { kind: 'elsewhere', url: next.href };
    address = await checkFetchAddress(next, network);
  }
  throw new ToolFailure(`${start.host} redirects in circles. Try another address of the page.`);
}

function resolveRedirect(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href)) throw new ToolFailure(`${from.host} redirects to something that is no URL.`);
  return parseFetchUrl(new URL(location, from.href).href);
}

/** Response of a page request. */
export type PageResponse =
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'page'; readonly status: number; readonly contentType: string; readonly body: Buffer };

/** Options of a page request. */
export type PageRequestOptions = { readonly maxBytes: number; readonly userAgent: string };

/** Sends one GET request to the checked address, without resolving the host again. Sends no cookies or credentials. */
function requestPage(
  { url, address }: CheckedFetchAddress,
  limits: PageRequestOptions,
  signal: AbortSignal,
): Promise<PageResponse> {
  const startRequest = url.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const fail = (why: unknown) => reject(toFailure(why, url));
    const clientRequest = startRequest(
      url,
      {
        lookup: createFixedLookup(address),
        agent: false,
        signal,
        headers: {
          'user-agent': limits.userAgent,
          accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5',
          'accept-encoding': 'identity',
        },
      },
      (response) => {
        const location = getRedirect(response);
        if (location !== undefined) {
          response.destroy();
          resolve({ kind: 'redirect', location });
          return;
        }
        readBody(response, limits.maxBytes).then(
          (body) =>
            resolve({
              kind: 'page',
              status: response.statusCode ?? 0,
              contentType: response.headers['content-type'] ?? '',
              body,
            }),
          fail,
        );
      },
    );
    clientRequest.on('error', fail);
    clientRequest.end();
  });
}

/** Creates a DNS lookup that always returns the checked address. */
function createFixedLookup(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4;
  return (_host, options, answer) => {
    if (options.all === true) answer(null, [{ address, family }]);
    else answer(null, address, family);
  };
}

function getRedirect({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? headers.location : undefined;
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Some servers compress although identity was requested. The limit applies to the decompressed size.
  for await (const chunk of decompressBody(response)) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) {
      response.destroy();
      throw new ToolFailure(`The page is larger than ${formatBytes(maxBytes)}. Find a smaller one, or use a command.`);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function decompressBody(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return response;
  const createDecompressor = DECOMPRESSORS[encoding];
  if (createDecompressor === undefined) {
    response.destroy();
    throw new ToolFailure(`The server sends the page packed as ${encoding}, which cannot be read.`);
  }
  const decompressor = createDecompressor();
  response.on('error', (problem) => decompressor.destroy(problem));
  return response.pipe(decompressor);
}

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

function toFailure(reason: unknown, url: URL): Error {
  if (reason instanceof ToolFailure) return reason;
  return new ToolFailure(`${url.host} could not be read: ${getErrorPhrase(reason)}.`, { cause: reason });
}

const REMOVED_ELEMENTS = ['script', 'style', 'noscript', 'template', 'iframe', 'object', 'embed', 'form'] as const;
const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.+-]*(?:json|xml|yaml|javascript|toml)|x-sh\b))/;

/** Converts a page to text: HTML becomes Markdown, other text is unchanged, other content is rejected. */
async function convertPageToText(body: Buffer, contentType: string): Promise<string> {
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType !== '' && !TEXT_TYPE.test(mediaType)) {
    throw new ToolFailure(
      `The address holds ${mediaType} (${formatBytes(body.length)}), not text. Download it with a command and use Read.`,
    );
  }
  const text = createDecoder(contentType).decode(body);
  const isHtml = mediaType.includes('html') || (mediaType === '' && /^\s*<(?:!doctype|html)/i.test(text));
  return isHtml ? toMarkdown(text) : text;
}

/** Creates a decoder for the charset of the server; UTF-8 if it names none or an unknown one. */
function createDecoder(contentType: string): { decode(bytes: Buffer): string } {
  const charset = /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

async function toMarkdown(html: string): Promise<string> {
  const { default: TurndownService } = await import('turndown');
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove([...REMOVED_ELEMENTS]);
  // Images in data URLs would add megabytes without text.
  service.addRule('pictures', {
    filter: 'img',
    replacement: (_text, node) => ('getAttribute' in node ? renderAlt(node.getAttribute('alt')) : ''),
  });
  return service
    .turndown(html)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function renderAlt(alt: string | null): string {
  return alt === null || alt.trim() === '' ? '' : `[picture: ${alt.trim()}]`;
}
