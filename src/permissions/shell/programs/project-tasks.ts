import { dirname, join } from 'node:path/posix';
import { splitWords } from '../../../lib/text/lines.ts';
import type { PermissionFs } from '../../permission-fs.ts';
import { getProgramBaseName } from '../parse/shell-words.ts';
import { readTextFile } from './git-repository.ts';
import { computeHash, findNearest, readPresentFile } from './nearby-files.ts';
import { listPackageScripts, type ProjectTask, type ScriptRunner } from './package-scripts.ts';

/** The way in which a program finds its tasks. */
type TaskSource =
  | ({ readonly kind: 'scripts' } & ScriptRunner)
  /** Whole files, the nearest of which counts, or the one that an option names. */
  | { readonly kind: 'files'; readonly names: readonly string[]; readonly option: RegExp; readonly subcommand?: string }
  /** Tables of a TOML file. */
  | { readonly kind: 'tables'; readonly name: string; readonly subcommand: string };

const NPM: TaskSource = {
  kind: 'scripts',
  targets: /^(?:run|run-script|rum|urn|foreach)$/,
  settings: ['.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml'],
};
const FILE_OPTION = /^(?:-f|-d|--file|--justfile|--taskfile|--rakefile|--config)$/;
const COMPOSE: TaskSource = {
  kind: 'files',
  names: ['compose', 'docker-compose'].flatMap((name) =>
    ['', '.override'].flatMap((part) => [`${name}${part}.yaml`, `${name}${part}.yml`]),
  ),
  option: FILE_OPTION,
};
const PYTHON: TaskSource = { kind: 'tables', name: 'pyproject.toml', subcommand: 'run' };

const SOURCES: Readonly<Record<string, TaskSource>> = {
  ...Object.fromEntries(
    splitWords('npm pnpm yarn bun corepack run-s run-p npm-run-all concurrently').map((name) => [name, NPM]),
  ),
  node: { ...NPM, targets: /^--run$/ },
  deno: { kind: 'files', names: ['deno.json', 'deno.jsonc'], option: FILE_OPTION, subcommand: 'task' },
  just: { kind: 'files', names: ['justfile', 'Justfile', '.justfile'], option: FILE_OPTION },
  task: { kind: 'files', names: ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml'], option: FILE_OPTION },
  gmake: { kind: 'files', names: ['GNUmakefile', 'makefile', 'Makefile'], option: FILE_OPTION },
  mise: { kind: 'files', names: ['mise.toml', '.mise.toml'], option: FILE_OPTION, subcommand: 'run' },
  rake: { kind: 'files', names: ['Rakefile', 'rakefile'], option: FILE_OPTION },
  docker: { ...COMPOSE, subcommand: 'compose' },
  podman: { ...COMPOSE, subcommand: 'compose' },
  'docker-compose': COMPOSE,
  ...{ uv: PYTHON, poetry: PYTHON, pdm: PYTHON, hatch: PYTHON, poe: { ...PYTHON, subcommand: '' } },
};

/** Returns whether a program runs tasks of a project. */
export const hasProjectTasks = (word: string): boolean => Object.hasOwn(SOURCES, getProgramBaseName(word));

/** Lists the tasks of a project that a command runs in one of these folders. */
export function listProjectTasks(
  [word = '', ...args]: readonly string[],
  folders: readonly string[],
  fs: PermissionFs,
): readonly ProjectTask[] {
  const name = getProgramBaseName(word);
  const source = Object.hasOwn(SOURCES, name) ? SOURCES[name] : undefined;
  switch (source?.kind) {
    case 'scripts':
      return listPackageScripts(args, folders, source, fs);
    case 'files':
      return source.subcommand === undefined || args.includes(source.subcommand)
        ? listTaskFiles(args, folders, { source, fs })
        : [];
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
  { source, fs }: { readonly source: Extract<TaskSource, { readonly kind: 'files' }>; readonly fs: PermissionFs },
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
    const texts = paths.flatMap((path) => {
      const text = readTextFile(fs, path);
      return text === undefined ? [] : [[path, text]];
    });
    const key = `${folder}\n${named[0] ?? source.names[0]}`;
    return texts.length === 0 ? [] : [{ key, hash: computeHash(JSON.stringify(texts)), folder, lines: [] }];
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

/** Describes a key: the path of a script, or a task and the folder in which it is looked for. */
export function describeTaskKey(key: string): string {
  const [path = '', task] = key.split('\n');
  return task === undefined ? path : `"${task}" of ${path}`;
}
