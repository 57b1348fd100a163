import { extname, relative } from 'node:path';
import { type FileLocks, FileStaysLocked } from '../lib/files/file-locks.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { omitUndefined } from '../lib/json.ts';
import { findShell } from '../lib/processes/find-shell.ts';
import {
  describeSandboxRun,
  type ProgramCheck,
  type ProgramCheckResult,
  type ProgramStart,
} from '../lib/processes/program-check.ts';
import { createFailedResult, type RunProgramOptions, runProgram } from '../lib/processes/run-program.ts';
import { sanitizeUntrusted } from '../lib/text/sanitize.ts';
import { findProjectProgram, isProgramOfProject, type ProjectCondition } from './project-programs.ts';

/** A formatter or linter that is found in a project. */
type KnownProgram = ProjectCondition & {
  readonly command: string;
  readonly args: readonly string[];
  readonly extensions: readonly string[];
};

const SCRIPTS = '.ts .mts .cts .tsx .js .mjs .cjs .jsx'.split(' ');
const WEB = [...SCRIPTS, '.json', '.jsonc', '.css'];
const RUFF = {
  command: 'ruff',
  extensions: ['.py', '.pyi'],
  projectFiles: ['ruff.toml', '.ruff.toml'],
  projectSetting: ['pyproject.toml', '[tool.ruff'],
} as const;
const BIOME = { command: 'biome', extensions: WEB, projectFiles: ['biome.json', 'biome.jsonc'] } as const;

/** The first one whose project file is above a file formats it. */
export const KNOWN_FORMATTERS: readonly KnownProgram[] = [
  { ...BIOME, args: ['format', '--write'] },
  {
    command: 'prettier',
    args: ['--write', '--ignore-unknown', '--log-level', 'warn'],
    extensions: [...WEB, '.md', '.yaml', '.yml', '.html', '.vue', '.scss', '.less', '.graphql'],
    projectFiles: ['.prettierrc', '.prettierrc.json', '.prettierrc.yaml', '.prettierrc.yml', '.prettierrc.toml'],
    projectSetting: ['package.json', '"prettier"'],
  },
  { ...RUFF, args: ['format', '--quiet'] },
  { command: 'gofmt', args: ['-w'], extensions: ['.go'], projectFiles: ['go.mod', 'go.work'] },
  { command: 'rustfmt', args: ['--edition', '2021'], extensions: ['.rs'], projectFiles: ['Cargo.toml'] },
];

/** The first one whose project file is above a file checks it; `fixArgs` also fix what is safe to fix. */
export const KNOWN_LINTERS: readonly (KnownProgram & { readonly fixArgs: readonly string[] })[] = [
  {
    command: 'eslint',
    args: ['--no-color'],
    fixArgs: ['--no-color', '--fix'],
    extensions: SCRIPTS,
    projectFiles: [
      ...['eslint.config.js', 'eslint.config.mjs', 'eslint.config.cjs', 'eslint.config.ts', 'eslint.config.mts'],
      ...['.eslintrc', '.eslintrc.json', '.eslintrc.js', '.eslintrc.cjs', '.eslintrc.yml', '.eslintrc.yaml'],
    ],
    projectSetting: ['package.json', '"eslintConfig"'],
  },
  { ...BIOME, args: ['lint', '--colors=off'], fixArgs: ['lint', '--colors=off', '--write'] },
  {
    ...RUFF,
    args: ['check', '--quiet', '--output-format=concise'],
    fixArgs: ['check', '--quiet', '--output-format=concise', '--fix'],
  },
  {
    command: 'golangci-lint',
    args: ['run'],
    fixArgs: ['run', '--fix'],
    extensions: ['.go'],
    projectFiles: ['.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'],
  },
];

/** The kind of program to run on files: a formatter, or a linter, which may fix what it finds. */
export type FileCheckerKind = 'formatter' | 'linter';

/** The files to check or format, and how. */
export type ProjectCheckRequest = {
  readonly files: readonly string[];
  readonly kind: FileCheckerKind;
  /** `auto` for the programs of the project, `fix` for its linters with fixes, or a command line that gets the files. */
  readonly setting: string;
  /** The requests of the setting for more than the sandbox of programs of the project gives. */
  readonly sandbox?: ProgramStart['sandbox'];
  readonly folder: string;
  readonly path: readonly string[];
  readonly usesProjectPrograms: boolean;
  readonly variables: Readonly<Record<string, string>>;
  readonly checkProgram: ProgramCheck;
};

/** The changed files, and a message for each program that failed or found something. */
export type ProjectCheckResult = { readonly changed: readonly string[]; readonly reports: readonly string[] };

const TIMEOUT_MS = 30_000;
const MAX_FILES = 200;
const OUTPUT_CHARS = 4_000;
/** Exit code of linters that have found something. */
const FOUND = 1;

