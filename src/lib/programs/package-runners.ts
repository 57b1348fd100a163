import { basename, dirname } from 'node:path';
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
  if (dirname(path) !== cwd || !CONFIGURATION.includes(basename(path))) return false;
  if (!isPackageRunner('line' in command ? splitSimpleLine(command.line) : command.argv)) return false;
  return basename(path) === 'package.json' || listSteeringLines(basename(path), readTextOrEmpty(path)).length === 0;
}

/** Lists the lines of the settings of a package manager that may start a program, or move the folder of what it runs. */
export function listSteeringLines(name: string, text: string): readonly string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (name === '.npmrc') return lines.filter((line) => !HARMLESS_KEY.test(line));
  return name === 'pnpm-workspace.yaml' ? lines.filter((line) => /shell|node|pnpmfile|config/i.test(line)) : lines;
}

/** Splits a line without anything that only a shell can evaluate; no words for any other. */
function splitSimpleLine(line: string): readonly string[] {
  return /[;&|<>()$`\n\\"']/.test(line) ? [] : line.trim().split(/\s+/);
}

function isPackageRunner([program = '', verb = '']: readonly string[]): boolean {
  const name = basename(program);
  return (
    ['npx', 'pnpx', 'bunx'].includes(name) ||
    (name === 'npm' && ['exec', 'x'].includes(verb)) ||
    (['pnpm', 'yarn'].includes(name) && verb === 'dlx') ||
    (name === 'bun' && verb === 'x')
  );
}
