import { HIDDEN_CHARACTERS } from '../../lib/text/sanitize.ts';

const MAX_COMMAND_BYTES = 10_000;

/** Why a command must not run unasked, judged by its characters alone. */
export function characterProblems(command: string): readonly string[] {
  const hidden = hiddenCharacter(command);
  return [
    ...(hidden === undefined ? [] : [`It holds a character that does not show as what it is (${hidden}).`]),
    // Bash joins the lines before it looks at the words: `$\` and `(` make a substitution.
    ...(/[^\s\\](?:\\\\)*\\\n/.test(command) ? ['A line goes on in the middle of a word.'] : []),
    ...(/(?:^|[^\\])(?:\\\\)*\\$/.test(command) ? ['It ends in the middle of an escape.'] : []),
    ...(new TextEncoder().encode(command).length > MAX_COMMAND_BYTES
      ? [`It is longer than ${MAX_COMMAND_BYTES} bytes.`]
      : []),
  ];
}

/** The first character that hides or misleads, as U+XXXX. */
export function hiddenCharacter(text: string): string | undefined {
  const at = text.search(HIDDEN_CHARACTERS);
  if (at === -1) return undefined;
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
