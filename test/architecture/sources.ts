import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

/** Source files by their path: from src/ for the core, `engine/query.ts`, else from the root, `packages/fleet/src/a.ts`. */
export type Sources = Readonly<Record<string, string>>;

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The folders of the packages that the core loads. */
export const PACKAGE_FOLDERS: readonly string[] = readManifest('.').workspaces ?? [];

/** Reads the sources of the core and of the packages. */
export function readSources(): Sources {
  return { ...readFolder('src', ''), ...readPackages('src') };
}

/** Reads the tests of the core and of the packages. */
export function readTests(): Sources {
  return { ...readFolder('test', ''), ...readPackages('test') };
}

function readPackages(kind: 'src' | 'test'): Sources {
  const folders = PACKAGE_FOLDERS.map((folder) => `${folder}/${kind}`);
  return Object.assign({}, ...folders.map((folder) => readFolder(folder, `${folder}/`)));
}

function readFolder(folder: string, prefix: string): Sources {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.\w+\.ts$/.test(path));
  return Object.fromEntries(paths.map((path) => [prefix + path, readFileSync(join(ROOT, folder, path), 'utf8')]));
}

/** Returns true for a file of a package. */
export const isPackaged = (path: string): boolean => path.startsWith('packages/');

/** Returns the package that a file belongs to, such as `packages/fleet`. */
export const packageOf = (path: string): string => path.split('/').slice(0, 2).join('/');

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly workspaces?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

/** Reads the manifest in a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

/** The files that the core and the packages offer each other, from the root, by the name under which they are imported. */
export const PUBLIC_EXPORTS: ReadonlyMap<string, string> = new Map(
  ['.', ...PACKAGE_FOLDERS].flatMap((folder) => {
    const { name, exports: entries = {} } = readManifest(folder);
    return Object.entries(entries)
      .filter(([, file]) => file.endsWith('.ts'))
      .map(([entry, file]): [string, string] => [join(name, entry), join(folder, file)]);
  }),
);

/** Returns the path of the source that an import names. */
export function resolveImport(path: string, target: string): string {
  const from = isPackaged(path) ? path : `src/${path}`;
  return (PUBLIC_EXPORTS.get(target) ?? normalize(join(dirname(from), target))).replace(/^src\//, '');
}
