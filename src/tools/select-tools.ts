import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { ModelInfo } from '../contracts/model.ts';
import type { Rule } from '../contracts/permission.ts';
import type { Settings } from '../contracts/settings.ts';
import type { Tool } from '../contracts/tool.ts';
import { findClosestWord } from '../lib/text/closest-word.ts';
import { isRuleForTool } from '../permissions/collect-call-findings.ts';
import { structuredOutputTraits } from './structured-output.ts';
import { webSearchTraits } from './web-search/web-search.ts';

type ToolSelector = (tools: readonly Tool[], rules: readonly Rule[]) => readonly Tool[];

/** Selects again only when a tool or a rule that denies tools has changed: every turn asks several times. */
export function memoizeToolSelector(select: ToolSelector): ToolSelector {
  let last:
    | { readonly tools: readonly Tool[]; readonly denied: string; readonly selected: readonly Tool[] }
    | undefined;
  return (tools, rules) => {
    const denied = listToolDenials(rules)
      .map(({ tool }) => tool)
      .join('\n');
    const isSame = last?.denied === denied && last.tools.length === tools.length;
    if (last === undefined || !isSame || tools.some((tool, index) => tool !== last?.tools[index]))
      last = { tools, denied, selected: select(tools, rules) };
    return last.selected;
  };
}

function listToolDenials(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(
    ({ behavior, specifier, problem }) => behavior === 'deny' && specifier === undefined && problem === undefined,
  );
}

/** Selects the tools that `--tools` names and no rule denies, sorted by name. */
export function selectEnabledTools(
  tools: readonly Tool[],
  options: CliRunOptions,
  rules: readonly Rule[],
): readonly Tool[] {
  const denyRules = listToolDenials(rules);
  // A hidden tool only makes calls of tools that are enabled.
  const isRequested = ({ name, aliases, isHidden }: Tool) =>
    options.tools === undefined ||
    isHidden === true ||
    name === structuredOutputTraits.name ||
    [name, ...aliases].some((toolName) => options.tools?.includes(toolName) === true);
  return tools
    .filter((tool) => isRequested(tool) && !denyRules.some((rule) => isRuleForTool(rule, tool.name)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Leaves out WebSearch where neither the model nor a provider searches. */
export function selectSupportedTools(
  tools: readonly Tool[],
  { webSearch: hasOwnSearch }: ModelInfo,
  { webSearch: provider }: Settings,
): readonly Tool[] {
  return hasOwnSearch || provider !== undefined ? tools : tools.filter(({ name }) => name !== webSearchTraits.name);
}

/** Returns a warning for each unknown name in `--tools`; MCP tools are unknown until connected. */
export function findUnknownTools({ tools: requested = [] }: CliRunOptions, tools: readonly Tool[]): readonly string[] {
  const known = tools.flatMap(({ name, aliases }) => [name, ...aliases]);
  return requested
    .filter((name) => name !== 'default' && !known.includes(name) && !name.startsWith('mcp__'))
    .map((name) => {
      const suggestion = findClosestWord(name, known);
      return `There is no tool ${name}, so --tools cannot offer it.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`;
    });
}
