import type { ModelFailure } from '../../contracts/model.ts';
import { splitRegion } from '../claude-name.ts';
import { clientOptions, type MessagesService, type MessagesSettings } from '../messages/messages-service.ts';
import { addressOf } from '../wire/stream-response.ts';
import { openAwsSource } from './aws-credentials.ts';
import { type CloudSettings, firstOf, gatewayIdentity, isOn, usualAwsRegion } from './cloud-settings.ts';

type Client = Awaited<ReturnType<MessagesService['client']>>;
/** The service of AWS for all models, and Anthropic's own API there. */
type Endpoint = 'bedrock' | 'mantle';

/** Amazon Bedrock: requests are signed, and replies come in the event streams of AWS, which the library turns into ours. */
export function bedrockService(
  endpoint: Endpoint,
  settings: CloudSettings,
  common: Pick<MessagesSettings, 'fetch'>,
): MessagesService {
  const source = openAwsSource(settings);
  const bearer = firstOf(settings, 'AWS_BEARER_TOKEN_BEDROCK');
  const skipsAuth = isOn(settings.variables.CLAUDE_CODE_SKIP_BEDROCK_AUTH);
  const clients = new Map<string, Promise<Client>>();

  const regionOf = (model: string) => splitRegion(model).region ?? usualAwsRegion(settings) ?? 'us-east-1';

  function urlOf(model: string): string {
    const region = regionOf(model);
    return endpoint === 'bedrock'
      ? (firstOf(settings, 'ANTHROPIC_BEDROCK_BASE_URL', 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME') ??
          `https://bedrock-runtime.${region}.amazonaws.com`)
      : (firstOf(settings, 'ANTHROPIC_BEDROCK_MANTLE_BASE_URL') ??
          `https://bedrock-mantle.${region}.api.aws/anthropic`);
  }

  async function load(model: string, key: string | undefined): Promise<Client> {
    const { AnthropicBedrock, AnthropicBedrockMantle } = await import('@anthropic-ai/bedrock-sdk');
    const Client = endpoint === 'bedrock' ? AnthropicBedrock : AnthropicBedrockMantle;
    const token = key ?? bearer;
    return new Client({
      ...clientOptions(common),
      awsRegion: regionOf(model),
      baseURL: urlOf(model).replace(/\/+$/, ''),
      apiKey: token ?? null,
      skipAuth: skipsAuth && token === undefined,
      providerChainResolver: async () => source.credentials,
    });
  }

  return {
    name: endpoint,
    address: (model) => addressOf(urlOf(model)),
    client(model, key) {
      const name = `${regionOf(model)} ${key ?? ''}`;
      const client = clients.get(name) ?? load(model, key);
      clients.set(name, client);
      return client;
    },
    headers: async (): Promise<Readonly<Record<string, string>>> => (skipsAuth ? gatewayIdentity(settings) : {}),
    bodyFor: (body) => ({
      ...body,
      model: splitRegion(String(body.model)).model,
      // The models that it knows by a date understand no later version.
      ...(endpoint === 'bedrock' && { anthropic_version: 'bedrock-2023-05-31' }),
    }),
    renew: async (failure) =>
      bearer === undefined && !skipsAuth && isAboutCredentials(failure) ? source.renew() : false,
    takesBeta: (beta) => !UNKNOWN_BETAS.test(beta),
    countsTokens: endpoint === 'mantle',
  };
}

/** A model one may not use is refused in the same way as a token that has run out. */
function isAboutCredentials({ message }: ModelFailure): boolean {
  return /expired|security token|not authorized to perform sts|credentials|signature|UnrecognizedClient/i.test(message);
}

/** What belongs to services that AWS does not run: files, code that is run, servers of tools. */
const UNKNOWN_BETAS = /^(?:files-api|mcp-client|code-execution|skills|oauth|prompt-caching-scope|fast-mode|web-fetch)-/;
