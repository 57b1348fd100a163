import { isAbsolute } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import { createHardenedGitEnv } from '../../git/run-git.ts';
import { hasAccess } from '../../lib/files/has-access.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { TOOLCHAIN_VARIABLES } from '../home-paths.ts';
import { resolveAllLinks } from '../host-paths.ts';

/** Variables of the environment that commands keep: who runs them, in which language and where toolchains are. */
const KEPT = new Set([
  ...['HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'CLICOLOR'],
  ...['COLUMNS', 'LINES', 'LS_COLORS', 'TERMINFO', 'TERMINFO_DIRS', 'LOCALE_ARCHIVE', 'MANPATH', 'INFOPATH'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', ...TOOLCHAIN_VARIABLES],
]);

/** Variables that keep programs from writing, updating themselves or repeating failed requests. */
const FIXED = {
  SHELL: '/bin/bash',
  TMPDIR: '/tmp',
  GIT_EDITOR: 'true',
  OURO: '1',
  HISTFILE: '/dev/null',
  LESSHISTFILE: '-',
  GOTOOLCHAIN: 'local',
  GOCACHE: '/tmp/go-build',
  PYTHONDONTWRITEBYTECODE: '1',
  // Modules come from the installation, not from the working directory.
  PYTHONSAFEPATH: '1',
  NO_UPDATE_NOTIFIER: '1',
  npm_config_update_notifier: 'false',
  npm_config_logs_max: '0',
  npm_config_fetch_retries: '0',
  DOTNET_CLI_TELEMETRY_OPTOUT: '1',
} as const;

/**
 * Builds the environment of a command that may only read. Nothing of the project is in it: neither variables of its
 * settings nor, on PATH or elsewhere, folders inside the workspace.
 */
export function buildReadOnlySandboxEnv(
  { variables, path }: Pick<Environment, 'variables' | 'path'>,
  roots: readonly string[],
  command: string,
): Readonly<Record<string, string>> {
  const isOutside = (value: string) =>
    !value
      .split(':')
      .some((part) => isAbsolute(part) && roots.some((root) => isPathInside(resolveAllLinks(part), root)));
  const kept = Object.entries(variables).filter(
    ([name, value]) => (KEPT.has(name) || /^LC_[A-Z]+$/.test(name)) && isOutside(value),
  );
  const folders = path.filter((folder) => isAbsolute(folder) && isOutside(folder) && hasAccess(folder, 'execute'));
  return {
    ...Object.fromEntries(kept),
    ...createHardenedGitEnv(),
    ...FIXED,
    // Elsewhere it would keep Python from the compiled modules of the installation.
    ...(/\b(?:py_compile|compileall)\b/.test(command) ? { PYTHONPYCACHEPREFIX: '/tmp/pycache' } : {}),
    PATH: [...folders, ...DEFAULT_PATH.filter((folder) => !folders.includes(folder))].join(':'),
  };
}

const DEFAULT_PATH = ['/usr/local/bin', '/usr/bin', '/bin'];
