import { splitRegion } from '../claude-name.ts';
import { clientOptions, type MessagesService, type MessagesSettings } from '../messages/messages-service.ts';
import { addressOf } from '../wire/stream-response.ts';
import { type CloudSettings, firstOf, gatewayIdentity, isOn, vertexRegion } from './cloud-settings.ts';
import { openGoogleSource } from './google-auth.ts';

type Client = Awaited<ReturnType<MessagesService['client']>>;

/** Google's Vertex AI: the model stands in the address, and Google's own tokens say who we are. */
export function vertexService(settings: CloudSettings, common: Pick<MessagesSettings, 'fetch'>): MessagesService {
  const source = openGoogleSource(settings);
  const skipsAuth = isOn(settings.variables.CLAUDE_CODE_SKIP_VERTEX_AUTH);
  const clients = new Map<string, Promise<Client>>();

  const regionOf = (model: string) => vertexRegion(settings, model);
  const urlOf = (model: string) => firstOf(settings, 'ANTHROPIC_VERTEX_BASE_URL') ?? usualUrl(regionOf(model));

  async function load(model: string): Promise<Client> {
    const { AnthropicVertex } = await import('@anthropic-ai/vertex-sdk');
    const { PassThroughClient } = await import('google-auth-library');
    return new AnthropicVertex({
      ...clientOptions(common),
      region: regionOf(model),
      projectId: await source.project(),
      baseURL: urlOf(model).replace(/\/+$/, ''),
      // Who we are comes with each request, so that it can be renewed.
      authClient: new PassThroughClient(),
    });
  }

  return {
    name: 'vertex',
    address: (model) => addressOf(urlOf(model)),
    client(model) {
      const region = regionOf(model);
      const client = clients.get(region) ?? load(model);
      clients.set(region, client);
      // Without a project the next request looks for one again.
      client.catch(() => clients.delete(region));
      return client;
    },
    async headers(key) {
      if (key !== undefined) return { authorization: `Bearer ${key}` };
      return skipsAuth ? gatewayIdentity(settings) : source.headers();
    },
    bodyFor: (body) => ({
      ...body,
      model: splitRegion(String(body.model)).model,
      // The version that every model there understands, the older ones too.
      anthropic_version: 'vertex-2023-10-16',
    }),
    renew: async ({ status }) => (status === 401 && !skipsAuth ? source.renew() : false),
    takesBeta: (beta) => !UNKNOWN_BETAS.test(beta),
    countsTokens: true,
  };
}

function usualUrl(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com/v1';
  return region === 'us' || region === 'eu'
    ? `https://aiplatform.${region}.rep.googleapis.com/v1`
    : `https://${region}-aiplatform.googleapis.com/v1`;
}

/** What only Anthropic itself runs: files, code that is run, servers of tools. */
const UNKNOWN_BETAS =
  /^(?:files-api|mcp-client|code-execution|skills|oauth|prompt-caching-scope|fast-mode|web-fetch|context-management)-/;
