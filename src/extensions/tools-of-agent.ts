import type { AgentKind } from '../contracts/extension.ts';
import type { PermissionMode, ToolLookup } from '../contracts/permission.ts';
import type { Tool } from '../contracts/tool.ts';

/** Sub-agents may start sub-agents of their own, this deep. */
const MAX_DEPTH = 2;

/** What a sub-agent of this kind may use: at most what its parent has. */
export function toolsOfAgent(
  kind: AgentKind,
  tools: readonly Tool[],
  {
    depth,
    toolNamed,
    noteTools,
  }: {
    readonly depth: number;
    readonly toolNamed: ToolLookup;
    /** What notes are kept with. */
    readonly noteTools: readonly string[];
  },
): readonly Tool[] {
  return tools.filter((tool) => {
    const having = toolNamed(tool.name)?.subAgents;
    if (having === 'none' || (having === 'parents' && depth >= MAX_DEPTH)) return false;
    if (isNamed(tool, wholeTools(kind.disallowedTools))) return false;
    const servers = (kind.mcpServers ?? []).map((server) => `mcp__${server}`);
    const notes = kind.memory === undefined ? [] : noteTools;
    return kind.tools === undefined || isNamed(tool, [...kind.tools.map(withoutRule), ...servers, ...notes]);
  });
}

/** The same tools, each of these in the place of its namesake. */
export function withOwn(tools: readonly Tool[], own: readonly Tool[]): readonly Tool[] {
  return tools.map((tool) => own.find(({ name }) => name === tool.name) ?? tool);
}

/** By its name, another name it is known by, or the server that brings it. */
function isNamed(tool: Tool, names: readonly string[]): boolean {
  return [tool.name, ...tool.aliases].some((known) =>
    names.some((name) => name === known || (name.startsWith('mcp__') && known.startsWith(`${serverPart(name)}__`))),
  );
}

function serverPart(name: string): string {
  return name.replace(/(?:__\*)?$/, '').replace(/[^\w-]/g, '_');
}

/** `Bash(git log)` offers Bash; what of it may run the rules say. */
function withoutRule(name: string): string {
  return name.replace(/\(.*$/s, '');
}

/** Who forbids a part of a tool does not forbid the tool. */
function wholeTools(names: readonly string[]): readonly string[] {
  return names.filter((name) => !name.includes('('));
}

const FROM_STRICT_TO_LOOSE: readonly PermissionMode[] = [
  'plan',
  'dontAsk',
  'default',
  'acceptEdits',
  'auto',
  'bypassPermissions',
];

/** The stricter of two modes: a kind of sub-agent may tighten what its parent has, never loosen it. */
export function stricterMode(parent: PermissionMode, kind: PermissionMode | undefined): PermissionMode {
  return FROM_STRICT_TO_LOOSE.find((mode) => mode === parent || mode === kind) ?? parent;
}
