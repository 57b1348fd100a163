import { z } from 'zod';
import type { ModelFailure } from '../../contracts/model.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { splitRegionFromModelName } from '../claude-model-ids.ts';
import { KeyUnavailableError } from '../stream/failures.ts';
import { getOrigin } from '../stream/http-stream.ts';
import { parseNetworkJson } from '../stream/json-values.ts';
import { buildAnthropicClientOptions, type MessagesApiService } from './anthropic/messages-api-port.ts';
import type { MessagesSettings } from './anthropic/messages-request.ts';
import {
  buildCloudGatewayHeaders,
  type CloudSettings,
  getDefaultAwsRegion,
  isVariableEnabled,
  readFirstVariable,
} from './cloud-settings.ts';
import { coalesceRenewals, runCredentialCommand } from './credential-renewal.ts';

type Client = Awaited<ReturnType<MessagesApiService['loadClient']>>;
/** The Bedrock runtime API, or Anthropic's own API on AWS. */
type Endpoint = 'bedrock' | 'mantle';

/** Creates the Amazon Bedrock service. The SDK signs requests and converts AWS event streams to server-sent events. */
export function createBedrockService(
  endpoint: Endpoint,
  settings: CloudSettings,
  clientSettings: MessagesSettings,
): MessagesApiService {
  const source = createAwsCredentialSource(settings, clientSettings.fetch);
  const bearerToken = readFirstVariable(settings, 'AWS_BEARER_TOKEN_BEDROCK');
  const skipsAuth = isVariableEnabled(settings.variables.CLAUDE_CODE_SKIP_BEDROCK_AUTH);
  const clients = new Map<string, Promise<Client>>();

  const resolveRegion = (model: string) =>
    splitRegionFromModelName(model).region ?? getDefaultAwsRegion(settings) ?? 'us-east-1';

  function buildUrl(model: string): string {
    const region = resolveRegion(model);
    return endpoint === 'bedrock'
      ? (readFirstVariable(settings, 'ANTHROPIC_BEDROCK_BASE_URL', 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME') ??
          `https://bedrock-runtime.${region}.amazonaws.com`)
      : (readFirstVariable(settings, 'ANTHROPIC_BEDROCK_MANTLE_BASE_URL') ??
          `https://bedrock-mantle.${region}.api.aws/anthropic`);
  }

  async function loadClient(model: string, key: string | undefined): Promise<Client> {
    const { AnthropicBedrock, AnthropicBedrockMantle } = await import('@anthropic-ai/bedrock-sdk');
    const Client = endpoint === 'bedrock' ? AnthropicBedrock : AnthropicBedrockMantle;
    const token = key ?? bearerToken;
    return new Client({
      ...buildAnthropicClientOptions(clientSettings),
      awsRegion: resolveRegion(model),
      baseURL: buildUrl(model).replace(/(?<!\/)\/+$/, ''),
      apiKey: token ?? null,
      skipAuth: skipsAuth && token === undefined,
      providerChainResolver: async () => source.getCredentials,
    });
  }

  return {
    name: endpoint,
    getOrigin: (model) => getOrigin(buildUrl(model)),
    loadClient(model, key) {
      const clientKey = `${resolveRegion(model)} ${key ?? ''}`;
      const client = clients.get(clientKey) ?? loadClient(model, key);
      clients.set(clientKey, client);
      return client;
    },
    getHeaders: async (): Promise<Readonly<Record<string, string>>> =>
      skipsAuth ? buildCloudGatewayHeaders(settings) : {},
    adaptBody: (body) => ({
      ...body,
      model: splitRegionFromModelName(String(body.model)).model,
      // Dated models accept no later version.
      ...(endpoint === 'bedrock' && { anthropic_version: 'bedrock-2023-05-31' }),
    }),
    renewCredentials: async (failure) =>
      bearerToken === undefined && !skipsAuth && isCredentialFailure(failure) ? source.renew() : false,
    acceptsBeta: (beta) => !UNSUPPORTED_BETAS.test(beta),
    countsTokens: endpoint === 'mantle',
  };
}

/** Returns true if the credentials caused the failure: a model without access fails with the same status. */
function isCredentialFailure({ message }: ModelFailure): boolean {
  return /expired|security token|not authorized to perform sts|credentials|signature|UnrecognizedClient/i.test(message);
}

/** Betas of features that Bedrock does not provide: files, code execution, MCP connectors. */
const UNSUPPORTED_BETAS =
  /^(?:files-api|mcp-client|code-execution|skills|oauth|prompt-caching-scope|fast-mode|web-fetch)-/;

/** AWS credentials for signing requests. */
export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

/** Margin before expiry, so that a request can still be signed and sent. */
const EXPIRY_MARGIN_MS = 60_000;

/** Creates the source of AWS credentials for the process: the AWS provider chain or the configured commands. */
function createAwsCredentialSource(settings: CloudSettings, send: typeof fetch = fetch) {
  const { awsAuthRefresh, awsCredentialExport, variables } = settings;
  let cached: Promise<AwsCredentials> | undefined;

  const signIn = coalesceRenewals(async () => {
    await runCredentialCommand('awsAuthRefresh', awsAuthRefresh ?? '', settings);
    return true;
  }, Date.now);

  function load(): Promise<AwsCredentials> {
    return awsCredentialExport === undefined
      ? loadFromChain(settings, send)
      : loadFromCommand(awsCredentialExport, variables);
  }

  async function loadOrSignIn(): Promise<AwsCredentials> {
    try {
      const credentials = await load();
      if (!isExpired(credentials, Date.now()) || awsAuthRefresh === undefined) return credentials;
    } catch (thrown) {
      if (awsAuthRefresh === undefined) throw thrown;
    }
    await signIn();
    return load();
  }

  return {
    /** Returns valid credentials, cached until shortly before they expire. Rejects with a message for the user. */
    async getCredentials(): Promise<AwsCredentials> {
      cached ??= loadOrSignIn();
      const pending = cached;
      try {
        const found = await pending;
        if (!isExpired(found, Date.now())) return found;
      } catch (thrown) {
        if (cached === pending) cached = undefined;
        throw thrown;
      }
      if (cached === pending) cached = loadOrSignIn();
      return cached;
    },
    /** Called when credentials were rejected; resolves to true if the next request will have other ones. */
    renew: coalesceRenewals(async () => {
      const oldCredentials = await cached?.catch(() => undefined);
      if (awsAuthRefresh !== undefined) await signIn();
      cached = undefined;
      const newCredentials = await load().catch(() => undefined);
      if (newCredentials === undefined) return false;
      cached = Promise.resolve(newCredentials);
      return (
        newCredentials.secretAccessKey !== oldCredentials?.secretAccessKey ||
        newCredentials.sessionToken !== oldCredentials.sessionToken
      );
    }, Date.now),
  };
}

function isExpired({ expiration }: AwsCredentials, nowMs: number): boolean {
  return expiration !== undefined && expiration.getTime() - EXPIRY_MARGIN_MS <= nowMs;
}

/** Loads credentials from variables, or else from the AWS provider chain (files, SSO, instance metadata). */
async function loadFromChain(settings: CloudSettings, send: typeof fetch): Promise<AwsCredentials> {
  const accessKeyId = readFirstVariable(settings, 'AWS_ACCESS_KEY_ID');
  const secretAccessKey = readFirstVariable(settings, 'AWS_SECRET_ACCESS_KEY');
  const sessionToken = readFirstVariable(settings, 'AWS_SESSION_TOKEN');
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  }
  const profile = readFirstVariable(settings, 'AWS_PROFILE', 'AWS_DEFAULT_PROFILE');
  const filepath = readFirstVariable(settings, 'AWS_SHARED_CREDENTIALS_FILE');
  const configFilepath = readFirstVariable(settings, 'AWS_CONFIG_FILE');
  try {
    const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
    const { FetchHttpHandler } = await import('@smithy/fetch-http-handler');
    // The types of the handler leave out its second option.
    const handlerOptions = { keepAlive: false, customFetch: send };
    const chain = fromNodeProviderChain({
      // Only `fetch` uses the proxy of the environment.
      clientConfig: { requestHandler: new FetchHttpHandler(handlerOptions) },
      ...(profile && { profile }),
      ...(filepath && { filepath }),
      ...(configFilepath && { configFilepath }),
      // The files change when the user signs in elsewhere.
      ignoreCache: true,
    });
    return await chain();
  } catch (cause) {
    const reason = getErrorMessage(cause).split('\n')[0]?.replace(/\.$/, '');
    const advice = 'Sign in (aws sso login), set AWS_PROFILE, or set awsAuthRefresh to a command that signs in.';
    throw new KeyUnavailableError(`No AWS credentials found: ${reason}. ${advice}`, { cause });
  }
}

const commandOutputSchema = z.object({
  Credentials: z.object({
    AccessKeyId: z.string().min(1),
    SecretAccessKey: z.string().min(1),
    SessionToken: z.string().min(1).optional(),
    Expiration: z.coerce.date().optional(),
  }),
});

async function loadFromCommand(command: string, variables: CloudSettings['variables']): Promise<AwsCredentials> {
  const parsed = commandOutputSchema.safeParse(
    parseNetworkJson(await runCredentialCommand('awsCredentialExport', command, { variables })),
  );
  if (!parsed.success) {
    throw new KeyUnavailableError(
      'The awsCredentialExport command printed no credentials. It must print { "Credentials": { "AccessKeyId": "…", "SecretAccessKey": "…", "SessionToken": "…" } }.',
    );
  }
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = parsed.data.Credentials;
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    ...(SessionToken !== undefined && { sessionToken: SessionToken }),
    ...(Expiration !== undefined && { expiration: Expiration }),
  };
}
