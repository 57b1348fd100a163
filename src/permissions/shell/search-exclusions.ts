import { createSegmentTest, isExactPattern } from '../paths/folder-scan.ts';
import { SECRET_GLOBS } from '../paths/secret-paths.ts';
import type { ExactCommand } from './exact/shell-state.ts';
import { getExactProgram, PROGRAM_NAMES } from './programs/find-program.ts';

/** Secret names as globs that every search tool reads in the same way. */
const SECRET_NAMES = SECRET_GLOBS.filter((glob) => !glob.includes('/') && isExactPattern(glob));
const NAME_TESTS = SECRET_NAMES.map(createSegmentTest);

/** True for a name that searches exclude when they get the options for it. */
export function isExcludedSecret(name: string): boolean {
  return NAME_TESTS.some((matches) => matches(name));
}

/** True for a search that accepts further options which exclude names. */
export function canExcludeNames({ argv }: ExactCommand): boolean {
  const [name, ...args] = argv;
  return getExactProgram(name?.text ?? '').excludeOptions !== undefined && args.every(({ text }) => text !== '--');
}

/** Line on file descriptor 3 that reports a search which excluded secrets. The output could be forged. */
export const EXCLUSION_REPORT = 'secrets-excluded';

/** Returns bash functions, as environment variables, that replace the search tools: they exclude secrets and say so. */
export function createSearchFunctions(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PROGRAM_NAMES.flatMap((name) => {
      const options = getExactProgram(name)
        .excludeOptions?.(SECRET_NAMES)
        .map((option) => `'${option}'`);
      if (options === undefined) return [];
      const report = `{ echo ${EXCLUSION_REPORT} >&3; } 2>/dev/null`;
      const text = `() {  command ${name} "$@" ${options.join(' ')}; local code=$?; ${report}; return $code; }`;
      return [[`BASH_FUNC_${name}%%`, text]];
    }),
  );
}
