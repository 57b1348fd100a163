import type { ForeignImportScope } from './foreign-import-item.ts';

/** Formats of the files in which assistants keep their MCP servers. */
export type McpServerFileFormat = 'vscode' | 'claude' | 'opencode' | 'codex' | 'gemini';
export type ForeignCommandFormat = 'markdown' | 'copilot' | 'codex' | 'toml';

type Place<Format> = {
  readonly assistant: string;
  readonly scope: ForeignImportScope;
  /** Path or glob, relative to the project or to the home folder. */
  readonly pattern: string;
  readonly format: Format;
};

const place =
  <Format>(scope: ForeignImportScope) =>
  (assistant: string, pattern: string, format: Format): Place<Format> => ({ assistant, scope, pattern, format });
const instructions = (scope: ForeignImportScope) => {
  const create = place<'instructions'>(scope);
  return (assistant: string, pattern: string) => create(assistant, pattern, 'instructions');
};
const [projectFile, userFile] = [instructions('project'), instructions('user')];
const [projectServers, userServers] = [place<McpServerFileFormat>('project'), place<McpServerFileFormat>('user')];
const [projectCommands, userCommands] = [place<ForeignCommandFormat>('project'), place<ForeignCommandFormat>('user')];

/** The instruction files of other assistants; ouro reads them where they are. */
export const FOREIGN_INSTRUCTION_PATHS: readonly Place<'instructions'>[] = [
  projectFile('Cursor', '.cursor/rules/**/*.mdc'),
  projectFile('Cursor', '.cursorrules'),
  projectFile('Gemini CLI', 'GEMINI.md'),
  projectFile('GitHub Copilot', '.github/copilot-instructions.md'),
  projectFile('GitHub Copilot', '.github/instructions/**/*.instructions.md'),
  projectFile('Cline', '.clinerules'),
  projectFile('Cline', '.clinerules/*.md'),
  projectFile('Windsurf', '.windsurfrules'),
  projectFile('Windsurf', '.windsurf/rules/**/*.md'),
  projectFile('Kiro', '.kiro/steering/**/*.md'),
  projectFile('Amp', 'AGENT.md'),
  userFile('Gemini CLI', '.gemini/GEMINI.md'),
  userFile('Codex', '.codex/AGENTS.md'),
  userFile('opencode', '.config/opencode/AGENTS.md'),
  userFile('pi', '.pi/agent/AGENTS.md'),
];

/** The files with MCP servers of other assistants. */
export const FOREIGN_MCP_SERVER_PATHS: readonly Place<McpServerFileFormat>[] = [
  projectServers('VS Code', '.vscode/mcp.json', 'vscode'),
  projectServers('Cursor', '.cursor/mcp.json', 'claude'),
  projectServers('opencode', 'opencode.json', 'opencode'),
  projectServers('opencode', 'opencode.jsonc', 'opencode'),
  projectServers('Gemini CLI', '.gemini/settings.json', 'gemini'),
  projectServers('Codex', '.codex/config.toml', 'codex'),
  userServers('Cursor', '.cursor/mcp.json', 'claude'),
  userServers('opencode', '.config/opencode/opencode.json', 'opencode'),
  userServers('opencode', '.config/opencode/opencode.jsonc', 'opencode'),
  userServers('Codex', '.codex/config.toml', 'codex'),
  userServers('Gemini CLI', '.gemini/settings.json', 'gemini'),
  userServers('Gemini CLI', '.gemini/extensions/*/gemini-extension.json', 'gemini'),
];

/** The commands and prompts of other assistants. */
export const FOREIGN_COMMAND_PATHS: readonly Place<ForeignCommandFormat>[] = [
  projectCommands('Cursor', '.cursor/commands/*.md', 'markdown'),
  projectCommands('GitHub Copilot', '.github/prompts/*.prompt.md', 'copilot'),
  projectCommands('opencode', '.opencode/command/**/*.md', 'markdown'),
  projectCommands('opencode', '.opencode/commands/**/*.md', 'markdown'),
  projectCommands('Gemini CLI', '.gemini/commands/**/*.toml', 'toml'),
  projectCommands('Windsurf', '.windsurf/workflows/*.md', 'markdown'),
  projectCommands('Cline', '.clinerules/workflows/*.md', 'markdown'),
  userCommands('Cursor', '.cursor/commands/*.md', 'markdown'),
  userCommands('Codex', '.codex/prompts/*.md', 'codex'),
  userCommands('opencode', '.config/opencode/command/**/*.md', 'markdown'),
  userCommands('opencode', '.config/opencode/commands/**/*.md', 'markdown'),
  userCommands('Gemini CLI', '.gemini/commands/**/*.toml', 'toml'),
];
