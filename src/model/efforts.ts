import { EFFORTS, type Effort, type ModelInfo } from '../contracts/model.ts';

type Thinker = Pick<ModelInfo, 'label' | 'thinking' | 'efforts' | 'thinkingOff'>;

/** The words a model takes about how hard it thinks: `auto` always, `off` where it can be switched off. */
export function effortsOf({ thinking, efforts, thinkingOff }: Omit<Thinker, 'label'>): readonly Effort[] {
  const mayStop = thinking === 'none' || thinkingOff !== 'never';
  return ['auto', ...(mayStop ? (['off'] as const) : []), ...efforts];
}

/** Why a model cannot be told this; `undefined` when it can. */
export function effortProblem(effort: Effort, info: Thinker): string | undefined {
  const known = effortsOf(info);
  if (known.includes(effort)) return undefined;
  if (effort === 'off') return `${info.label} always thinks. Choose one of ${known.join(', ')}.`;
  return info.efforts.length === 0
    ? `${info.label} cannot be told how hard to think, so there is no effort "${effort}".`
    : `${info.label} has no effort "${effort}". Choose one of ${known.join(', ')}.`;
}

/** What a model is told of a wish that was meant for another: the nearest level that is not higher, else its lowest. */
export function effortFor(wanted: Effort, info: Omit<Thinker, 'label'>): Effort {
  if (effortsOf(info).includes(wanted)) return wanted;
  const at = EFFORTS.indexOf(wanted);
  return info.efforts.findLast((level) => EFFORTS.indexOf(level) <= at) ?? info.efforts[0] ?? 'auto';
}

/** What a port is asked for: who can only be switched is still told that much, who does not think is told nothing. */
export function effortToSend(wanted: Effort, info: Omit<Thinker, 'label'> & Pick<ModelInfo, 'effort'>): Effort {
  if (info.thinking === 'none') return 'auto';
  const isSwitch = info.effort && info.efforts.length === 0 && info.thinkingOff === 'disabled';
  return isSwitch ? wanted : effortFor(wanted, info);
}

/** What is said where a wish that stays is more or other than the model has. */
export function effortInstead(wanted: Effort, info: Thinker): string | undefined {
  const why = effortProblem(wanted, info);
  if (why === undefined || info.efforts.length === 0) return undefined;
  return `${why} Until then it is ${effortFor(wanted, info)}.`;
}

/** Room for thinking asks for thinking: without a word on effort, the budget says how much. */
export function thinkingEffort(effort: Effort, thinkingTokens: number | undefined): Effort {
  if (thinkingTokens === undefined || (effort !== 'off' && effort !== 'auto')) return effort;
  if (thinkingTokens === 0) return 'off';
  if (thinkingTokens < 8_000) return 'low';
  return thinkingTokens < 16_000 ? 'medium' : 'high';
}
