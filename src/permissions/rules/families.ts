/** How a rule speaks of calls: by command, by the path that is read or changed, by host, by a name. */
export type RuleFamily = 'command' | 'read' | 'edit' | 'domain' | 'name';

/** The grammar of rules: which words may stand before parentheses, and what stands between those. */
const FAMILIES: Readonly<Record<string, RuleFamily>> = {
  Bash: 'command',
  Read: 'read',
  Glob: 'read',
  Grep: 'read',
  LSP: 'read',
  Edit: 'edit',
  Write: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  WebFetch: 'domain',
  Task: 'name',
  Skill: 'name',
};

/** The word that speaks of every tool of a family, and of what a shell does in its way. */
export const FAMILY_WORD = { command: 'Bash', read: 'Read', edit: 'Edit' } as const;

/** The word of rules for commands that may leave the sandbox. */
export const OUTSIDE_WORD = 'Outside';

/** The word of rules for servers that want the model to answer. */
export const SAMPLING_WORD = 'Sampling';

/** The word of rules for hosts, those that commands in a sandbox reach too. */
export const HOST_WORD = 'WebFetch';

/** What a tool was called before, in rules that were written then. */
export const RENAMED: Readonly<Record<string, string>> = { Agent: 'Task', KillBash: 'KillShell' };

export function familyOf(word: string): RuleFamily | undefined {
  return Object.hasOwn(FAMILIES, word) ? FAMILIES[word] : undefined;
}

/** True when a rule with this word speaks of a tool, by its name or as the word of its family. */
export function speaksOfTool(word: string, tool: string): boolean {
  const family = familyOf(tool);
  return word === tool || ((family === 'read' || family === 'edit') && word === FAMILY_WORD[family]);
}
