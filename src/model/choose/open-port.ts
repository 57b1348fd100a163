import type { ModelPort } from '../../contracts/model.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import type { AnthropicSettings } from '../anthropic.ts';
import { NO_CLOUDS } from '../clouds/cloud-settings.ts';
import { PRESETS } from '../presets.ts';
import { sleep } from '../retry.ts';
import type { ModelPlace } from './model-name.ts';
import type { PortConfig } from './port-config.ts';
import { apiOf } from './server-api.ts';

/** What the ports need besides the choice itself: what is known of models, and where a refusal is remembered. */
export type RouterConfig = PortConfig & Required<Pick<AnthropicSettings, 'infoOf' | 'onRefusedEditing'>>;

/** Makes the port of a place; what it is made of is loaded now. */
export async function openPort(place: ModelPlace, config: RouterConfig): Promise<ModelPort> {
  const { patience, fetch: send } = config;
  const common = { ...(patience && { patience }), ...(send && { fetch: send }) };
  switch (place.provider) {
    case 'demo': {
      const { createDemoPort } = await import('../demo/demo-port.ts');
      return createDemoPort({ sleep, ...config.demo });
    }
    case 'openai':
      return openServerPort(place, config, common);
    case 'cloud': {
      const { openCloudPort } = await import('../clouds/cloud-port.ts');
      const { betas, infoOf, onRefusedEditing, clouds = NO_CLOUDS } = config;
      return openCloudPort(place.cloud, clouds, {
        ...(betas && { betas }),
        infoOf: (model) => infoOf(`${place.cloud}/${model}`),
        onRefusedEditing,
        ...common,
      });
    }
    case 'anthropic': {
      const { createAnthropicPort } = await import('../anthropic.ts');
      const { apiKey, authToken = '', baseUrl, betas, onRefusedKey, infoOf, onRefusedEditing } = config;
      return createAnthropicPort({
        credentials: apiKey === undefined ? { authToken } : { apiKey },
        ...(baseUrl && { baseUrl }),
        ...(onRefusedKey && { onRefusedKey }),
        ...(betas && { betas }),
        infoOf,
        onRefusedEditing,
        ...common,
      });
    }
    default:
      return exhaustive(place);
  }
}

type Common = Pick<PortConfig, 'patience' | 'fetch'>;

/** A server by what it speaks. */
async function openServerPort(
  { name, server }: Extract<ModelPlace, { readonly provider: 'openai' }>,
  { clouds = NO_CLOUDS }: RouterConfig,
  common: Common,
): Promise<ModelPort> {
  const api = apiOf(name, server);
  switch (api) {
    case 'responses': {
      const { createResponsesPort } = await import('../responses/responses-port.ts');
      if (name !== 'azure') return createResponsesPort({ ...server, name, ...common });
      const { openEntraSource } = await import('../clouds/entra-token.ts');
      return createResponsesPort({ ...server, name, azureToken: openEntraSource(clouds, common.fetch), ...common });
    }
    case 'gemini': {
      const { createGeminiPort } = await import('../gemini/gemini-port.ts');
      return createGeminiPort({ ...server, name, ...common });
    }
    case 'chat': {
      const { createOpenAiPort } = await import('../openai-compatible.ts');
      return createOpenAiPort({ ...server, name, reasoning: PRESETS.get(name)?.reasoning, ...common });
    }
    default:
      return exhaustive(api);
  }
}
