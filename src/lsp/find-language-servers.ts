import { basename } from 'node:path';
import type { LanguageServerConfig } from '../contracts/extension.ts';
import { findLocalProgram, findProjectProgram, isProgramOfProject, type ProjectCondition } from './project-programs.ts';

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
export const KNOWN_SERVERS: readonly KnownServer[] = [
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
  /** The setting that switches on programs of the project; `undefined` if the user has said nothing. */
  readonly getProjectPrograms: () => boolean | undefined;
  /** Told once about a program of the project that is not used. */
  readonly onUnused: (program: string) => void;
};

const LIMITS = {
  startTimeoutMs: 30_000,
  shutdownTimeoutMs: 2_000,
  maxRestarts: 1,
  reportsDiagnostics: true,
  maxMemoryBytes: 4 * 1024 ** 3,
};

/** Creates the search for installed servers; each program is looked for once per session. */
export function createLanguageServerFinder(options: LanguageServerSearchOptions) {
  const { folder, path, isExcluded, getProjectPrograms, onUnused } = options;
  const programs = new Map<string, string | undefined>();
  const found = new Map<string, LanguageServerConfig>();
  const unused = new Set<string>();

  function findInstalled(command: string): string | undefined {
    const usesProjectPrograms = getProjectPrograms() === true;
    const key = `${command}\0${usesProjectPrograms}`;
    if (!programs.has(key)) programs.set(key, findProjectProgram(command, { folder, path, usesProjectPrograms }));
    return programs.get(key);
  }

  function reportUnused(command: string): void {
    if (getProjectPrograms() !== undefined || unused.has(command)) return;
    const program = findLocalProgram(command, folder);
    if (program === undefined) return;
    unused.add(command);
    onUnused(program);
  }

  const isCurrent = ({ command }: LanguageServerConfig) => findInstalled(basename(command)) === command;
  const listFound = (): readonly LanguageServerConfig[] =>
    [...found.values()].filter((server) => !isExcluded(server.name) && isCurrent(server));
  const isUsable = ({ name }: KnownServer) => !isExcluded(name);

  return {
    /** Returns whether any known server is installed. */
    hasInstalled: () => KNOWN_SERVERS.some((server) => isUsable(server) && findInstalled(server.command) !== undefined),
    /** Finds the installed servers for a file, and returns them with those found before. */
    find(file: string): readonly LanguageServerConfig[] {
      for (const server of KNOWN_SERVERS) {
        const { name, command, args, languages } = server;
        const known = found.get(name);
        if (
          (known !== undefined && isCurrent(known)) ||
          !Object.keys(languages).some((extension) => file.endsWith(extension))
        )
          continue;
        const program = isUsable(server) ? findInstalled(command) : undefined;
        if (!isProgramOfProject(server, file, folder)) continue;
        if (program === undefined && isUsable(server)) reportUnused(command);
        if (program === undefined) continue;
        found.set(name, { ...LIMITS, name, command: program, args, env: {}, languages });
      }
      return listFound();
    },
    listFound,
  };
}
