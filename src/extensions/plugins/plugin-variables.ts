import type { PluginVariables } from '../../contracts/extension.ts';

/**
 * Expands `${CLAUDE_PLUGIN_ROOT}`, `${CLAUDE_PLUGIN_DATA}` and `${user_config.KEY}` in a text; `encode` escapes the
 * values for its format. Options without a value stay as they are. Never for a shell command, which would run a value
 * such as `; rm -rf ~`: shells get the options as variables.
 */
export function expandPluginVariables(
  text: string,
  { folders, options }: PluginVariables,
  encode: (value: string) => string = (value) => value,
): string {
  return text
    .replaceAll(/\$\{CLAUDE_PLUGIN_(ROOT|DATA)\}/g, (_, which) =>
      encode(which === 'ROOT' ? folders.CLAUDE_PLUGIN_ROOT : folders.CLAUDE_PLUGIN_DATA),
    )
    .replaceAll(/\$\{user_config\.(\w+)\}/g, (whole, key) =>
      Object.hasOwn(options, key) ? encode(options[key] ?? '') : whole,
    );
}
