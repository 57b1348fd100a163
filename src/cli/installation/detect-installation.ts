import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path/posix';
import { getReleaseSource } from '../../app/release-source.ts';
import { isCompiledExecutable } from '../../lib/processes/installed-files.ts';

/** The way in which the running program was installed, which decides how it is updated and removed. */
export type Installation =
  | { readonly kind: 'checkout'; readonly root: string }
  /** A global installation of npm: `prefix` is its folder. */
  | { readonly kind: 'npm'; readonly prefix: string }
  /** A package manager that the user runs. */
  | { readonly kind: 'manager'; readonly name: string; readonly update: string; readonly uninstall: string }
  /** An executable of its own: one of install.sh, install.ps1, or copied by hand. */
  | { readonly kind: 'executable'; readonly file: string };

/** Detects how the running program was installed. */
export function detectInstallation(): Installation {
  const program = isCompiledExecutable ? realpathSync(process.execPath) : import.meta.filename;
  return classifyInstallation(program, getReleaseSource().packageName, existsSync);
}

/** Classifies an installation by the real path of its program. @internal Exported for tests. */
export function classifyInstallation(
  program: string,
  packageName: string,
  exists: (path: string) => boolean,
): Installation {
  const path = program.replaceAll('\\', '/');
  const root = findCheckout(path, exists);
  if (root !== undefined) return { kind: 'checkout', root };
  const manager = MANAGERS.find(({ pattern }) => pattern.test(path));
  if (manager !== undefined) {
    const { name, update, uninstall } = manager;
    return { kind: 'manager', name, update: update(packageName), uninstall: uninstall(packageName) };
  }
  const modules = /^(.*?)(\/lib)?\/node_modules\//.exec(path);
  if (modules === null) return { kind: 'executable', file: program };
  const [, folder = '', lib] = modules;
  if (lib !== undefined || !exists(`${folder}/package.json`)) return { kind: 'npm', prefix: folder };
  return {
    kind: 'manager',
    name: `the project ${folder}`,
    update: `npm install ${packageName}@latest`,
    uninstall: `npm uninstall ${packageName}`,
  };
}

type Manager = {
  readonly name: string;
  /** Matches the path of the program. */
  readonly pattern: RegExp;
  readonly update: (packageName: string) => string;
  readonly uninstall: (packageName: string) => string;
};

const MANAGERS: readonly Manager[] = [
  {
    name: 'Homebrew',
    pattern: /\/Cellar\//,
    update: () => 'brew upgrade ouro',
    uninstall: () => 'brew uninstall ouro',
  },
  {
    name: 'Scoop',
    pattern: /\/scoop\/apps\//i,
    update: () => 'scoop update ouro',
    uninstall: () => 'scoop uninstall ouro',
  },
  {
    name: 'Nix',
    pattern: /^\/nix\/store\//,
    update: () => 'nix profile upgrade ouro',
    uninstall: () => 'nix profile remove ouro',
  },
  {
    name: 'pnpm',
    pattern: /\/pnpm\/.*\/node_modules\//i,
    update: (name) => `pnpm add --global ${name}@latest`,
    uninstall: (name) => `pnpm remove --global ${name}`,
  },
  {
    name: 'Bun',
    pattern: /\/\.bun\/install\/global\//,
    update: (name) => `bun add --global ${name}@latest`,
    uninstall: (name) => `bun remove --global ${name}`,
  },
  {
    name: 'Yarn',
    pattern: /\/yarn\/(?:data\/)?global\//i,
    update: (name) => `yarn global add ${name}@latest`,
    uninstall: (name) => `yarn global remove ${name}`,
  },
];

/** Returns the checkout that a program belongs to: with its sources, or with its build in `dist/`. */
function findCheckout(program: string, exists: (path: string) => boolean): string | undefined {
  const candidates = [join(program, '..', '..'), join(program, '..', '..', '..', '..')];
  return candidates.find((root) => exists(join(root, 'src', 'cli', 'main.ts')) && exists(join(root, 'bin', 'ouro')));
}
