import path from 'node:path';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';

/** Turns numbers and truth values that came as text into what they mean; everything else stays. */
export function repairArguments(
  input: JsonObject,
  kinds: {
    readonly numbers?: readonly string[];
    readonly flags?: readonly string[];
    readonly lists?: readonly string[];
  },
): JsonObject {
  const repaired: Record<string, JsonObject[string]> = { ...input };
  for (const key of kinds.numbers ?? []) {
    const value = repaired[key];
    if (typeof value === 'string' && /^\s*-?\d+\s*$/.test(value)) repaired[key] = Number(value);
  }
  for (const key of kinds.flags ?? []) {
    if (repaired[key] === 'true') repaired[key] = true;
    if (repaired[key] === 'false') repaired[key] = false;
  }
  for (const key of kinds.lists ?? []) {
    const value = repaired[key];
    if (typeof value === 'string') repaired[key] = parseList(value);
  }
  // Models write null for what they want to leave out.
  for (const key of Object.keys(repaired)) if (repaired[key] === null) delete repaired[key];
  return repaired;
}

function parseList(text: string): JsonValue {
  try {
    const parsed = z.array(z.json()).safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : text;
  } catch {
    return text;
  }
}

/** A path as the model wrote it, made absolute: relative to `cwd`, a leading `~/` expanded. */
export function absolutePath(written: string, from: { readonly cwd: string; readonly home: string }): string {
  if (written === '~') return from.home;
  if (written.startsWith('~/')) return path.join(from.home, written.slice(2));
  return path.resolve(from.cwd, written);
}
