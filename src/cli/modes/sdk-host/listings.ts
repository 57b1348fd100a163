import type { CommandInfo } from '../../../contracts/frontend/command.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { ModelInfo } from '../../../contracts/model.ts';

/** Describes a slash command in the form of the SDK. */
export function describeCommandForSdk({ name, description, argumentHint, aliases, source }: CommandInfo): JsonObject {
  return {
    name,
    description,
    argumentHint: argumentHint ?? '',
    ...(aliases === undefined ? {} : { aliases }),
    ...(source === 'builtin' ? { builtin: true } : {}),
  };
}

/** Describes the selectable models in the form of the SDK; the first is the default model of the run. */
export async function describeModelsForSdk(
  conversation: Pick<Conversation, 'models' | 'info'>,
): Promise<readonly JsonObject[]> {
  const { defaultModel, modelInfo, model } = conversation.info();
  const models = await conversation.models();
  const defaultInfo = models.find(({ id }) => id === defaultModel) ?? (model === defaultModel ? modelInfo : undefined);
  const first = defaultInfo === undefined ? { resolvedModel: defaultModel } : describeModel(defaultInfo);
  const defaultRow = {
    ...first,
    value: 'default',
    displayName: 'Default',
    description: `Model at startup (${defaultModel})`,
  };
  return [defaultRow, ...models.map(describeModel)];
}

function describeModel(model: ModelInfo): JsonObject {
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

/** Describes a sub-agent in the form of the SDK. */
export function describeAgentForSdk(agent: {
  readonly name: string;
  readonly description: string;
  readonly model?: string;
}): JsonObject {
  return { ...agent };
}
