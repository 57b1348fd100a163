import type { RunOptions } from '../contracts/run-options.ts';
import type { Settings } from '../contracts/settings.ts';
import type { Tool } from '../contracts/tool.ts';

/** The tools the model is offered: those asked for, without those denied as a whole, in an order that never changes. */
export function offerTools(tools: readonly Tool[], options: RunOptions, settings: Settings): readonly Tool[] {
  const denied = [...(options.disallowedTools ?? []), ...(settings.permissions?.deny ?? [])].filter(
    (rule) => !rule.includes('('),
  );
  const named = (tool: Tool, names: readonly string[]) =>
    names.includes(tool.name) || tool.aliases.some((alias) => names.includes(alias));
  return tools
    .filter(
      (tool) =>
        (options.tools === undefined || tool.name === 'StructuredOutput' || named(tool, options.tools)) &&
        !named(tool, denied),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
