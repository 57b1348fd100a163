import type { JsonObject } from '../contracts/json.ts';
import type { ToolFacts, ToolKind } from '../contracts/permission.ts';

type Reader = (input: JsonObject, cwd: string) => Omit<ToolFacts, 'tool' | 'input'>;

/** Tools that touch nothing but the session itself. */
const SESSION_TOOLS = new Set([
  'TodoWrite',
  'TodoRead',
  'BashOutput',
  'KillShell',
  'KillBash',
  'EnterPlanMode',
  'ExitPlanMode',
  'AskUserQuestion',
  'ToolSearch',
  'StructuredOutput',
  'ListMcpResources',
  'ListMcpResourcesTool',
]);

const READERS: Readonly<Record<string, Reader>> = {
  Read: paths('read', 'file_path'),
  Glob: (input, cwd) => searched(input, cwd),
  Grep: (input, cwd) => searched(input, cwd),
  LS: (input, cwd) => searched(input, cwd),
  Write: paths('edit', 'file_path'),
  Edit: paths('edit', 'file_path'),
  MultiEdit: paths('edit', 'file_path'),
  NotebookEdit: paths('edit', 'notebook_path'),
  Bash: (input) => required(input, 'command', (command) => ({ kind: 'shell', command }), 'shell'),
  WebFetch: (input) => required(input, 'url', (url) => ({ kind: 'fetch', url }), 'fetch'),
  Task: (input) => ({ kind: 'agent', specifier: text(input.subagent_type) ?? 'general-purpose' }),
  Skill: (input) => ({ kind: 'skill', specifier: text(input.name) ?? text(input.skill) ?? text(input.command) ?? '' }),
};

/** Every name a rule may speak of, but those of MCP tools. */
export const KNOWN_TOOLS: readonly string[] = [
  ...SESSION_TOOLS,
  ...Object.keys(READERS),
  'WebSearch',
  'ReadMcpResource',
  'ReadMcpResourceTool',
];

/** What a call would touch, read from its input. A tool nobody knows touches anything. */
export function factsOf(tool: string, input: JsonObject, cwd: string): ToolFacts {
  const name = tool === 'Agent' ? 'Task' : tool;
  const base = { tool: name, input };
  if (Object.hasOwn(READERS, name)) {
    const read = READERS[name];
    if (read !== undefined) return { ...base, ...read(input, cwd) };
  }
  if (name.startsWith('mcp__')) return { ...base, kind: 'mcp' };
  return { ...base, kind: SESSION_TOOLS.has(name) ? 'session' : 'other' };
}

function paths(kind: 'read' | 'edit', key: string): Reader {
  return (input) =>
    required(input, key, (path) => (kind === 'read' ? { kind, reads: [path] } : { kind, writes: [path] }), kind);
}

function searched(input: JsonObject, cwd: string): Omit<ToolFacts, 'tool' | 'input'> {
  const folder = input.path === undefined ? cwd : text(input.path);
  if (folder === undefined) return { kind: 'read', problem: 'Its path is not a text.' };
  const pattern = text(input.pattern) ?? '';
  const glob = text(input.glob) ?? '';
  // A pattern may itself lead out of the folder.
  const leads = [pattern, glob].filter((each) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(each));
  const starts = leads.map((each) => (/^[/~]/.test(each) ? fixedPart(each) : `${folder}/${fixedPart(each)}`));
  return { kind: 'read', reads: [folder, ...starts], searches: [folder] };
}

/** The folders a pattern names before its first star. */
function fixedPart(pattern: string): string {
  const fixed = pattern.split(/[*?[{]/)[0] ?? '';
  return fixed === pattern ? pattern : fixed.replace(/[^/]*$/, '') || '/';
}

function required(
  input: JsonObject,
  key: string,
  facts: (value: string) => Omit<ToolFacts, 'tool' | 'input'>,
  kind: ToolKind,
): Omit<ToolFacts, 'tool' | 'input'> {
  const value = text(input[key]);
  return value === undefined || value === '' ? { kind, problem: `Its ${key} is missing or not a text.` } : facts(value);
}

function text(value: JsonObject[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
