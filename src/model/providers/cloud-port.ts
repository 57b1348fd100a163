import type { ModelPort } from '../../contracts/model.ts';
import { exhaustive } from '../../lib/errors.ts';
import type { CloudPlatform } from '../claude-model-ids.ts';
import { createMessagesApiPort, type MessagesApiService } from './anthropic/messages-api-port.ts';
import type { MessagesSettings } from './anthropic/messages-request.ts';
import type { CloudSettings } from './cloud-settings.ts';

/** Creates a port for Anthropic's models on a cloud platform, loading its SDK. */
export async function openCloudPort(
  cloud: CloudPlatform,
  settings: CloudSettings,
  messagesSettings: MessagesSettings,
): Promise<ModelPort> {
  return createMessagesApiPort(await loadService(cloud, settings, messagesSettings), messagesSettings);
}

async function loadService(
  cloud: CloudPlatform,
  settings: CloudSettings,
  messagesSettings: MessagesSettings,
): Promise<MessagesApiService> {
  switch (cloud) {
    case 'bedrock':
    case 'mantle': {
      const { createBedrockService } = await import('./bedrock.ts');
      return createBedrockService(cloud, settings, messagesSettings);
    }
    case 'vertex': {
      const { createVertexService } = await import('./vertex.ts');
      return createVertexService(settings, messagesSettings);
    }
    case 'foundry': {
      const { createFoundryService } = await import('./foundry.ts');
      return createFoundryService(settings, messagesSettings);
    }
    default:
      return exhaustive(cloud);
  }
}
