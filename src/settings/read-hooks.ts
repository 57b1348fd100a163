import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { usablePart } from './usable.ts';

/** The hooks that stand outside of settings, in the head of a file or in a plugin; what does not fit is left out. */
export function readHooks(hooks: JsonObject): {
  readonly hooks: NonNullable<Settings['hooks']>;
  readonly problems: readonly string[];
} {
  const { settings, complaints } = usablePart({ hooks });
  return { hooks: settings.hooks ?? {}, problems: complaints.map(({ words }) => words) };
}
