import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolFailure } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';
import { formatBytes } from '../../lib/text/format.ts';
import type { CheckedAddress } from './page-address.ts';

export type PageResponse =
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'page'; readonly status: number; readonly contentType: string; readonly body: Buffer };

export type RequestLimits = { readonly maxBytes: number; readonly userAgent: string };

/** One GET to the address that was checked, whatever the name means by now. No cookies, no credentials. */
export function requestPage(
  { url, address }: CheckedAddress,
  limits: RequestLimits,
  signal: AbortSignal,
): Promise<PageResponse> {
  const begin = url.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const refuse = (why: unknown) => reject(failureOf(why, url));
    const sent = begin(
      url,
      {
        lookup: always(address),
        agent: false,
        signal,
        headers: {
          'user-agent': limits.userAgent,
          accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5',
          'accept-encoding': 'identity',
        },
      },
      (response) => {
        const location = redirectOf(response);
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
          refuse,
        );
      },
    );
    sent.on('error', refuse);
    sent.end();
  });
}

/** Answers every question for an address with the one that was checked. */
function always(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4;
  return (_host, options, answer) => {
    if (options.all === true) answer(null, [{ address, family }]);
    else answer(null, address, family);
  };
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? headers.location : undefined;
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Some servers compress although they were asked not to. What counts is the size of what comes out.
  for await (const chunk of unpacked(response)) {
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

function unpacked(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return response;
  const unpacker = UNPACKERS[encoding];
  if (unpacker === undefined) {
    response.destroy();
    throw new ToolFailure(`The server sends the page packed as ${encoding}, which cannot be read.`);
  }
  const unpacking = unpacker();
  response.on('error', (problem) => unpacking.destroy(problem));
  return response.pipe(unpacking);
}

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

function failureOf(why: unknown, url: URL): Error {
  if (why instanceof ToolFailure) return why;
  return new ToolFailure(`${url.host} could not be read: ${messageOf(why)}.`, { cause: why });
}
