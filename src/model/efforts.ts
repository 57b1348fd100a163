import { EFFORTS, type Effort, type ModelInfo } from '../contracts/model.ts';

type ThinkingInfo = Pick<ModelInfo, 'label' | 'thinking' | 'efforts' | 'thinkingOff'>;

/** Lists the effort levels a model accepts: always `auto`, and `off` where thinking can be disabled. */
export function listEfforts({ thinking, efforts, thinkingOff }: Omit<ThinkingInfo, 'label'>): readonly Effort[] {
  const canDisable = thinking === 'none' || thinkingOff !== 'never';
  return ['auto', ...(canDisable ? (['off'] as const) : []), ...efforts];
}

/** Returns a message if the model does not support the effort, otherwise `undefined`. */
export function explainUnsupportedEffort(effort: Effort, info: ThinkingInfo): string | undefined {
  const known = listEfforts(info);
  if (known.includes(effort)) return undefined;
  if (effort === 'off') return `${info.label} always thinks. Choose one of ${known.join(', ')}.`;
  return info.efforts.length === 0
    ? `${info.label} has no effort levels, so effort "${effort}" cannot be set.`
    : `${info.label} has no effort "${effort}". Choose one of ${known.join(', ')}.`;
}

/** Returns the nearest supported effort that is not higher than the wanted one, or else the model's lowest. */
export function clampEffort(wanted: Effort, info: Omit<ThinkingInfo, 'label'>): Effort {
  if (listEfforts(info).includes(wanted)) return wanted;
  const wantedIndex = EFFORTS.indexOf(wanted);
  return info.efforts.findLast((level) => EFFORTS.indexOf(level) <= wantedIndex) ?? info.efforts[0] ?? 'auto';
}

/** Returns the effort to put into a request. A model whose thinking is only on or off keeps the wanted value. */
export function resolveRequestEffort(
  wanted: Effort,
  info: Omit<ThinkingInfo, 'label'> & Pick<ModelInfo, 'effort'>,
): Effort {
  if (info.thinking === 'none') return 'auto';
  const isOnOff = info.effort && info.efforts.length === 0 && info.thinkingOff === 'disabled';
  return isOnOff ? wanted : clampEffort(wanted, info);
}

/** Returns a notice if the model replaces the configured effort with another one, otherwise `undefined`. */
export function explainReplacedEffort(wanted: Effort, info: ThinkingInfo): string | undefined {
  const problem = explainUnsupportedEffort(wanted, info);
  if (problem === undefined || info.efforts.length === 0) return undefined;
  return `${problem} Using ${clampEffort(wanted, info)} instead.`;
}

/** Derives an effort from a thinking budget, unless an effort is set. */
export function deriveEffortFromThinkingBudget(effort: Effort, thinkingTokens: number | undefined): Effort {
  if (thinkingTokens === undefined || (effort !== 'off' && effort !== 'auto')) return effort;
  if (thinkingTokens === 0) return 'off';
  if (thinkingTokens < 8_000) return 'low';
  return thinkingTokens < 16_000 ? 'medium' : 'high';
}

/** Parses the generation from a model name: 3.1 for `gemini-3.1-pro`; 0 if there is none. */
export function parseGeminiGeneration(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
}
