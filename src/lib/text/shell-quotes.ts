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

/** Text in quotes, a comment, a backslash with its character, or a variable outside of these. */
const PIECE =
  /\\.|\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\$`]|\\.|\$(?!\())*"|(?<![^\s;&|(])#[^\n]*|\$(?:\{(?<braced>\w+)\}|(?<plain>\w+))|(?<unclear>['"]|<<(?!<))/gs;

/**
 * Quotes `$NAME` and `${NAME}` where a command has no quotes around them and a shell would split the value. Commands
 * with here-documents or with quotes inside of quotes stay as they are.
 */
export function quoteShellVariables(command: string, variables: Readonly<Record<string, string | undefined>>): string {
  const isSplit = (name: string) => /[\s*?[\]]/.test(variables[name] ?? '');
  let isClear = true;
  const quoted = command.replaceAll(PIECE, (...match) => {
    const whole: string = match[0];
    const { braced, plain, unclear }: Readonly<Record<string, string | undefined>> = match.at(-1);
    isClear &&= unclear === undefined;
    const name = braced ?? plain ?? '';
    return Object.hasOwn(variables, name) && isSplit(name) ? `"${whole}"` : whole;
  });
  return isClear ? quoted : command;
}
