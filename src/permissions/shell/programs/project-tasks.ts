import { dirname, join } from 'node:path/posix';
import { createLazy } from '../../../lib/memoize.ts';
import { splitWords } from '../../../lib/text/lines.ts';
import type { PermissionFs } from '../../permission-fs.ts';
import { getProgramBaseName } from '../parse/shell-words.ts';
import { readTextFile } from './git-repository.ts';
import { computeHash, findNearest, readPresentFile } from './nearby-files.ts';
import { listPackageScripts, type ProjectTask, parseJsonObject, type ScriptRunner } from './package-scripts.ts';
import {
  includesNothing,
  type ParseIncludes,
  parseJustIncludes,
  parseMakeIncludes,
  parseMiseIncludes,
  parseRakeIncludes,
  parseYamlIncludes,
  readTaskFiles,
} from './task-includes.ts';

/** The way in which a program finds its tasks. */
type TaskSource =
  | ({ readonly kind: 'scripts' } & ScriptRunner)
  /** Whole files, the nearest of which counts, or the one that an option names. */
  | TaskFiles
  /** Scripts of `composer.json`. */
  | { readonly kind: 'composer' }
  /** Tables of a TOML file. */
  | { readonly kind: 'tables'; readonly name: string; readonly subcommand: string };

type TaskFiles = {
  readonly kind: 'files';
  readonly names: readonly string[];
  readonly option: RegExp;
  readonly parseIncludes: ParseIncludes;
  readonly subcommand?: string;
};

const NPM: TaskSource = {
  kind: 'scripts',
  targets: /^(?:run|run-script|rum|urn|foreach)$/,
  settings: ['.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml'],
};
const FILE_OPTION = /^(?:-f|-d|--file|--justfile|--taskfile|--rakefile|--config)$/;
const COMPOSE: TaskSource = {
  kind: 'files',
  names: splitWords(`
    compose.yaml compose.yml compose.override.yaml compose.override.yml
    docker-compose.yaml docker-compose.yml docker-compose.override.yaml docker-compose.override.yml
  `),
  option: FILE_OPTION,
  parseIncludes: parseYamlIncludes,
};
const MAKE: TaskSource = {
  kind: 'files',
  names: ['GNUmakefile', 'makefile', 'Makefile'],
  option: FILE_OPTION,
  parseIncludes: parseMakeIncludes,
};
const TASK: TaskSource = {
  kind: 'files',
  names: splitWords(`
    Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml
    Taskfile.dist.yml Taskfile.dist.yaml taskfile.dist.yml taskfile.dist.yaml
  `),
  option: FILE_OPTION,
  parseIncludes: parseYamlIncludes,
};
const PYTHON: TaskSource = { kind: 'tables', name: 'pyproject.toml', subcommand: 'run' };

const createTaskSources = (): Readonly<Record<string, TaskSource>> => ({
  ...Object.fromEntries(
    splitWords('npm pnpm yarn bun corepack run-s run-p npm-run-all concurrently').map((name) => [name, NPM]),
  ),
  node: { ...NPM, targets: /^--run$/ },
  deno: {
    ...{ kind: 'files', names: ['deno.json', 'deno.jsonc'], option: FILE_OPTION, subcommand: 'task' },
    parseIncludes: includesNothing,
  },
  just: {
    ...{ kind: 'files', names: ['justfile', 'Justfile', 'JUSTFILE', '.justfile'], option: FILE_OPTION },
    parseIncludes: parseJustIncludes,
  },
  ...{ task: TASK, 'go-task': TASK, make: MAKE, gmake: MAKE },
  mise: {
    kind: 'files',
    names: ['mise.toml', '.mise.toml', 'mise.local.toml', '.mise.local.toml', '.config/mise.toml', 'mise/config.toml'],
    ...{ option: FILE_OPTION, subcommand: 'run', parseIncludes: parseMiseIncludes },
  },
  rake: {
    ...{ kind: 'files', names: ['Rakefile', 'rakefile', 'Rakefile.rb', 'rakefile.rb'], option: FILE_OPTION },
    parseIncludes: parseRakeIncludes,
  },
  composer: { kind: 'composer' },
  docker: { ...COMPOSE, subcommand: 'compose' },
  podman: { ...COMPOSE, subcommand: 'compose' },
  ...{ 'docker-compose': COMPOSE, 'podman-compose': COMPOSE },
  ...{ uv: PYTHON, poetry: PYTHON, pdm: PYTHON, hatch: PYTHON, poe: { ...PYTHON, subcommand: '' } },
});
const listTaskSources = createLazy(createTaskSources);

/** Begins the hash of a task of which a part is known only when it runs: no earlier answer is about it. */
export const UNKNOWN_PARTS = 'unknown ';

/** Returns whether a program runs tasks of a project. */
export const hasProjectTasks = (word: string): boolean => Object.hasOwn(listTaskSources(), getProgramBaseName(word));

