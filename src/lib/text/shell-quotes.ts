/** A part of a command in one kind of quotes, or without; text behind a quote without an end belongs to none. */
const PART = /'[^']*'|"(?:\\.|[^"\\])*"|(?:\\.|[^'"\\])+/gs;

/** Quotes a word for a shell, if it needs that. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Inserts values into a command so that each stays part of one word, whatever quotes are around it. `insert` gets the
 * parts of the command, and what encodes a value there.
 */
export function insertIntoShellCommand(
  command: string,
  insert: (part: string, encode: (value: string) => string) => string,
): string {
  return command.replaceAll(PART, (part) => insert(part, getEncoder(part)));
}

function getEncoder(part: string): (value: string) => string {
  if (part.startsWith("'")) return (value) => value.replaceAll("'", "'\\''");
  if (part.startsWith('"')) return (value) => value.replaceAll(/[\\"$`]/g, '\\$&');
  return quoteShellWord;
}

/**
 * Quotes `$NAME` and `${NAME}` where a command has no quotes around them and a shell would split the value. Commands
 * with here-documents stay as they are.
 */
export function quoteShellVariables(command: string, variables: Readonly<Record<string, string | undefined>>): string {
  const names = Object.keys(variables).filter((name) => /[\s*?[\]]/.test(variables[name] ?? ''));
  if (names.length === 0 || command.includes('<<')) return command;
  const reference = new RegExp(`\\\\.|\\$(?:\\{(?:${names.join('|')})\\}|(?:${names.join('|')})(?!\\w))`, 'gs');
  return command.replaceAll(PART, (part) =>
    /^['"]/.test(part) ? part : part.replaceAll(reference, (found) => (found.startsWith('$') ? `"${found}"` : found)),
  );
}
