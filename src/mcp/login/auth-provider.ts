import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { CredentialStore, Credentials } from './credentials.ts';

export type ProviderParts = {
  readonly url: string;
  readonly store: CredentialStore;
  readonly redirectUrl: string;
  readonly state: string;
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

/** What the MCP library asks during a login. Only one that succeeds takes the place of an earlier one. */
export function authProvider(parts: ProviderParts): OAuthClientProvider {
  let { client, tokens }: Credentials = {};
  let verifier = '';
  return {
    ...clientFacts(parts.redirectUrl),
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
