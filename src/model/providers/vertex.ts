import type { GoogleAuth } from 'google-auth-library';
import { getErrorMessage } from '../../lib/errors.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { splitRegionFromModelName } from '../claude-model-ids.ts';
import { KeyUnavailableError } from '../stream/failures.ts';
import { getOrigin } from '../stream/http-stream.ts';
import { buildAnthropicClientOptions, type MessagesApiService } from './anthropic/messages-api-port.ts';
import type { MessagesSettings } from './anthropic/messages-request.ts';
import {
  buildCloudGatewayHeaders,
  type CloudSettings,
  isVariableEnabled,
  readFirstVariable,
  resolveVertexRegion,
} from './cloud-settings.ts';
import { coalesceRenewals, runCredentialCommand } from './credential-renewal.ts';

type Client = Awaited<ReturnType<MessagesApiService['loadClient']>>;

/** Creates the Google Vertex AI service, which authenticates with Google Cloud tokens. */
export function createVertexService(settings: CloudSettings, clientSettings: MessagesSettings): MessagesApiService {
  const source = createGoogleAuthSource(settings, clientSettings.fetch);
  const skipsAuth = isVariableEnabled(settings.variables.CLAUDE_CODE_SKIP_VERTEX_AUTH);
  const clients = new Map<string, Promise<Client>>();

  const resolveRegion = (model: string) => resolveVertexRegion(settings, model);
  const buildUrl = (model: string) =>
    readFirstVariable(settings, 'ANTHROPIC_VERTEX_BASE_URL') ?? buildDefaultUrl(resolveRegion(model));

  async function loadClient(model: string): Promise<Client> {
    const { AnthropicVertex } = await import('@anthropic-ai/vertex-sdk');
    const { PassThroughClient } = await import('google-auth-library');
    return new AnthropicVertex({
      ...buildAnthropicClientOptions(clientSettings),
      region: resolveRegion(model),
      projectId: await source.getProject(),
      baseURL: buildUrl(model).replace(/(?<!\/)\/+$/, ''),
      // Authentication headers are set per request, so that tokens can be renewed.
      authClient: new PassThroughClient(),
    });
  }

  return {
    name: 'vertex',
    getOrigin: (model) => getOrigin(buildUrl(model)),
    loadClient(model) {
      const region = resolveRegion(model);
      const client = clients.get(region) ?? loadClient(model);
      clients.set(region, client);
      // After a failure, such as a missing project, the next request tries again.
      client.catch(() => clients.delete(region));
      return client;
    },
    async getHeaders(key) {
      if (key !== undefined) return { authorization: `Bearer ${key}` };
      return skipsAuth ? buildCloudGatewayHeaders(settings) : source.getHeaders();
    },
    adaptBody: (body) => ({
      ...body,
      model: splitRegionFromModelName(String(body.model)).model,
      // The version that all models on Vertex accept.
      anthropic_version: 'vertex-2023-10-16',
    }),
    renewCredentials: async ({ status }) => (status === 401 && !skipsAuth ? source.renew() : false),
    acceptsBeta: (beta) => !UNSUPPORTED_BETAS.test(beta),
    countsTokens: true,
  };
}

function buildDefaultUrl(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com/v1';
  return region === 'us' || region === 'eu'
    ? `https://aiplatform.${region}.rep.googleapis.com/v1`
    : `https://${region}-aiplatform.googleapis.com/v1`;
}

/** Betas of features that Vertex does not provide: files, code execution, MCP connectors. */
const UNSUPPORTED_BETAS =
  /^(?:files-api|mcp-client|code-execution|skills|oauth|prompt-caching-scope|fast-mode|web-fetch|context-management)-/;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** Creates the Google Cloud authentication: a token, default credentials, or a login by `gcpAuthRefresh`. */
function createGoogleAuthSource(settings: CloudSettings, send: typeof fetch = fetch) {
  const { gcpAuthRefresh } = settings;
  const configuredToken = readFirstVariable(settings, 'CLOUDSDK_AUTH_ACCESS_TOKEN', 'GOOGLE_OAUTH_ACCESS_TOKEN');
  let auth: Promise<GoogleAuth> | undefined;

  async function loadAuth(): Promise<GoogleAuth> {
    const { GoogleAuth } = await import('google-auth-library');
    const keyFilename = readFirstVariable(settings, 'GOOGLE_APPLICATION_CREDENTIALS');
    const clientOptions = { transporterOptions: { fetchImplementation: send } };
    return new GoogleAuth({ scopes: SCOPE, clientOptions, ...(keyFilename && { keyFilename }) });
  }

  async function getTokenHeaders(): Promise<Readonly<Record<string, string>>> {
    auth ??= loadAuth();
    return Object.fromEntries(await (await auth).getRequestHeaders());
  }

  /** Without a command the credentials are only reloaded, because the user may have signed in elsewhere. */
  const signIn = coalesceRenewals(async () => {
    if (gcpAuthRefresh !== undefined) await runCredentialCommand('gcpAuthRefresh', gcpAuthRefresh, settings);
    auth = undefined;
    return true;
  });

  return {
    /** Returns the authentication headers; the library renews its token before it expires. */
    async getHeaders(): Promise<Readonly<Record<string, string>>> {
      if (configuredToken !== undefined) return { authorization: `Bearer ${configuredToken}` };
      try {
        return await getTokenHeaders();
      } catch (thrown) {
        auth = undefined;
        if (gcpAuthRefresh === undefined) throw toKeyUnavailable(thrown);
      }
      await signIn();
      return getTokenHeaders().catch((thrown) => Promise.reject(toKeyUnavailable(thrown)));
    },
    /** Returns the project id. */
    async getProject(): Promise<string> {
      const configuredProject = readFirstVariable(
        settings,
        'ANTHROPIC_VERTEX_PROJECT_ID',
        'GOOGLE_CLOUD_PROJECT',
        'GCLOUD_PROJECT',
      );
      if (configuredProject !== undefined) return configuredProject;
      auth ??= loadAuth();
      return (await auth).getProjectId().catch((cause) => {
        const message = 'Vertex AI needs a project. Set ANTHROPIC_VERTEX_PROJECT_ID.';
        throw new KeyUnavailableError(message, { cause });
      });
    },
    /** Called when the token was rejected; resolves to true if the request should be sent again. */
    renew: async (): Promise<boolean> => (configuredToken === undefined ? signIn() : false),
  };
}

function toKeyUnavailable(cause: unknown): KeyUnavailableError {
  const reason = getErrorMessage(cause)
    .split('\n')[0]
    ?.replace(/\. .*$|\.$/s, '');
  const advice =
    'Sign in (gcloud auth application-default login), set GOOGLE_APPLICATION_CREDENTIALS, or set gcpAuthRefresh to a command that signs in.';
  return new KeyUnavailableError(`No Google Cloud credentials found: ${reason}. ${advice}`, { cause });
}
