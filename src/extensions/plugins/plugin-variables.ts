import type { PluginVariables } from '../../contracts/extension.ts';

/** Expands `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}` in a text; `encode` escapes the paths for its format. */
export function expandPluginVariables(
  text: string,
  { CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data }: PluginVariables,
  encode: (path: string) => string = (path) => path,
): string {
  return text.replaceAll(/\$\{CLAUDE_PLUGIN_(ROOT|DATA)\}/g, (_, which) => encode(which === 'ROOT' ? root : data));
}
