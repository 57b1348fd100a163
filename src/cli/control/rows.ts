import type { CommandInfo } from '../../contracts/face/command.ts';
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

export function modelRow(model: ModelInfo): JsonObject {
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
