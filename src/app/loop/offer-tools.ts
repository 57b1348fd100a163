import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { ModelInfo } from '../../contracts/model.ts';
import type { Rule } from '../../contracts/permission.ts';
import type { Tool } from '../../contracts/tool.ts';
import { nearest } from '../../lib/text/nearest.ts';
import { namesTool } from '../../permissions/tool-findings.ts';
import { createDeferral, type Deferral } from '../../tools/deferral.ts';

const CHARS_PER_TOKEN = 3.5;

/** The tools the model is offered: those asked for, without those denied as a whole, in an order that never changes. */
export function offerTools(tools: readonly Tool[], options: RunOptions, rules: readonly Rule[]): readonly Tool[] {
  const denying = rules.filter(
    ({ behavior, specifier, problem }) => behavior === 'deny' && specifier === undefined && problem === undefined,
  );
  const isWanted = ({ name, aliases }: Tool) =>
    options.tools === undefined ||
    name === 'StructuredOutput' ||
    [name, ...aliases].some((one) => options.tools?.includes(one) === true);
  return tools
    .filter((tool) => isWanted(tool) && !denying.some((rule) => namesTool(rule, tool.name)))
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

/** A sentence for each name that no tool has. Tools of MCP servers are only known once those are connected. */
export function strayTools({ tools: wanted = [] }: RunOptions, tools: readonly Tool[]): readonly string[] {
  const known = tools.flatMap(({ name, aliases }) => [name, ...aliases]);
  return wanted
    .filter((name) => name !== 'default' && !known.includes(name) && !name.startsWith('mcp__'))
    .map((name) => {
      const meant = nearest(name, known);
      return `There is no tool ${name}, so --tools cannot offer it.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
    });
}
