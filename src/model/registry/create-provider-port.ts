import type { ModelPort } from '../../contracts/model.ts';
import { exhaustive } from '../../lib/errors.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';
import type { AnthropicSettings } from '../providers/anthropic/anthropic-port.ts';
import { EMPTY_CLOUD_SETTINGS } from '../providers/cloud-settings.ts';
import { sleep } from '../retry.ts';
import type { ModelConfig } from './model-config.ts';
import { type ModelRoute, resolveModelServerApi } from './model-route.ts';

/** The configuration with facts about models and the listener for rejected context editing. */
export type ProviderPortConfig = ModelConfig & Required<Pick<AnthropicSettings, 'infoOf' | 'onRefusedEditing'>>;

/** Creates the port of a provider, loading its client library on demand. */
export async function createProviderPort(route: ModelRoute, config: ProviderPortConfig): Promise<ModelPort> {
  const { timeouts, fetch: send } = config;
  const common: CommonOptions = { ...(timeouts && { timeouts }), ...(send && { fetch: send }) };
  switch (route.provider) {
    case 'demo': {
      const { createDemoPort } = await import('../providers/demo/demo-port.ts');
      return createDemoPort({ sleep, ...config.demo });
    }
    case 'openai':
      return openServerPort(route, config, common);
    case 'cloud': {
      const { openCloudPort } = await import('../providers/cloud-port.ts');
      const { betas, infoOf, onRefusedEditing, clouds = EMPTY_CLOUD_SETTINGS } = config;
      return openCloudPort(route.cloud, clouds, {
        ...(betas && { betas }),
        infoOf: (model) => infoOf(`${route.cloud}/${model}`),
        onRefusedEditing,
        ...common,
      });
    }
    case 'anthropic': {
      const { createAnthropicPort } = await import('../providers/anthropic/anthropic-port.ts');
      const { apiKey, authToken = '', baseUrl, betas, customHeaders, onRefusedKey, infoOf, onRefusedEditing } = config;
      return createAnthropicPort({
        credentials: apiKey === undefined ? { authToken } : { apiKey },
        ...(baseUrl && { baseUrl }),
        ...(customHeaders && { customHeaders }),
        ...(onRefusedKey && { onRefusedKey }),
        ...(betas && { betas }),
        infoOf,
        onRefusedEditing,
        ...common,
      });
    }
    default:
      return exhaustive(route);
  }
}

type CommonOptions = Pick<ModelConfig, 'timeouts' | 'fetch'>;

/** Creates the port of a server by the API it implements. */
async function openServerPort(
  { name, server }: Extract<ModelRoute, { readonly provider: 'openai' }>,
  { clouds = EMPTY_CLOUD_SETTINGS }: ProviderPortConfig,
  common: CommonOptions,
): Promise<ModelPort> {
  const api = resolveModelServerApi(name, server);
  switch (api) {
    case 'responses': {
      const { createResponsesPort } = await import('../providers/openai-responses/responses-port.ts');
      if (name !== 'azure') return createResponsesPort({ ...server, name, ...common });
      const { openEntraTokenSource } = await import('../providers/entra-token.ts');
      return createResponsesPort({
        ...server,
        name,
        getAzureToken: openEntraTokenSource(clouds, common.fetch),
        ...common,
      });
    }
    case 'gemini': {
      const { createGeminiPort } = await import('../providers/gemini/gemini-port.ts');
      return createGeminiPort({ ...server, name, ...common });
    }
    case 'chat': {
      const { createOpenAiPort } = await import('../providers/openai-chat/openai-chat-port.ts');
      return createOpenAiPort({ ...server, name, reasoning: PROVIDER_PRESETS.get(name)?.reasoning, ...common });
    }
    default:
      return exhaustive(api);
  }
}
