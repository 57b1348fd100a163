import type { ModelPort } from '../../contracts/model.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import type { Cloud } from '../claude-name.ts';
import { createMessagesPort } from '../messages/messages-port.ts';
import type { MessagesService, MessagesSettings } from '../messages/messages-service.ts';
import type { CloudSettings } from './cloud-settings.ts';

/** Anthropic's models in a cloud of somebody else's; its libraries are loaded now. */
export async function openCloudPort(
  cloud: Cloud,
  settings: CloudSettings,
  common: MessagesSettings,
): Promise<ModelPort> {
  return createMessagesPort(await serviceOf(cloud, settings, common), common);
}

async function serviceOf(cloud: Cloud, settings: CloudSettings, common: MessagesSettings): Promise<MessagesService> {
  switch (cloud) {
    case 'bedrock':
    case 'mantle': {
      const { bedrockService } = await import('./bedrock.ts');
      return bedrockService(cloud, settings, common);
    }
    case 'vertex': {
      const { vertexService } = await import('./vertex.ts');
      return vertexService(settings, common);
    }
    case 'foundry': {
      const { foundryService } = await import('./foundry.ts');
      return foundryService(settings, common);
    }
    default:
      return exhaustive(cloud);
  }
}
