import { dirname, join } from 'node:path/posix';
import type { PermissionFs } from '../../permission-fs.ts';
import { readTextFile } from './git-repository.ts';
import { isThere, listNames } from './nearby-files.ts';

/** The files that a task file includes, as it names them; `unknown` if some are known only when it runs. */
type Includes = { readonly paths: readonly string[]; readonly others: 'none' | 'unknown' };

/** Returns the files that the text of a task file includes. */
export type ParseIncludes = (text: string) => Includes;

/** A file that a task consists of; `undefined` for one that is missing, or that cannot be read. */
type TaskFile = readonly [path: string, text: string | undefined];

const MAX_INCLUDED = 200;

/**
 * Reads task files and everything that they include, also what is missing: it counts as soon as it is there. An included
 * folder stands for the task files in it.
 */
export function readTaskFiles(
  paths: readonly string[],
  { parseIncludes, names, folder, fs }: IncludeSearch,
): { readonly files: readonly TaskFile[]; readonly others: Includes['others'] } {
  const files = new Map<string, string | undefined>();
  let others: Includes['others'] = 'none';
  const add = (path: string): void => {
    if (files.has(path)) return;
    if (files.size >= MAX_INCLUDED) {
      others = 'unknown';
      return;
    }
    if (getKind(fs, path) === 'directory') {
      for (const name of names) if (isThere(fs, join(path, name))) add(join(path, name));
      return;
    }
    const text = readTextFile(fs, path);
    files.set(path, text);
    if (text === undefined) {
      if (isThere(fs, path)) others = 'unknown';
      return;
    }
    const included = parseIncludes(text);
    if (included.others === 'unknown') others = 'unknown';
    for (const name of included.paths) {
      // Make looks for them where it runs, others beside the file.
      for (const base of new Set([dirname(path), folder])) for (const next of expandPattern(fs, base, name)) add(next);
    }
  };
  for (const path of paths) add(path);
  return { files: [...files], others };
}

type IncludeSearch = {
  readonly parseIncludes: ParseIncludes;
  /** The names of task files in an included folder. */
  readonly names: readonly string[];
  readonly folder: string;
  readonly fs: PermissionFs;
};

function getKind(fs: PermissionFs, path: string) {
  try {
    return fs.lstat(path)?.kind;
  } catch {
    return undefined;
  }
}

/** Expands `*` and `?` in the last part of a path; patterns elsewhere match nothing. */
function expandPattern(fs: PermissionFs, base: string, name: string): readonly string[] {
  const path = name.startsWith('/') ? join(name) : join(base, name);
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (!/[*?]/.test(last)) return [path];
  const source = last
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const pattern = new RegExp(`^${source}$`, 's');
  return listNames(fs, dirname(path))
    .filter((entry) => pattern.test(entry))
    .map((entry) => join(dirname(path), entry));
}

export const includesNothing: ParseIncludes = () => ({ paths: [], others: 'none' });

