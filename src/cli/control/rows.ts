import type { CommandInfo } from '../../contracts/face/command.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ModelInfo } from '../../contracts/model.ts';

/** A slash command as hosts list it. */
export function commandRow({ name, description, argumentHint, aliases, source }: CommandInfo): JsonObject {
  return {
    name,
    description,
    argumentHint: argumentHint ?? '',
    ...(aliases === undefined ? {} : { aliases }),
    ...(source === 'builtin' ? { builtin: true } : {}),
  };
}

/** The models to choose from; the first is whatever the run has begun with. */
export async function modelRows(conversation: Pick<Conversation, 'models' | 'info'>): Promise<readonly JsonObject[]> {
  const { defaultModel, modelInfo, model } = conversation.info();
  const models = await conversation.models();
  const own = models.find(({ id }) => id === defaultModel) ?? (model === defaultModel ? modelInfo : undefined);
  const first = own === undefined ? { resolvedModel: defaultModel } : modelRow(own);
  const standard = {
    ...first,
    value: 'default',
    displayName: 'Default',
    description: `What ouro begins with (${defaultModel})`,
  };
  return [standard, ...models.map(modelRow)];
}

function modelRow(model: ModelInfo): JsonObject {
  return {
    value: model.id,
    resolvedModel: model.id,
    displayName: model.label,
    description: `${Math.round(model.contextWindow / 1000)}k tokens of context`,
    supportsEffort: model.effort,
    ...(model.effort ? { supportedEffortLevels: [...model.efforts] } : {}),
    supportsAdaptiveThinking: model.thinking === 'adaptive',
  };
}

export function agentRow(agent: {
  readonly name: string;
  readonly description: string;
  readonly model?: string;
}): JsonObject {
  return { ...agent };
}
