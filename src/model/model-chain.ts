import type { RunOptions } from '../contracts/face/run-options.ts';
import type { Settings } from '../contracts/settings.ts';
import { resolveModel } from './catalog.ts';

/** A model, then those that go on when it cannot be had: named by flags, otherwise by settings. */
export function modelChain(
  model: string,
  options: Pick<RunOptions, 'fallbackModels'>,
  settings: Pick<Settings, 'fallbackModels'>,
): readonly [string, ...string[]] {
  const fallbacks = options.fallbackModels ?? settings.fallbackModels ?? [];
  return [model, ...new Set(fallbacks.map(resolveModel).filter((name) => name !== model))];
}
