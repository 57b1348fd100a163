import { KNOWN_SERVERS } from './find-language-servers.ts';
import { findLocalProgram } from './project-programs.ts';
import { KNOWN_FORMATTERS, KNOWN_LINTERS } from './run-formatters-and-linters.ts';

/** Lists the language servers, formatters and linters that a project has in `node_modules/.bin`. */
export function listLocalPrograms(folder: string): readonly string[] {
  const commands = [...KNOWN_SERVERS, ...KNOWN_FORMATTERS, ...KNOWN_LINTERS].map(({ command }) => command);
  return [...new Set(commands)].flatMap((command) => findLocalProgram(command, folder) ?? []);
}