/** Parses `include`, its optional forms, and calls of make in another folder. */
export const parseMakeIncludes: ParseIncludes = (text) => {
  const source = text.replaceAll('\\\n', ' ');
  const variables = new Map(
    [...source.matchAll(/^[ ]*(?:export[ ]+|override[ ]+)?([\w.-]+)[ ]*[:?]{0,3}=[ ]*([^#\n]*)/gm)].map(
      ([, name = '', value = '']) => [name, value.trim()],
    ),
  );
  const words = [...source.matchAll(/^[ ]*(?:-|s)?(?:include|load)[ \t]+([^#\n]*)/gm)].flatMap(([, list = '']) =>
    splitMakeWords(expandMakeVariables(list, variables)),
  );
  const folders = source
    .split('\n')
    .filter((line) => /\$[({]MAKE[)}]/.test(line))
    .flatMap((line) => listFolderArgs(line.split(/[\s;&|]+/)))
    .map((folder) => expandMakeVariables(folder, variables));
  const isKnown = (word: string) => !/[$(){}[\]]/.test(word);
  return {
    paths: [...words.filter(isKnown), ...folders.filter(isKnown)],
    others: words.every(isKnown) ? 'none' : 'unknown',
  };
};

const listFolderArgs = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    if (/^(?:-C|--directory)$/.test(words[index - 1] ?? '')) return [word];
    const value = word.replace(/^(?:-C|--directory=)/, '');
    return value === word || value === '' ? [] : [value];
  });

const splitMakeWords = (list: string) =>
  list
    .replaceAll(/\$[({]wildcard ([^$(){}]*)[)}]/g, '$1')
    .split(/\s+/)
    .filter((word) => word !== '');

const MAX_EXPANSIONS = 4;

function expandMakeVariables(list: string, variables: ReadonlyMap<string, string>): string {
  let expanded = list;
  for (let round = 0; round < MAX_EXPANSIONS; round += 1)
    expanded = expanded
      // The folder of the file, or where make runs.
      .replaceAll(/\$[({](?:CURDIR|PWD|dir \$[({](?:last|first)word \$[({]MAKEFILE_LIST[)}]{3})[)}]?\/?/g, './')
      .replaceAll(/\$(?:[({]([\w.-]+)[)}])/g, (reference, name: string) => variables.get(name) ?? reference);
  return expanded;
}

/** Parses `import`, and `mod` with the places of its file. */
export const parseJustIncludes: ParseIncludes = (text) => {
  const imports = [...text.matchAll(/^import\??[ \t]+x?(['"]{1,3})(.+?)\1/gm)].flatMap(([, , path]) => path ?? []);
  const modules = [...text.matchAll(/^mod\??[ \t]+([\w-]+)(?:[ \t]+x?(['"]{1,3})(.+?)\2)?/gm)].flatMap(
    ([, name = '', , path]) => {
      const folder = path ?? name;
      const files = ['mod.just', 'justfile', 'Justfile', '.justfile'].map((file) => `${folder}/${file}`);
      return [...(path === undefined ? [`${name}.just`] : [path]), ...files];
    },
  );
  return { paths: [...imports, ...modules], others: 'none' };
};

/** A place that is known only when the file is read: behind a variable or on another machine. */
const REMOTE = /^(?:(?:https?|oci|git|ssh):|git@|github\.com\/)|\{\{|\$/;

/**
 * Parses the files that a YAML file of tasks or services may include: everything in a block of includes, the values of
 * keys such as `file`, and whatever else is named like such a file.
 */
export const parseYamlIncludes: ParseIncludes = (text) => {
  const source = text.replaceAll(/(?:^|\s)#.*$/gm, '');
  const blocks = [...source.matchAll(/^[ ]*["']?includes?["']?[ ]*:(?:.*\n)(?:[ \t-].*\n|\n)*/gm)].map(([block]) =>
    block.replace(/^[^:]*:/, ''),
  );
  const values = [...source.matchAll(/(?:^|[\s{,])["']?(?:file|path|taskfile)["']?[ ]*:[ ]*([^\n,}]+)/g)];
  const included = [
    ...values.flatMap(([, value]) => value ?? []),
    ...blocks.flatMap((block) => block.split(/[\n,[\]{}]|-\s|:\s/)),
  ]
    .map((value) => value.trim().replaceAll(/^["']|["']$/g, ''))
    .filter((value) => value !== '' && !value.endsWith(':'));
  const named = source.split(/[^\w./@~-]+/).filter((word) => /\.ya?ml$/.test(word));
  return {
    paths: [...new Set([...included.filter((value) => !REMOTE.test(value) && /^[\w./@~-]+$/.test(value)), ...named])],
    others: included.some((value) => REMOTE.test(value)) ? 'unknown' : 'none',
  };
};

/** Parses the files that a Rakefile loads by a plain name, and those that rake loads by itself. */
export const parseRakeIncludes: ParseIncludes = (text) => {
  const named = [...text.matchAll(/\b(?:import|load|require_relative|add_import)\b[ (]*["']([^"'#]+)["']/g)];
  const paths = named.flatMap(([, path = '']) => [path, `${path}.rb`, `${path}.rake`]);
  return { paths: ['rakelib/*.rake', 'lib/tasks/*.rake', ...paths], others: 'none' };
};

/** Parses the folders of file tasks, and the files that tasks of mise are in. */
export const parseMiseIncludes: ParseIncludes = (text) => {
  const quoted = text.split(/["'\n]/).filter((word) => /^[\w./~-]+$/.test(word) && /[./]|^\w+$/.test(word));
  const listing = text.split('\n').filter((line) => /^[ \t]*(?:file|includes)[ \t]*=/.test(line));
  const folders = ['mise-tasks', '.mise-tasks', 'mise/tasks', '.mise/tasks', '.config/mise/tasks'];
  return {
    paths: [...quoted.flatMap((path) => [path, `${path}/*`]), ...folders.map((folder) => `${folder}/*`)],
    others: listing.some((line) => /:\/\/|git::|\{\{/.test(line)) ? 'unknown' : 'none',
  };
};
