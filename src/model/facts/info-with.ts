import type { ModelInfo } from '../../contracts/model.ts';
import type { ReasoningWish } from '../presets.ts';
import type { ModelFacts } from './model-entry.ts';

/** Nobody needs longer answers at once, and some servers reserve what they are asked for. */
const USUAL_OUTPUT = 32_000;

/** What is assumed of a model, with what somebody says of it. Who cannot be told how hard to think is not told. */
export function infoWith(info: ModelInfo, facts: ModelFacts, wish: ReasoningWish | undefined): ModelInfo {
  const { thinking, contextWindow, maxOutputTokens, ...same } = facts;
  const output = maxOutputTokens ?? outputWithin(contextWindow, info.maxOutputTokens);
  return {
    ...info,
    ...same,
    ...(contextWindow !== undefined && { contextWindow }),
    maxOutputTokens: output,
    defaultOutputTokens:
      maxOutputTokens === undefined ? Math.min(info.defaultOutputTokens, output) : Math.min(output, USUAL_OUTPUT),
    ...(thinking === 'none' && NO_THINKING),
    ...(thinking !== undefined && thinking !== 'none' && wish !== undefined && toldBy(thinking, wish)),
  };
}

/** An answer that is as long as the window leaves no room for a question. */
function outputWithin(contextWindow: number | undefined, output: number): number {
  return contextWindow === undefined ? output : Math.min(output, Math.ceil(contextWindow / 4));
}

const NO_THINKING = { thinking: 'none', effort: false, efforts: [], thinkingOff: 'silence' } as const;

function toldBy(
  { levels, mayStop }: Exclude<NonNullable<ModelFacts['thinking']>, 'none'>,
  wish: ReasoningWish,
): Pick<ModelInfo, 'thinking' | 'effort' | 'efforts' | 'thinkingOff'> {
  const isSwitch = wish === 'thinking.type';
  return {
    thinking: 'adaptive',
    effort: true,
    efforts: isSwitch ? [] : levels,
    thinkingOff: isSwitch || mayStop ? 'disabled' : 'never',
  };
}
