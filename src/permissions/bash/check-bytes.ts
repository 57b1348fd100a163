import { HIDDEN_CHARACTERS } from '../../lib/text/sanitize.ts';

const MAX_COMMAND_BYTES = 10_000;
/** No system takes a longer word, and the whole line is one word for the shell. */
const MAX_READ = 131_072;
const MAX_NESTING = 64;

/** Why a line is not read at all: reading it would take longer than anybody should wait. */
export function tooMuchToRead(command: string): string | undefined {
  if (command.length > MAX_READ) return `It is longer than ${MAX_READ} characters, so it is not read.`;
  let depth = 0;
  for (const [sign] of command.matchAll(/[(){}]/g)) {
    depth = sign === '(' || sign === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > MAX_NESTING) return `It is nested more than ${MAX_NESTING} levels deep, so it is not read.`;
  }
  return undefined;
}

/** Is it so long that it asks whatever it holds? */
export function isLong(command: string): boolean {
  return new TextEncoder().encode(command).length > MAX_COMMAND_BYTES;
}

/** Why a command must not run unasked, judged by its characters alone. */
export function characterProblems(command: string): readonly string[] {
  const hidden = hiddenCharacter(command);
  return [
    ...(hidden === undefined ? [] : [`It holds a character that does not show as what it is (${hidden}).`]),
    // Bash joins the lines before it looks at the words: `$\` and `(` make a substitution.
    ...(/[^\s\\](?:\\\\)*\\\n/.test(command) ? ['A line goes on in the middle of a word.'] : []),
    ...(/(?:^|[^\\])(?:\\\\)*\\$/.test(command) ? ['It ends in the middle of an escape.'] : []),
    ...(isLong(command) ? [`It is longer than ${MAX_COMMAND_BYTES} bytes.`] : []),
  ];
}

/** The first character that hides or misleads, as U+XXXX. */
export function hiddenCharacter(text: string): string | undefined {
  const at = text.search(HIDDEN_CHARACTERS);
  if (at === -1) return undefined;
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
