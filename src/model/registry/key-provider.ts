import { findClosestWord } from '../../lib/text/closest-word.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';

/** A provider for which an API key can be stored. */
export type ProviderWithApiKey = {
  readonly name: string;
  readonly label: string;
  /** Environment variables of the key, which override a stored one. */
  readonly variables: readonly string[];
};

/** The provider of a name, or the reason why no key can be stored for it. */
export type KeyProviderResult =
  | { readonly ok: true; readonly provider: ProviderWithApiKey }
  | { readonly ok: false; readonly problem: string };

const ANTHROPIC: ProviderWithApiKey = {
  name: 'anthropic',
  label: 'Anthropic',
  variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
};

/** Finds the provider of a name among the built-in ones and those in the settings. */
export function findKeyProviderByName(wanted: string, configured: readonly string[]): KeyProviderResult {
  const name = wanted.toLowerCase();
  if (name === ANTHROPIC.name) return { ok: true, provider: ANTHROPIC };
  const preset = PROVIDER_PRESETS.get(name);
  if (preset !== undefined && (preset.keyVariables.length > 0 || configured.includes(name)))
    return { ok: true, provider: { name, label: preset.label, variables: preset.keyVariables } };
  if (preset !== undefined) return { ok: false, problem: `${preset.label} runs on this machine and needs no key.` };
  if (configured.includes(wanted)) return { ok: true, provider: { name: wanted, label: wanted, variables: [] } };
  const names = [
    ANTHROPIC.name,
    ...[...PROVIDER_PRESETS].flatMap(([presetName, { keyVariables }]) => (keyVariables.length > 0 ? [presetName] : [])),
    ...configured,
  ];
  const closest = findClosestWord(name, names);
  const hint = closest === undefined ? '' : ` Did you mean ${closest}?`;
  return {
    ok: false,
    problem: `Unknown provider "${wanted}".${hint} Keys can be stored for ${[...new Set(names)].join(', ')}, and the providers in your settings.`,
  };
}

/** Detects the provider of a key by its format, with the default model there; Anthropic if no format matches. */
export function detectKeyProvider(key: string): { readonly name: string; readonly model?: string } {
  const [name, preset] = [...PROVIDER_PRESETS].find(([, { keyPattern }]) => keyPattern?.test(key)) ?? [];
  return name === undefined || preset?.defaultModel === undefined
    ? ANTHROPIC
    : { name, model: `${name}/${preset.defaultModel}` };
}

/** Returns the name of the provider whose keys look like this; `undefined` if the format is unknown. */
export function recognizeKeyProvider(key: string): string | undefined {
  if (key.startsWith('sk-ant-')) return ANTHROPIC.label;
  return [...PROVIDER_PRESETS.values()].find(({ keyPattern }) => keyPattern?.test(key))?.label;
}

/** Returns a message if the text cannot be a key; the message does not repeat it. */
export function explainInvalidKey(key: string): string | undefined {
  if (key === '') return 'The input is empty. No key was stored.';
  if (/\s/.test(key)) return 'A key is one line without spaces. No key was stored.';
  return /[^\x21-\x7e]/.test(key)
    ? 'The input contains characters that are not valid in a key. No key was stored.'
    : undefined;
}
