import { extname, relative } from 'node:path';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { findShell } from '../lib/processes/find-shell.ts';
import { runProgram } from '../lib/processes/run-program.ts';
import { sanitizeUntrusted } from '../lib/text/sanitize.ts';
import { findProjectProgram, matchesProject, type ProjectCondition } from './project-programs.ts';

/** A formatter that is found in a project. */
type KnownFormatter = ProjectCondition & {
  readonly command: string;
  readonly args: readonly string[];
  readonly extensions: readonly string[];
};

const WEB = '.ts .mts .cts .tsx .js .mjs .cjs .jsx .json .jsonc .css'.split(' ');

/** The first one whose project file is above a file formats it. */
const KNOWN_FORMATTERS: readonly KnownFormatter[] = [
  { command: 'biome', args: ['format', '--write'], extensions: WEB, projectFiles: ['biome.json', 'biome.jsonc'] },
  {
    command: 'prettier',
    args: ['--write', '--ignore-unknown', '--log-level', 'warn'],
    extensions: [...WEB, '.md', '.yaml', '.yml', '.html', '.vue', '.scss', '.less', '.graphql'],
    projectFiles: ['.prettierrc', '.prettierrc.json', '.prettierrc.yaml', '.prettierrc.yml', '.prettierrc.toml'],
    projectSetting: ['package.json', '"prettier"'],
  },
  {
    command: 'ruff',
    args: ['format', '--quiet'],
    extensions: ['.py', '.pyi'],
    projectFiles: ['ruff.toml', '.ruff.toml'],
    projectSetting: ['pyproject.toml', '[tool.ruff'],
  },
  { command: 'gofmt', args: ['-w'], extensions: ['.go'], projectFiles: ['go.mod', 'go.work'] },
  { command: 'rustfmt', args: ['--edition', '2021'], extensions: ['.rs'], projectFiles: ['Cargo.toml'] },
];

/** The files to format, and how. */
export type FormatRequest = {
  readonly files: readonly string[];
  /** `auto` for the formatters of the project, or a command line that gets the files as arguments. */
  readonly formatter: string;
  readonly folder: string;
  readonly path: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
};

/** The changed files, and a message for each formatter that failed. */
export type FormatResult = { readonly changed: readonly string[]; readonly failures: readonly string[] };

const TIMEOUT_MS = 30_000;
const MAX_FILES = 200;
const OUTPUT_CHARS = 4_000;

/** Formats files, each with one formatter; files that are gone are left out. */
export async function formatFiles(request: FormatRequest, signal: AbortSignal): Promise<FormatResult> {
  const { folder, variables: env } = request;
  const before = await readTexts(request.files.slice(0, MAX_FILES));
  const failures: string[] = [];
  for (const [command, { args, files }] of groupByFormatter([...before.keys()], request)) {
    const { code, stdout, stderr, timedOut, problem } = await runProgram(
      command === SHELL ? (findShell('sh', env) ?? SHELL) : command,
      [...args, ...files],
      {
        cwd: folder,
        env,
        timeoutMs: TIMEOUT_MS,
        signal,
      },
    );
    if (code === 0 || signal.aborted) continue;
    const output = sanitizeUntrusted(`${stdout}${stderr}`).trim().slice(-OUTPUT_CHARS);
    const reason = timedOut ? `took more than ${TIMEOUT_MS / 1_000} s` : (problem ?? `exited with code ${code}`);
    const names = files.map((file) => relative(folder, file)).join(', ');
    failures.push(
      `The formatter ${getName(command, args)} ${reason} for ${names}.${output === '' ? '' : `\n${output}`}`,
    );
  }
  const after = await readTexts([...before.keys()]);
  return { changed: [...before].flatMap(([file, text]) => (after.get(file) === text ? [] : [file])), failures };
}

/** Names a formatter: its program, or the command line of the setting. */
function getName(command: string, args: readonly string[]): string {
  return command === SHELL ? (args[1]?.slice(0, -ARGUMENTS.length) ?? '') : (command.split('/').at(-1) ?? command);
}

const SHELL = '/bin/sh';
const ARGUMENTS = ' "$@"';

type Group = { readonly args: readonly string[]; readonly files: string[] };

function groupByFormatter(files: readonly string[], request: FormatRequest): ReadonlyMap<string, Group> {
  const { formatter, folder, path } = request;
  if (formatter !== 'auto')
    return files.length === 0
      ? new Map()
      : new Map([[SHELL, { args: ['-c', `${formatter}${ARGUMENTS}`, SHELL], files: [...files] }]]);
  const groups = new Map<string, Group>();
  for (const file of files) {
    const known = KNOWN_FORMATTERS.find(
      (candidate) => candidate.extensions.includes(extname(file)) && matchesProject(candidate, file, folder),
    );
    const program = known && findProjectProgram(known.command, folder, path);
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