/** Runs a program on each file that has one; files that are gone are left out. */
export async function runFormattersOrLinters(
  request: ProjectCheckRequest,
  locks: FileLocks,
  signal: AbortSignal,
): Promise<ProjectCheckResult> {
  const { folder, kind, variables: env } = request;
  const before = await readTexts(request.files.slice(0, MAX_FILES));
  const reports: string[] = [];
  for (const [command, { args, files }] of groupByProgram([...before.keys()], request)) {
    const program = command === SHELL ? (findShell('sh', env) ?? SHELL) : command;
    const options = { cwd: folder, env, timeoutMs: TIMEOUT_MS, signal };
    // The files are data: what is checked is the program with its options.
    const start = command === SHELL ? { line: request.setting } : { argv: [program, ...args] };
    const use = kind === 'linter' && request.setting === 'auto' ? 'reads' : 'formats';
    const { sandbox } = request;
    const checked = await request.checkProgram(
      { command: start, cwd: folder, variables: env, ...omitUndefined({ sandbox }) },
      use,
    );
    // Such a program reads files and writes them later: an edit of another session in between would be lost.
    const ended = checked.ok
      ? await locks
          .run(files, () => runWrapped(checked.wrap([program, ...args, ...files]), options), signal)
          .catch((thrown: unknown) => explainSkip(thrown, signal))
          .finally(() => checked.sandbox?.ended())
      : createFailedResult(checked.problem);
    if (ended === undefined || signal.aborted) continue;
    if (typeof ended === 'string') {
      reports.push(`The ${kind} ${getName(command, args)} was not run. ${ended}`);
      continue;
    }
    if (ended.code === 0) continue;
    const { code, stdout, stderr, timedOut, problem } = ended;
    const output = sanitizeUntrusted(`${stdout}${stderr}`).trim().slice(-OUTPUT_CHARS);
    const reason = timedOut ? `took more than ${TIMEOUT_MS / 1_000} s` : (problem ?? `exited with code ${code}`);
    const names = files.map((file) => relative(folder, file)).join(', ');
    const hasFindings = kind === 'linter' && code === FOUND;
    const advice = hasFindings ? ' Problems older than your changes need no fix.' : adviseOnSandbox(checked, kind);
    reports.push(
      `The ${kind} ${getName(command, args)} ${reason} for ${names}.${advice}${output === '' ? '' : `\n${output}`}`,
    );
  }
  const after = await readTexts([...before.keys()]);
  return { changed: [...before].flatMap(([file, text]) => (after.get(file) === text ? [] : [file])), reports };
}

/** Says how the setting of a program that failed gives it more than its sandbox. */
function adviseOnSandbox(checked: ProgramCheckResult, kind: FileCheckerKind): string {
  if (!checked.ok || checked.sandbox === undefined) return '';
  return ` It ran in the sandbox, ${describeSandboxRun(checked.sandbox)}; "${kind}": {"command": "…", "sandbox": "network" or "off"} in the user's settings gives it more.`;
}

/** Returns why the files could not be locked; `undefined` after an abort. */
function explainSkip(thrown: unknown, signal: AbortSignal): string | undefined {
  if (thrown instanceof FileStaysLocked) return thrown.message;
  if (signal.aborted) return undefined;
  throw thrown;
}

const runWrapped = ([file = '', ...args]: readonly string[], options: RunProgramOptions) =>
  runProgram(file, args, options);

/** Names a program: itself, or the command line of the setting. */
function getName(command: string, args: readonly string[]): string {
  return command === SHELL ? (args[1]?.slice(0, -ARGUMENTS.length) ?? '') : (command.split('/').at(-1) ?? command);
}

const SHELL = '/bin/sh';
const ARGUMENTS = ' "$@"';

type Group = { readonly args: readonly string[]; readonly files: string[] };

function groupByProgram(files: readonly string[], request: ProjectCheckRequest): ReadonlyMap<string, Group> {
  const { kind, setting, folder } = request;
  const isFixing = kind === 'linter' && setting === 'fix';
  if (setting !== 'auto' && !isFixing)
    return files.length === 0
      ? new Map()
      : new Map([[SHELL, { args: ['-c', `${setting}${ARGUMENTS}`, SHELL], files: [...files] }]]);
  const groups = new Map<string, Group>();
  const programs =
    kind === 'formatter'
      ? KNOWN_FORMATTERS
      : KNOWN_LINTERS.map(({ fixArgs, ...linter }) => (isFixing ? { ...linter, args: fixArgs } : linter));
  for (const file of files) {
    const known = programs.find(
      (candidate) => candidate.extensions.includes(extname(file)) && isProgramOfProject(candidate, file, folder),
    );
    const program = known && findProjectProgram(known.command, request);
    if (known === undefined || program === undefined) continue;
    const group = groups.get(program) ?? { args: known.args, files: [] };
    group.files.push(file);
    groups.set(program, group);
  }
  return groups;
}

async function readTexts(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const file of files) {
    const text = await readRegularFile(file).catch(() => undefined);
    if (text !== undefined) texts.set(file, text);
  }
  return texts;
}
