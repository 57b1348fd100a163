import { once } from '../../lib/once.ts';
import { clientOptions, type MessagesService, type MessagesSettings } from '../messages/messages-service.ts';
import { addressOf } from '../wire/stream-response.ts';
import { type CloudSettings, firstOf, gatewayIdentity, isOn } from './cloud-settings.ts';
import { openEntraSource } from './entra-token.ts';

/** Microsoft Foundry: the Messages API under the address of one's own resource, with a key or a token of Entra. */
export function foundryService(settings: CloudSettings, common: Pick<MessagesSettings, 'fetch'>): MessagesService {
  const resource = firstOf(settings, 'ANTHROPIC_FOUNDRY_RESOURCE');
  const baseURL = (
    firstOf(settings, 'ANTHROPIC_FOUNDRY_BASE_URL') ?? `https://${resource}.services.ai.azure.com/anthropic`
  ).replace(/(?:\/v1)?\/*$/, '');
  const apiKey = firstOf(settings, 'ANTHROPIC_FOUNDRY_API_KEY');
  const given = firstOf(settings, 'ANTHROPIC_FOUNDRY_AUTH_TOKEN');
  const skipsAuth = isOn(settings.variables.CLAUDE_CODE_SKIP_FOUNDRY_AUTH);
  const token = openEntraSource(settings, common.fetch);

  const client = once(async () => {
    const { AnthropicFoundry } = await import('@anthropic-ai/foundry-sdk');
    // Who we are comes with each request, so that a token can be renewed.
    return new AnthropicFoundry({ ...clientOptions(common), baseURL, resource: null, apiKey: 'with each request' });
  });

  return {
    name: 'foundry',
    address: () => addressOf(baseURL),
    client,
    async headers(asked) {
      const key = asked ?? apiKey;
      if (key !== undefined) return { 'x-api-key': key, authorization: null };
      if (skipsAuth) return { 'x-api-key': null, authorization: null, ...gatewayIdentity(settings) };
      return { 'x-api-key': null, authorization: `Bearer ${given ?? (await token())}` };
    },
    takesBeta: (beta) => !/^oauth-/.test(beta),
    countsTokens: true,
  };
}
