import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthChoice } from '../config/configured-server.ts';
import type { CredentialStore, Credentials } from './credentials.ts';

export type ProviderParts = {
  readonly url: string;
  readonly store: CredentialStore;
  readonly redirectUrl: string;
  readonly state: string;
  /** Who we are to this server, where somebody has registered us. */
  readonly oauth: OAuthChoice | undefined;
  /** Where the person has to go. */
  readonly visit: (address: URL) => void;
};

/** Who we are to a server and where it sends people back to. */
export function clientFacts(redirectUrl: string): Pick<OAuthClientProvider, 'redirectUrl' | 'clientMetadata'> {
  return {
    redirectUrl,
    clientMetadata: {
      client_name: 'ouro',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  };
}

/** A client that was registered by hand; an address as an id is none, the server looks there itself. */
function registeredClient(oauth: OAuthChoice | undefined): Credentials['client'] {
  if (oauth?.clientId === undefined || isAddress(oauth.clientId)) return undefined;
  const secret = oauth.clientSecret === undefined ? {} : { client_secret: oauth.clientSecret };
  return { client_id: oauth.clientId, ...secret };
}

/** Where a server may read who we are, instead of registering us. */
function metadataAddress(oauth: OAuthChoice | undefined): Pick<OAuthClientProvider, 'clientMetadataUrl'> {
  return oauth?.clientId !== undefined && isAddress(oauth.clientId) ? { clientMetadataUrl: oauth.clientId } : {};
}

const isAddress = (text: string) => /^https?:\/\//.test(text);

/** What the MCP library asks during a login. Only one that succeeds takes the place of an earlier one. */
export function authProvider(parts: ProviderParts): OAuthClientProvider {
  let client: Credentials['client'] = registeredClient(parts.oauth);
  let tokens: Credentials['tokens'];
  let verifier = '';
  return {
    ...clientFacts(parts.redirectUrl),
    ...metadataAddress(parts.oauth),
    state: () => parts.state,
    clientInformation: () => client,
    saveClientInformation(information) {
      client = information;
    },
    tokens: () => tokens,
    async saveTokens(fresh) {
      tokens = fresh;
      await parts.store.keep(parts.url, { client, tokens });
    },
    redirectToAuthorization: parts.visit,
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') client = undefined;
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
    },
  };
}