/** Lists the tasks of a project that a command runs in one of these folders. */
export function listProjectTasks(
  [word = '', ...args]: readonly string[],
  folders: readonly string[],
  fs: PermissionFs,
): readonly ProjectTask[] {
  const name = getProgramBaseName(word);
  const source = Object.hasOwn(listTaskSources(), name) ? listTaskSources()[name] : undefined;
  switch (source?.kind) {
    case 'scripts':
      return listPackageScripts(args, folders, source, fs);
    case 'files':
      return source.subcommand === undefined || args.includes(source.subcommand)
        ? listTaskFiles(args, folders, { source, fs })
        : [];
    case 'composer':
      return listComposerScripts(args, folders, fs);
    case 'tables':
      return source.subcommand === '' || args.includes(source.subcommand)
        ? [...listTables(folders, source.name, fs), ...listPythonFiles(args, folders, fs)]
        : [];
    default:
      return [];
  }
}

function listTaskFiles(
  args: readonly string[],
  folders: readonly string[],
  { source, fs }: { readonly source: TaskFiles; readonly fs: PermissionFs },
): readonly ProjectTask[] {
  const named = args.flatMap((arg, index) => {
    if (source.option.test(args[index - 1] ?? '')) return [arg];
    const [option = '', ...value] = arg.split('=');
    return source.option.test(option) && value.length > 0 ? [value.join('=')] : /^-f./.test(arg) ? [arg.slice(2)] : [];
  });
  // `just folder/task` runs a task of that folder.
  const inner = args.filter((arg) => arg.includes('/') && !arg.startsWith('-')).map((arg) => dirname(arg));
  return folders.flatMap((folder) => {
    const paths = [
      ...[folder, ...inner.map((name) => join(folder, name))].flatMap((place) => findNearest(place, source.names, fs)),
      ...named.map((name) => (name.startsWith('/') ? name : join(folder, name))),
    ];
    const { files, others } = readTaskFiles(paths, { ...source, folder, fs });
    const key = `${folder}\n${named[0] ?? source.names[0]}`;
    if (files.every(([, text]) => text === undefined)) return [];
    const hash = computeHash(JSON.stringify(files.map(([path, text]) => [path, text ?? null])));
    return [{ key, hash: others === 'unknown' ? `${UNKNOWN_PARTS}${hash}` : hash, folder, lines: [] }];
  });
}

/** Tables of a TOML file that name what commands run. */
const TASK_TABLE =
  /^\[(?:project\.(?:gui-)?scripts|tool\.(?:poetry\.scripts|pdm\.scripts|hatch\.envs|poe|taskipy|uv\.sources))\b/;

function listTables(folders: readonly string[], name: string, fs: PermissionFs): readonly ProjectTask[] {
  return folders.flatMap((folder) => {
    const [path] = findNearest(folder, [name], fs);
    if (path === undefined) return [];
    const tables = (readTextFile(fs, path) ?? '').split(/^(?=\[)/m).filter((table) => TASK_TABLE.test(table));
    return [{ key: `${folder}\n${name}`, hash: computeHash([path, ...tables].join('\0')), folder, lines: [] }];
  });
}

/** Lists the scripts and modules that the arguments of a runner name, wherever they are among its options. */
function listPythonFiles(
  args: readonly string[],
  folders: readonly string[],
  fs: PermissionFs,
): readonly ProjectTask[] {
  const names = args.flatMap((arg, index) => {
    const module = arg.replaceAll('.', '/');
    return args[index - 1] === '-m' ? [`${module}.py`, `${module}/__main__.py`] : arg.endsWith('.py') ? [arg] : [];
  });
  return folders.flatMap((folder) =>
    names.flatMap((name) => {
      const path = name.startsWith('/') ? name : join(folder, name);
      const text = readPresentFile(fs, path);
      return text === '' ? [] : [{ key: path, hash: computeHash(text), folder, lines: [] }];
    }),
  );
}

/** Lists the scripts of `composer.json` that a command may run: events and names are words like any other. */
function listComposerScripts(args: readonly string[], folders: readonly string[], fs: PermissionFs) {
  return folders.flatMap((folder): readonly ProjectTask[] => {
    const [path] = findNearest(folder, ['composer.json'], fs);
    const manifest = parseJsonObject(path === undefined ? '' : (readTextFile(fs, path) ?? ''));
    if (path === undefined || manifest === undefined) return [];
    const { scripts, config, autoload, repositories } = manifest;
    const fields = JSON.stringify([path, scripts, config, autoload, repositories]);
    const lines = Object.values({ ...Object(scripts) }).flatMap((line) => [line].flat());
    const shellLines = lines.filter((line): line is string => typeof line === 'string' && !line.includes('::'));
    return [
      {
        ...{ key: `${folder}\ncomposer.json`, hash: computeHash(fields), folder: dirname(path) },
        // A script that no word names runs only with its event, such as an installation.
        lines: args.length === 0 ? [] : shellLines.map((line) => line.replace(/^@(?=php |composer )/, '')),
      },
    ];
  });
}

/** Describes a key: the path of a script, or a task and the folder in which it is looked for. */
export function describeTaskKey(key: string): string {
  const [path = '', task] = key.split('\n');
  return task === undefined ? path : `"${task}" of ${path}`;
}
