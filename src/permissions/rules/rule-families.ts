/** The kind of specifier a rule takes: a command, a path that is read or edited, a host, or a name. */
export type RuleFamily = 'command' | 'read' | 'edit' | 'domain' | 'name';

/** The family of each rule name, which determines the specifier allowed in parentheses. */
const FAMILIES: Readonly<Record<string, RuleFamily>> = {
  Bash: 'command',
  Read: 'read',
  Glob: 'read',
  Grep: 'read',
  LSP: 'read',
  Diagnostics: 'read',
  Edit: 'edit',
  Write: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  WebFetch: 'domain',
  Task: 'name',
  Skill: 'name',
};

/** The rule name that covers every tool of a family, and what a shell command does of that kind. */
export const FAMILY_RULE_NAMES = { command: 'Bash', read: 'Read', edit: 'Edit' } as const;

/** The rule name for commands that run outside of the sandbox. */
export const SANDBOX_EXCEPTION_RULE_NAME = 'Outside';

/** The rule name for MCP servers that request sampling. */
export const SAMPLING_RULE_NAME = 'Sampling';

/** The rule name for hosts, including those that sandboxed commands connect to. */
export const HOST_RULE_NAME = 'WebFetch';

/** Present names of renamed tools, by the name that older rules use. */
export const RENAMED_TOOLS: Readonly<Record<string, string>> = { Agent: 'Task', KillBash: 'KillShell' };

/** Returns the family of a rule name; undefined if its rules take no specifier. */
export function getRuleFamily(name: string): RuleFamily | undefined {
  return Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined;
}

/** Returns whether rules of a name apply to a tool: its own, or those of its family of file tools. */
export function coversTool(name: string, tool: string): boolean {
  const family = getRuleFamily(tool);
  return name === tool || ((family === 'read' || family === 'edit') && name === FAMILY_RULE_NAMES[family]);
}
