const HIDDEN = new RegExp(
  [
    String.raw`\p{Cf}|\p{Co}|\p{Cn}`,
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00a0\u115f\u1160\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\uffa0\ufff0-\uffff]`,
    // Combining characters and selectors that show as nothing.
    String.raw`\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]`,
  ].join('|'),
  'u',
);
const LONE_SURROGATE = /[\ud800-\udfff]/u;

export const MAX_COMMAND_BYTES = 10_000;

/** Why a command must not run unasked, judged by its characters alone. */
export function characterProblems(command: string): readonly string[] {
  const problems: string[] = [];
  const hidden = hiddenCharacter(command);
  if (hidden !== undefined) problems.push(`It holds a character that does not show as what it is (${hidden}).`);
  if (LONE_SURROGATE.test(command)) problems.push('It is not well-formed text.');
  if (new TextEncoder().encode(command).length > MAX_COMMAND_BYTES) {
    problems.push(`It is longer than ${MAX_COMMAND_BYTES} bytes.`);
  }
  return problems;
}

/** The first character that hides or misleads, as U+XXXX. */
export function hiddenCharacter(text: string): string | undefined {
  const found = HIDDEN.exec(text)?.[0];
  return found === undefined
    ? undefined
    : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
