import type { LoadedSettings, SettingsLayer } from '../contracts/settings.ts';
import { merge } from './merge.ts';

/** A folder nobody trusts may forbid more at any time, and take nothing back that it forbade. */
export function neverLooser(before: LoadedSettings, next: LoadedSettings): LoadedSettings {
  const ofFolder = before.layers.filter(({ source }) => source === 'project' || source === 'local');
  const kept = next.layers.map((layer) => {
    const old = ofFolder.find(({ file }) => file === layer.file);
    return old === undefined ? layer : { ...layer, settings: merge([layer, old]) };
  });
  const gone: readonly SettingsLayer[] = ofFolder.filter(
    ({ file }) => !next.layers.some((layer) => layer.file === file),
  );
  const layers = [...kept, ...gone];
  return { ...next, layers, merged: merge(layers) };
}
