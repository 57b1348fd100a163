import { nearest } from '../../lib/text/nearest.ts';
import { PRESETS } from '../presets.ts';

/** A place a key can be stored for. */
export type KeyPlace = {
  readonly name: string;
  readonly label: string;
  /** Variables that hold its key and outrank a stored one. */
  readonly variables: readonly string[];
};

export type KeyPlaceAnswer =
  | { readonly ok: true; readonly place: KeyPlace }
  | { readonly ok: false; readonly problem: string };

const ANTHROPIC: KeyPlace = {
  name: 'anthropic',
  label: 'Anthropic',
  variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
};

/** The place of a name: one of ours, or of the settings. Who wants no key is told so. */
export function keyPlace(wanted: string, configured: readonly string[]): KeyPlaceAnswer {
  const name = wanted.toLowerCase();
  if (name === ANTHROPIC.name) return { ok: true, place: ANTHROPIC };
  const preset = PRESETS.get(name);
  if (preset !== undefined && (preset.keys.length > 0 || configured.includes(name)))
    return { ok: true, place: { name, label: preset.label, variables: preset.keys } };
  if (preset !== undefined) return { ok: false, problem: `${preset.label} on this machine needs no key.` };
  if (configured.includes(wanted)) return { ok: true, place: { name: wanted, label: wanted, variables: [] } };
  const names = [
    ANTHROPIC.name,
    ...[...PRESETS].flatMap(([one, { keys }]) => (keys.length > 0 ? [one] : [])),
    ...configured,
  ];
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return {
    ok: false,
    problem: `There is no place called ${wanted}.${hint} A key can be stored for ${[...new Set(names)].join(', ')}, and for what "providers" in your settings names.`,
  };
}

/** Whose key this is, seen from what it looks like, and the model to begin with there; Anthropic's where nothing tells. */
export function ownerOfKey(key: string): { readonly name: string; readonly model?: string } {
  const [name, preset] = [...PRESETS].find(([, { keyShape }]) => keyShape?.test(key)) ?? [];
  return name === undefined || preset?.main === undefined ? ANTHROPIC : { name, model: `${name}/${preset.main}` };
}

/** Why something cannot be a key; it is not repeated. */
export function keyFault(key: string): string | undefined {
  if (key === '') return 'There was no key in what came in. Nothing was stored.';
  if (/\s/.test(key)) return 'A key has no blanks and is one line. Nothing was stored.';
  return /[^\x21-\x7e]/.test(key) ? 'That holds characters that no key has. Nothing was stored.' : undefined;
}
