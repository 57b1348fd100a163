import type { PluginVariables } from '../contracts/extension.ts';

/** Words of a plugin with the places they name as `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}`. */
export function placedText(
  text: string,
  { CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data }: PluginVariables,
  written: (place: string) => string = (place) => place,
): string {
  return text.replaceAll(/\$\{CLAUDE_PLUGIN_(ROOT|DATA)\}/g, (_, which) => written(which === 'ROOT' ? root : data));
}
