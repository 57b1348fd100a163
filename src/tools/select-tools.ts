import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { Rule } from '../contracts/permission.ts';
import type { Tool } from '../contracts/tool.ts';
import { findClosestWord } from '../lib/text/closest-word.ts';
import { isRuleForTool } from '../permissions/collect-call-findings.ts';
import { structuredOutputTraits } from './structured-output.ts';

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
