import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import type { Challenge, CredentialStore } from './credentials.ts';

/** Keeps what a server says when it refuses, for the login that follows: that may be another process. */
export function notingChallenges(
  url: string,
  store: CredentialStore,
  fetchOwn: FetchLike,
  refusals: readonly number[],
): FetchLike {
  return async (input, init) => {
    const response = await fetchOwn(input, init);
    const challenge = refusals.includes(response.status) ? challengeOf(response) : undefined;
    if (challenge !== undefined) await store.challenged(url, challenge);
    return response;
  };
}

/** Asks a server without a login, to hear which one it wants. */
export async function askForChallenge(url: string, signal: AbortSignal): Promise<Challenge | undefined> {
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
      signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]),
    });
    await response.body?.cancel();
    return challengeOf(response);
  } catch {
    // Where nobody answers, the login itself says so.
    return undefined;
  }
}

const ASK_MS = 10_000;

function challengeOf(response: Response): Challenge | undefined {
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  if (scope === undefined && resourceMetadataUrl === undefined) return undefined;
  return { scope, resourceMetadata: resourceMetadataUrl?.href };
}
