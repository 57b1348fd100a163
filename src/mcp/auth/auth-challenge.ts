import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { fetch } from '../../lib/network/fetch.ts';
import type { AuthChallenge, McpCredentialStore } from './mcp-credentials.ts';

/** Wraps fetch to store the challenge of a refused request for a later login, possibly in another process. */
export function recordAuthChallenges(
  url: string,
  store: McpCredentialStore,
  fetchFn: FetchLike,
  statuses: readonly number[],
): FetchLike {
  return async (input, init) => {
    const response = await fetchFn(input, init);
    const challenge = statuses.includes(response.status) ? readChallenge(response) : undefined;
    if (challenge !== undefined) await store.saveChallenge(url, challenge);
    return response;
  };
}

/** Sends a request without credentials to learn which login the server wants. */
export async function requestAuthChallenge(url: string, signal: AbortSignal): Promise<AuthChallenge | undefined> {
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'ouro', version: '1' },
  };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return readChallenge(response);
  } catch {
    // An unreachable server is reported by the login itself.
    return undefined;
  }
}

const REQUEST_TIMEOUT_MS = 10_000;

function readChallenge(response: Response): AuthChallenge | undefined {
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  if (scope === undefined && resourceMetadataUrl === undefined) return undefined;
  return { scope, resourceMetadata: resourceMetadataUrl?.href };
}
