import { createLazy } from '../../lib/memoize.ts';
import { getOrigin } from '../stream/http-stream.ts';
import { buildAnthropicClientOptions, type MessagesApiService } from './anthropic/messages-api-port.ts';
import type { MessagesSettings } from './anthropic/messages-request.ts';
import {
  buildCloudGatewayHeaders,
  type CloudSettings,
  isVariableEnabled,
  readFirstVariable,
} from './cloud-settings.ts';
import { openEntraTokenSource } from './entra-token.ts';

/** Creates the Microsoft Foundry service: the Messages API of an Azure resource, with an API key or an Entra token. */
export function createFoundryService(settings: CloudSettings, clientSettings: MessagesSettings): MessagesApiService {
  const resource = readFirstVariable(settings, 'ANTHROPIC_FOUNDRY_RESOURCE');
  const baseURL = (
    readFirstVariable(settings, 'ANTHROPIC_FOUNDRY_BASE_URL') ?? `https://${resource}.services.ai.azure.com/anthropic`
  ).replace(/(?:\/v1)?(?<!\/)\/*$/, '');
  const apiKey = readFirstVariable(settings, 'ANTHROPIC_FOUNDRY_API_KEY');
  const configuredToken = readFirstVariable(settings, 'ANTHROPIC_FOUNDRY_AUTH_TOKEN');
  const skipsAuth = isVariableEnabled(settings.variables.CLAUDE_CODE_SKIP_FOUNDRY_AUTH);
  const getEntraToken = openEntraTokenSource(settings, clientSettings.fetch);

  const loadClient = createLazy(async () => {
    const { AnthropicFoundry } = await import('@anthropic-ai/foundry-sdk');
    // Authentication headers are set per request, so that tokens can be renewed.
    return new AnthropicFoundry({
      ...buildAnthropicClientOptions(clientSettings),
      baseURL,
      resource: null,
      apiKey: 'set per request',
    });
  });

  return {
    name: 'foundry',
    getOrigin: () => getOrigin(baseURL),
    loadClient,
    async getHeaders(requestKey) {
      const key = requestKey ?? apiKey;
      if (key !== undefined) return { 'x-api-key': key, authorization: null };
      if (skipsAuth) return { 'x-api-key': null, authorization: null, ...buildCloudGatewayHeaders(settings) };
      return { 'x-api-key': null, authorization: `Bearer ${configuredToken ?? (await getEntraToken())}` };
    },
    acceptsBeta: (beta) => !/^oauth-/.test(beta),
    countsTokens: true,
  };
}
