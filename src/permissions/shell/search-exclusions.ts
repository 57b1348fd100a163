import { createGlobSegmentTest, isExactGlobPattern } from '../paths/folder-scan.ts';
import { SECRET_GLOBS } from '../paths/secret-paths.ts';
import type { ResolvedCommand } from './exact/shell-state.ts';
import { getExactProgramFacts, PROGRAM_NAMES } from './programs/find-program-facts.ts';

/** Secret names as globs that every search tool reads in the same way. */
const SECRET_NAMES = SECRET_GLOBS.filter((glob) => !glob.includes('/') && isExactGlobPattern(glob));
const NAME_TESTS = SECRET_NAMES.map(createGlobSegmentTest);

/** True for a name that searches exclude when they get the options for it. */
export function isExcludedSecret(name: string): boolean {
  return NAME_TESTS.some((matches) => matches(name));
}

/** True for a search that accepts further options which exclude names. */
export function canExcludeNames({ argv }: ResolvedCommand): boolean {
  const [name, ...args] = argv;
  return getExactProgramFacts(name?.text ?? '').excludeOptions !== undefined && args.every(({ text }) => text !== '--');
}

/** Line on file descriptor 3 that reports a search which excluded secrets. The output could be forged. */
export const EXCLUSION_REPORT = 'secrets-excluded';

/** Returns bash functions, as environment variables, that replace the search tools: they exclude secrets and say so. */
export function createSearchShellFunctions(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PROGRAM_NAMES.flatMap((name) => {
      const options = getExactProgramFacts(name)
        .excludeOptions?.(SECRET_NAMES)
        .map((option) => `'${option}'`);
      if (options === undefined) return [];
      const report = `{ echo ${EXCLUSION_REPORT} >&3; } 2>/dev/null`;
      const text = `() {  command ${name} "$@" ${options.join(' ')}; local code=$?; ${report}; return $code; }`;
      return [[`BASH_FUNC_${name}%%`, text]];
    }),
  );
}
