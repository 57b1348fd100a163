import type { SubAgentDefinition } from '../contracts/extension.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { PermissionMode, ToolTraitsLookup } from '../contracts/permission.ts';
import type { Tool } from '../contracts/tool.ts';
import { omitUndefined } from '../lib/json.ts';
import { findClosestWord } from '../lib/text/closest-word.ts';

/** The adapted run options, or the reason the sub-agent cannot be used. */
type AppliedAgent =
  | { readonly ok: true; readonly options: CliRunOptions }
  | { readonly ok: false; readonly problem: string };

/** Applies `--agent` to the run options: the main conversation uses that sub-agent; explicit options win. */
export function applyAgentToOptions(options: CliRunOptions, kinds: readonly SubAgentDefinition[]): AppliedAgent {
  if (options.agent === undefined) return { ok: true, options };
  const kind = kinds.find(({ name }) => name === options.agent);
  if (kind === undefined) return { ok: false, problem: describeUnknownAgent(options.agent, kinds) };
  const { model, tools, maxTurns } = kind;
  // A sub-agent of the project may make the permission mode stricter, never looser.
  const requestedMode = kind.permissionMode;
  const permissionMode =
    requestedMode !== undefined && kind.source === 'project'
      ? selectStricterMode('default', requestedMode)
      : requestedMode;
  return {
    ok: true,
    options: {
      ...omitUndefined({ model, tools, permissionMode, maxTurns }),
      ...options,
      // `||`, because hosts send an empty prompt when they have none.
      systemPrompt: options.systemPrompt || kind.prompt,
      disallowedTools: [...(options.disallowedTools ?? []), ...kind.disallowedTools],
    },
  };
}

function describeUnknownAgent(name: string, kinds: readonly SubAgentDefinition[]): string {
  const names = kinds.map((kind) => kind.name);
  const suggestion = findClosestWord(name, names);
  const help = suggestion === undefined ? `Available: ${names.join(', ')}.` : `Did you mean ${suggestion}?`;
  return `There is no sub-agent "${name}" for --agent. ${help}`;
}

/** Levels of sub-agents that may start further sub-agents. */
const MAX_DEPTH = 2;

/** Selects the tools of a sub-agent from those of its parent. */
export function selectAgentTools(
  kind: SubAgentDefinition,
  tools: readonly Tool[],
  {
    depth,
    toolNamed,
    noteTools,
  }: {
    readonly depth: number;
    readonly toolNamed: ToolTraitsLookup;
    /** Tools that a sub-agent with memory needs for its notes. */
    readonly noteTools: readonly string[];
  },
): readonly Tool[] {
  return tools.filter((tool) => {
    const availability = toolNamed(tool.name)?.subAgents;
    if (availability === 'none' || (availability === 'parents' && depth >= MAX_DEPTH)) return false;
    if (isNamed(tool, selectUnrestrictedNames(kind.disallowedTools))) return false;
    const servers = (kind.mcpServers ?? []).map((server) => `mcp__${server}`);
    const notes = kind.memory === undefined ? [] : noteTools;
    return kind.tools === undefined || isNamed(tool, [...kind.tools.map(removeRule), ...servers, ...notes]);
  });
}

/** Replaces tools by replacements of the same name. */
export function replaceToolsByName(tools: readonly Tool[], replacements: readonly Tool[]): readonly Tool[] {
  return tools.map((tool) => replacements.find(({ name }) => name === tool.name) ?? tool);
}

/** Returns true when a name is the tool's name, one of its aliases, or the MCP server that provides it. */
function isNamed(tool: Tool, names: readonly string[]): boolean {
  return [tool.name, ...tool.aliases].some((toolName) =>
    names.some(
      (name) => name === toolName || (name.startsWith('mcp__') && toolName.startsWith(`${getServerPart(name)}__`)),
    ),
  );
}

function getServerPart(name: string): string {
  return name.replace(/(?:__\*)?$/, '').replace(/[^\w-]/g, '_');
}

/** Removes the rule of an entry: `Bash(git log)` makes Bash available, permission rules restrict it. */
function removeRule(name: string): string {
  return name.replace(/\(.*$/s, '');
}

/** Keeps the names without a rule: denying a part of a tool does not remove the tool. */
function selectUnrestrictedNames(names: readonly string[]): readonly string[] {
  return names.filter((name) => !name.includes('('));
}

const STRICTEST_FIRST: readonly PermissionMode[] = [
  'plan',
  'dontAsk',
  'default',
  'acceptEdits',
  'auto',
  'bypassPermissions',
];

/** Picks the stricter of two permission modes: a sub-agent never gets a looser mode than its parent. */
export function selectStricterMode(parent: PermissionMode, kind: PermissionMode | undefined): PermissionMode {
  return STRICTEST_FIRST.find((mode) => mode === parent || mode === kind) ?? parent;
}
