import { TemporarilyUnavailableError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetch } from '../../lib/network/fetch.ts';

/** Limit for one reply of an authorization server: a call of a tool waits for it. */
export const AUTH_SERVER_TIMEOUT_MS = 10_000;

/** Sends a request to an authorization server. Rejects with its name if the whole reply does not arrive in time. */
export async function fetchFromAuthServer(
  input: string | URL,
  init: RequestInit = {},
  timeoutMs: number = AUTH_SERVER_TIMEOUT_MS,
): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = init.signal === undefined || init.signal === null ? limit : AbortSignal.any([init.signal, limit]);
  try {
    const response = await fetch(input, { ...init, signal });
    const body = await response.arrayBuffer();
    // A reply such as 204 may not have a body, not even an empty one.
    return new Response(body.byteLength === 0 ? null : body, response);
  } catch (thrown) {
    if (!limit.aborted) throw thrown;
    const { origin } = new URL(String(input));
    throw createRenewalError(`The authorization server ${origin} did not answer within ${timeoutMs / 1000} s`);
  }
}

/** Creates a fetch that sends requests to the MCP server at `url` as they are, and others to authorization servers. */
export function createMcpFetch(url: string): FetchLike {
  return (input, init) =>
    isMcpRequest(url, input, new Headers(init?.headers)) ? fetch(input, init) : fetchFromAuthServer(input, init);
}

/** Servers of the older SSE transport receive messages at another address, so the header is checked as well. */
export function isMcpRequest(url: string, input: string | URL, headers: Headers): boolean {
  return (
    new URL(String(input)).href === new URL(url).href || headers.get('authorization')?.startsWith('Bearer ') === true
  );
}

/** Creates the error of a renewal that can succeed later: the SDK takes others for the end of the login. */
export const createRenewalError = (why: string) => new TemporarilyUnavailableError(`${why}. Try again later.`);

/** Returns true for the error of a renewal that can succeed later. */
export const isRenewalFailure = (thrown: unknown): boolean => thrown instanceof TemporarilyUnavailableError;
