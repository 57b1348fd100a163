import { basename, dirname } from 'node:path';
import { isPathBelow } from '../files/path-style.ts';
import { readTextOrEmpty } from '../files/read-or-default.ts';
import type { ProgramStart } from '../processes/program-check.ts';
import type { ProgramFile } from './program-files.ts';

/** Files of a project that programs such as npx read, although what they run comes from elsewhere. */
const CONFIGURATION = ['package.json', '.npmrc', '.yarnrc.yml'];

/** Keys of an `.npmrc` that start no program and move no folder. */
const HARMLESS_KEY =
  /^\s*(?:(?:@[\w.-]+:)?registry|\/\/\S+|(?:save|strict|engine|package|public-hoist|link-workspace|prefer|minimum-release)-[\w-]+(?:\[\])?|fund|audit|audit-level|legacy-peer-deps|loglevel|progress|update-notifier|auto-install-peers|shamefully-hoist|hoist|node-linker|resolution-mode|ignore-scripts|always-auth)\s*=|^\s*(?:[#;].*)?$/;

/**
 * Returns whether a program only reads a file of the project: npx and its like run a package from a registry, unless the
 * project has it installed.
 */
export function isRunnerConfiguration({ path }: ProgramFile, { command, cwd }: ProgramStart): boolean {
  if (!isPathBelow(dirname(path), cwd) || !CONFIGURATION.includes(basename(path))) return false;
  if (!runsPackagesOnly('line' in command ? command.line : command.argv.join(' '))) return false;
  return basename(path) === 'package.json' || listSteeringLines(basename(path), readTextOrEmpty(path)).length === 0;
}

/** Lists the lines of the settings of a package manager that may start a program, or move the folder of what it runs. */
export function listSteeringLines(name: string, text: string): readonly string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (name === '.npmrc') return lines.filter((line) => !HARMLESS_KEY.test(line));
  return name === 'pnpm-workspace.yaml' ? lines.filter((line) => /shell|node|pnpmfile|config/i.test(line)) : lines;
}

/** Returns whether all package managers in a line run packages, and none a script of the project. */
function runsPackagesOnly(line: string): boolean {
  const calls = [...line.matchAll(/(?<![\w.-])(npx|pnpx|bunx|npm|pnpm|yarn|bun)(?![\w.-])\s*([^\s;&|]*)/g)];
  return (
    !/(?<!\S)--run(?!\S)/.test(line) &&
    calls.length > 0 &&
    calls.every(
      ([, program = '', verb = '']) =>
        ['npx', 'pnpx', 'bunx'].includes(program) ||
        (program === 'npm' && ['exec', 'x'].includes(verb)) ||
        (['pnpm', 'yarn'].includes(program) && verb === 'dlx') ||
        (program === 'bun' && verb === 'x'),
    )
  );
}
