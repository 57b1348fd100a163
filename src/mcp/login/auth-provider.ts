import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { CredentialStore, Credentials } from './credentials.ts';

export type ProviderParts = {
  readonly url: string;
  readonly store: CredentialStore;
  readonly known: Credentials;
  readonly redirectUrl: string;
  readonly state: string;
  /** Where the person has to go. Without a person there is nobody to send. */
  readonly visit: (address: URL) => void;
};

/** What the MCP library asks during a login, and whenever a token has run out. */
export function authProvider(parts: ProviderParts): OAuthClientProvider {
  let { client, tokens } = parts.known;
  let verifier = '';
  const keep = () => parts.store.keep(parts.url, { client, tokens });
  return {
    redirectUrl: parts.redirectUrl,
    clientMetadata: {
      client_name: 'ouro',
      redirect_uris: [parts.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => parts.state,
    clientInformation: () => client,
    async saveClientInformation(information) {
      client = information;
      await keep();
    },
    tokens: () => tokens,
    async saveTokens(fresh) {
      tokens = fresh;
      await keep();
    },
    redirectToAuthorization: parts.visit,
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    async invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') client = undefined;
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
      await keep();
    },
  };
}
