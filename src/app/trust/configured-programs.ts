import { basename, relative } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { TrustEffect } from '../../contracts/frontend/first-run.ts';
import type { Settings } from '../../contracts/settings.ts';
import { buildHookCommandLine } from '../../hooks/hook-actions.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import type { ProgramStart } from '../../lib/processes/program-check.ts';
import type { ProgramFile } from '../../lib/programs/program-files.ts';
import { listLocalPrograms } from '../../lsp/local-programs.ts';
import { describeGitProgram, isGitProgram, listStartedFiles } from '../../permissions/started-files.ts';
import { createChangeableTest, decodePrograms } from '../../settings/program-approvals.ts';

type ConfiguredPrograms = {
  /** Settings, and hooks of commands, skills and sub-agents, that start programs. */
  readonly sources: readonly Pick<
    Settings,
    'hooks' | 'mcpServers' | 'statusLine' | 'formatter' | 'linter' | 'languageServers' | 'projectPrograms'
  >[];
  /** The stored mark, whose files are listed as they are now. */
  readonly known: string | undefined;
};

/** Lists the programs of a folder that its settings, and those of the user, start or have started. */
export function listConfiguredPrograms(
  { sources, known }: ConfiguredPrograms,
  realDir: string,
  environment: Environment,
): readonly ProgramFile[] {
  const isChangeable = createChangeableTest([realDir], environment.home);
  const variables = { ...environment.variables, CLAUDE_PROJECT_DIR: realDir, OURO_PROJECT_DIR: realDir };
  const toStart = ({ command, env = {} }: Program): ProgramStart => ({
    command,
    cwd: realDir,
    variables: { ...variables, ...env },
    entryVariables: Object.keys(env),
  });
  const usesLocal = sources.some(({ projectPrograms }) => projectPrograms === true);
  const stored = [...decodePrograms(known).keys()];
  const starts = [
    ...sources.flatMap(listPrograms),
    ...[...stored.filter((path) => !isGitProgram(path)), ...(usesLocal ? listLocalPrograms(realDir) : [])].map(
      (path) => ({
        command: { argv: [path] },
      }),
    ),
  ].map(toStart);
  const files = [
    ...starts.flatMap((start) => listStartedFiles(start, isChangeable)),
    ...stored.filter(isGitProgram).flatMap(describeGitProgram),
  ];
  return [...new Map(files.map((file) => [file.path, file])).values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** A program, with the variables that its entry sets. */
type Program = Pick<ProgramStart, 'command'> & { readonly env?: Readonly<Record<string, string>> | undefined };

function listPrograms({
  hooks = {},
  mcpServers = {},
  statusLine,
  formatter,
  linter,
  languageServers = {},
}: ConfiguredPrograms['sources'][number]): readonly Program[] {
  const checkers = [formatter, linter]
    .map((setting) => (typeof setting === 'object' ? setting.command : setting))
    .filter((line) => line !== 'auto' && line !== 'fix');
  const lines = [statusLine?.command, ...checkers].filter((line) => line !== undefined);
  const servers = [...Object.values(mcpServers), ...Object.values(languageServers).map(parseServer)];
  return [
    ...Object.values(hooks).flatMap((groups) =>
      groups.flatMap(({ hooks: all }) => all.map((hook) => ({ command: { line: buildHookCommandLine(hook) } }))),
    ),
    ...lines.map((line) => ({ command: { line } })),
    ...servers.flatMap(({ command, args = [], env }) =>
      command === undefined ? [] : [{ command: { argv: [command, ...args] }, env }],
    ),
  ];
}

type Server = {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
};

function parseServer(entry: unknown): Server {
  if (typeof entry !== 'object' || entry === null) return {};
  const command: unknown = Reflect.get(entry, 'command');
  const args: unknown = Reflect.get(entry, 'args');
  if (typeof command !== 'string') return {};
  return { command, args: Array.isArray(args) ? args.filter((word) => typeof word === 'string') : [] };
}

/** Describes the programs that trusting a folder approves, and those that the user may switch on. */
export function describePrograms(
  programs: readonly ProgramFile[],
  realDir: string,
  offer: { readonly isOffered: boolean },
): readonly TrustEffect[] {
  const offered = offer.isOffered ? listLocalPrograms(realDir) : [];
  return [...programs.map((file) => describeProgram(file, realDir)), ...offered.map(describeOffer)];
}

const SHOWN_HASH_CHARS = 16;

function describeProgram({ path, hash }: ProgramFile, realDir: string): TrustEffect {
  const name = isPathBelow(realDir, path) ? relative(realDir, path) : path;
  const label = `${name} as it is now (sha256 ${hash.slice(0, SHOWN_HASH_CHARS)}…)`;
  return { kind: 'program', text: `runs ${label}`, label, file: path };
}

/** Describes a program that the user may switch on; trusting the folder does not start it. */
function describeOffer(path: string): TrustEffect {
  const [name, advice] = [`${basename(path)} of this project`, '"projectPrograms": true in your settings uses it'];
  return { kind: 'offer', text: `${name} is not started; ${advice}`, label: `${name}; ${advice}`, file: path };
}
