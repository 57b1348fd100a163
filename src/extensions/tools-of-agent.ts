import type { AgentKind } from '../contracts/extension.ts';
import type { PermissionMode, ToolLookup } from '../contracts/permission.ts';
import type { Tool } from '../contracts/tool.ts';

/** Sub-agents may start sub-agents of their own, this deep. */
const MAX_DEPTH = 2;

/** What a sub-agent of this kind may use: at most what its parent has. */
export function toolsOfAgent(
  kind: AgentKind,
  tools: readonly Tool[],
  { depth, toolNamed }: { readonly depth: number; readonly toolNamed: ToolLookup },
): readonly Tool[] {
  return tools.filter((tool) => {
    const having = toolNamed(tool.name)?.subAgents;
    if (having === 'none' || (having === 'parents' && depth >= MAX_DEPTH)) return false;
    if (isNamed(tool, kind.disallowedTools)) return false;
    return kind.tools === undefined || isNamed(tool, kind.tools);
  });
}

/** The same tools, each of these in the place of its namesake. */
export function withOwn(tools: readonly Tool[], own: readonly Tool[]): readonly Tool[] {
  return tools.map((tool) => own.find(({ name }) => name === tool.name) ?? tool);
}

function isNamed(tool: Tool, names: readonly string[]): boolean {
  return names.includes(tool.name) || tool.aliases.some((alias) => names.includes(alias));
}

const FROM_STRICT_TO_LOOSE: readonly PermissionMode[] = [
  'plan',
  'dontAsk',
  'default',
  'acceptEdits',
  'bypassPermissions',
];

/** The stricter of two modes: a kind of sub-agent may tighten what its parent has, never loosen it. */
export function stricterMode(parent: PermissionMode, kind: PermissionMode | undefined): PermissionMode {
  return FROM_STRICT_TO_LOOSE.find((mode) => mode === parent || mode === kind) ?? parent;
}
