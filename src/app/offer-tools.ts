import type { ModelInfo } from '../contracts/model.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import type { Settings } from '../contracts/settings.ts';
import type { Tool } from '../contracts/tool.ts';
import { createDeferral, type Deferral } from '../tools/deferral.ts';

const CHARS_PER_TOKEN = 3.5;

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

/** Without what the model's provider cannot do. */
export function fittingTools(tools: readonly Tool[], { webSearch }: ModelInfo): readonly Tool[] {
  return webSearch ? tools : tools.filter(({ name }) => name !== 'WebSearch');
}

/** Descriptions that are too much for the model's window wait until they are asked for. */
export function makeDeferral(tools: () => readonly Tool[], model: () => ModelInfo): Deferral {
  return createDeferral({
    tools,
    windowTokens: () => model().contextWindow,
    tokensOf: (text) => Math.ceil(text.length / CHARS_PER_TOKEN),
  });
}
