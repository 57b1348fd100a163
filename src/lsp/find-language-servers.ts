import type { LanguageServerConfig } from '../contracts/extension.ts';
import { findProjectProgram, isProgramOfProject, type ProjectCondition } from './project-programs.ts';

/** A language server that is used without a plugin where it is installed. */
type KnownServer = ProjectCondition & {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly languages: Readonly<Record<string, string>>;
};

const SCRIPTS = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'typescriptreact',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascriptreact',
};
const PYTHON = { '.py': 'python', '.pyi': 'python' };
const C_LANGUAGES = {
  '.c': 'c',
  '.h': 'c',
  '.cc': 'cpp',
  '.cpp': 'cpp',
  '.cxx': 'cpp',
  '.hpp': 'cpp',
  '.hh': 'cpp',
};

/** A server that needs a project file would report errors of its own making without one. */
const KNOWN_SERVERS: readonly KnownServer[] = [
  { name: 'typescript', command: 'typescript-language-server', args: ['--stdio'], languages: SCRIPTS },
  { name: 'pyright', command: 'pyright-langserver', args: ['--stdio'], languages: PYTHON },
  {
    name: 'ruff',
    command: 'ruff',
    args: ['server'],
    languages: PYTHON,
    projectFiles: ['ruff.toml', '.ruff.toml'],
    projectSetting: ['pyproject.toml', '[tool.ruff'],
  },
  {
    name: 'biome',
    command: 'biome',
    args: ['lsp-proxy'],
    languages: { ...SCRIPTS, '.json': 'json', '.css': 'css' },
    projectFiles: ['biome.json', 'biome.jsonc'],
  },
  { name: 'gopls', command: 'gopls', args: [], languages: { '.go': 'go' }, projectFiles: ['go.mod', 'go.work'] },
  {
    name: 'rust-analyzer',
    command: 'rust-analyzer',
    args: [],
    languages: { '.rs': 'rust' },
    projectFiles: ['Cargo.toml', 'rust-project.json'],
  },
  {
    name: 'clangd',
    command: 'clangd',
    args: [],
    languages: C_LANGUAGES,
    projectFiles: ['compile_commands.json', 'build/compile_commands.json', 'compile_flags.txt', '.clangd'],
  },
  {
    name: 'bash',
    command: 'bash-language-server',
    args: ['start'],
    languages: { '.sh': 'shellscript', '.bash': 'shellscript' },
  },
];

/** The folder of the session, the entries of PATH, and the names that the settings disable or define anew. */
export type LanguageServerSearchOptions = {
  readonly folder: string;
  readonly path: readonly string[];
  readonly isExcluded: (name: string) => boolean;
};

const LIMITS = {
  startTimeoutMs: 30_000,
  shutdownTimeoutMs: 2_000,
  maxRestarts: 1,
  reportsDiagnostics: true,
  maxMemoryBytes: 4 * 1024 ** 3,
};

/** Creates the search for installed servers; each program is looked for once per session. */
export function createLanguageServerFinder({ folder, path, isExcluded }: LanguageServerSearchOptions) {
  const programs = new Map<string, string | undefined>();
  const found = new Map<string, LanguageServerConfig>();

  function findInstalled(command: string): string | undefined {
    if (!programs.has(command)) programs.set(command, findProjectProgram(command, folder, path));
    return programs.get(command);
  }

  const listFound = (): readonly LanguageServerConfig[] => [...found.values()].filter(({ name }) => !isExcluded(name));
  const isUsable = ({ name }: KnownServer) => !isExcluded(name);

  return {
    /** Returns whether any known server is installed. */
    hasInstalled: () => KNOWN_SERVERS.some((server) => isUsable(server) && findInstalled(server.command) !== undefined),
    /** Finds the installed servers for a file, and returns them with those found before. */
    find(file: string): readonly LanguageServerConfig[] {
      for (const server of KNOWN_SERVERS) {
        const { name, command, args, languages } = server;
        if (found.has(name) || !Object.keys(languages).some((extension) => file.endsWith(extension))) continue;
        const program = isUsable(server) ? findInstalled(command) : undefined;
        if (program === undefined || !isProgramOfProject(server, file, folder)) continue;
        found.set(name, { ...LIMITS, name, command: program, args, env: {}, languages });
      }
      return listFound();
    },
    listFound,
  };
}
