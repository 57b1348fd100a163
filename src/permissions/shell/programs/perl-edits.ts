/** `-p`, `-pi`, `-0777`, `-pe`: what follows `i` in the same argument would be the suffix of a backup. */
const OPTION = /^-(?:0[0-7]{0,3})?[pw]*([ie]?)$/;
/** A name that perl opens as it is: others may start a program (`x|`) or name another file (`>x`). */
const PLAIN_NAME = /^[\w@%+=:,./~-]*\w$/;

/** Returns the indexes of the files that `perl -pi -e` edits, if its code only substitutes text and it keeps no backup. */
export function findPerlEditedFileIndexes(args: readonly string[]): readonly number[] | undefined {
  const letters = new Set<string>();
  const codes: string[] = [];
  let index = 0;
  for (; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) break;
    if (arg === '--') {
      index += 1;
      break;
    }
    const [, last = ''] = OPTION.exec(arg) ?? [];
    if (arg === '-' || !OPTION.test(arg)) return undefined;
    for (const letter of arg.slice(1)) letters.add(letter);
    if (last !== 'e') continue;
    index += 1;
    codes.push(args[index] ?? '');
  }
  const files = args.slice(index);
  const isEdit = ['p', 'i', 'e'].every((letter) => letters.has(letter)) && codes.every(isHarmlessPerlCode);
  return isEdit && files.every((file) => PLAIN_NAME.test(file)) ? files.map((_, at) => index + at) : undefined;
}

/** One substitution or transliteration, and what separates it from the next. */
const STATEMENT = /^\s*(?:(s)|tr|y)([/|#,!])((?:(?!\2)[^\\]|\\.)*)\2((?:(?!\2)[^\\]|\\.)*)\2([a-z]*)\s*(?:;|$)/;
const SUBSTITUTE_FLAGS = /^[gims]*$/;
const TRANSLITERATE_FLAGS = /^[cds]*$/;

/** True for perl code that only substitutes text: nothing in it is evaluated. @internal Exported for tests. */
export function isHarmlessPerlCode(code: string): boolean {
  if (/\p{Cc}/u.test(code)) return false;
  let rest = code;
  while (rest.trim() !== '') {
    const [text, name, , left = '', right = '', flags = ''] = STATEMENT.exec(rest) ?? [];
    if (text === undefined || text === '') return false;
    const isHarmless =
      name === undefined
        ? TRANSLITERATE_FLAGS.test(flags)
        : SUBSTITUTE_FLAGS.test(flags) && isHarmlessPattern(left) && isHarmlessReplacement(right);
    if (!isHarmless) return false;
    rest = rest.slice(text.length);
  }
  return code.trim() !== '';
}

/** True for a pattern without variables, code (`(?{…})`) or named characters; `$` only where it is the end of a line. */
function isHarmlessPattern(pattern: string): boolean {
  const plain = pattern.replace(/\\[^NpPgkxoQE]/g, 'x');
  return !/[@\\]|[?*]\{|\(\?\??p?\{|\(\*/.test(plain.replace(/\\x[0-9A-Fa-f]{2}/g, 'x')) && !/\$(?!$|[)|])/.test(plain);
}

/** True for a replacement whose variables are groups of the pattern, and not elements of arrays. */
function isHarmlessReplacement(replacement: string): boolean {
  const plain = replacement.replace(/\\[^NxogkQ]/g, 'x').replace(/\$(?:\d+|\{\d+\}|&)(?![[{-])/g, 'x');
  return !/[$@\\]/.test(plain);
}
