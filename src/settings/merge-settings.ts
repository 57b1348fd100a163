import type { JsonValue } from '../contracts/json.ts';
import type { LoadedSettings, Settings, SettingsLayer, SettingWithSource } from '../contracts/settings.ts';
import { isJsonRecord } from '../lib/json.ts';

/** Merges layers from weakest to strongest: lists are united, objects merged, scalars overridden. */
export function mergeSettingsLayers(layers: readonly SettingsLayer[]): Settings {
  return layers.reduceRight<Settings>((weaker, layer) => mergeValues(weaker, layer.settings), {});
}

function mergeValues<Value>(weaker: Value, stronger: Value): Value {
  if (Array.isArray(weaker) && Array.isArray(stronger))
    return JSON.parse(JSON.stringify([...new Set([...stronger, ...weaker])]));
  if (!isJsonRecord(weaker) || !isJsonRecord(stronger)) return stronger === undefined ? weaker : stronger;
  const keys = new Set([...Object.keys(weaker), ...Object.keys(stronger)]);
  const entries = [...keys].map((key) => [key, mergeValues(Reflect.get(weaker, key), Reflect.get(stronger, key))]);
  return Object.fromEntries(entries);
}

/** Lists each value with the layer it comes from; a list is given once per layer that adds to it. */
export function explainSettingsLayers(layers: readonly SettingsLayer[], prefix?: string): readonly SettingWithSource[] {
  const found: SettingWithSource[] = [];
  for (const layer of layers) {
    for (const { path, value } of listLeaves(layer.settings, [])) {
      const key = path.join('.');
      if (prefix !== undefined && key !== prefix && !key.startsWith(`${prefix}.`)) continue;
      const isOverridden = !Array.isArray(value) && found.some((other) => other.key === key);
      if (isOverridden) continue;
      const line = layer.lineOf(path);
      found.push({ key, value, source: layer.source, file: layer.file, ...(line === undefined ? {} : { line }) });
    }
  }
  return found;
}

function* listLeaves(value: object, path: readonly string[]): Generator<{ path: readonly string[]; value: JsonValue }> {
  for (const [key, inner] of Object.entries(value)) {
    if (isJsonRecord(inner)) yield* listLeaves(inner, [...path, key]);
    else if (inner !== undefined) yield { path: [...path, key], value: inner };
  }
}

/** Merges reloaded settings of an untrusted folder with the earlier ones; restrictions can only be added. */
export function keepRestrictions(before: LoadedSettings, next: LoadedSettings): LoadedSettings {
  const projectLayers = before.layers.filter(({ source }) => source === 'project' || source === 'local');
  const merged = next.layers.map((layer) => {
    const earlier = projectLayers.find(({ file }) => file === layer.file);
    return earlier === undefined ? layer : { ...layer, settings: mergeSettingsLayers([layer, earlier]) };
  });
  const removed: readonly SettingsLayer[] = projectLayers.filter(
    ({ file }) => !next.layers.some((layer) => layer.file === file),
  );
  const layers = [...merged, ...removed];
  return { ...next, layers, merged: mergeSettingsLayers(layers) };
}
