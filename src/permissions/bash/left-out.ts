import { isCertainPattern, segmentTest } from '../paths/folder-scan.ts';
import { SECRET_GLOBS } from '../paths/secrets.ts';
import { exactProgram, PROGRAM_NAMES } from './programs.ts';
import type { ShellPart } from './shell-part.ts';

/** Names of secrets that every search reads in the same way. */
const NAMES = SECRET_GLOBS.filter((glob) => !glob.includes('/') && isCertainPattern(glob));
const PATTERNS = NAMES.map(segmentTest);

/** Does a search leave out everything of this name, once it is told to? */
export function isLeftOut(name: string): boolean {
  return PATTERNS.some((pattern) => pattern(name));
}

/** Can the search be told what to leave out, by options behind its own? */
export function canLeaveOut({ argv }: ShellPart): boolean {
  const [name, ...words] = argv;
  return exactProgram(name?.text ?? '').leaves !== undefined && words.every(({ text }) => text !== '--');
}

/** Functions of bash in place of the searches: they leave out secrets, and say so. */
export function searchFunctions(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PROGRAM_NAMES.flatMap((name) => {
      const options = exactProgram(name)
        .leaves?.(NAMES)
        .map((option) => `'${option}'`);
      if (options === undefined) return [];
      const note = 'Left out of this search: .env, keys and other files of secrets.';
      const text = `() {  command ${name} "$@" ${options.join(' ')}; local code=$?; echo '[${note}]' >&2; return $code; }`;
      return [[`BASH_FUNC_${name}%%`, text]];
    }),
  );
}
