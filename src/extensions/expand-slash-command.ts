import type { PromptTemplate } from '../contracts/extension.ts';
import { insertIntoShellCommand } from '../lib/text/shell-quotes.ts';

/** The effects of expanding a command: shell lines pass the permission gate, files the read rules. */
export type ExpandSlashCommandOptions = {
  readonly runShell: (command: string) => Promise<string>;
  /** Reads a file; `undefined` leaves the mention as it is. */
  readonly readFile: (path: string) => Promise<string | undefined>;
  /** Values a text may use as `${NAME}`; a shell line gets each as a part of one word. */
  readonly variables: Readonly<Record<string, string>>;
};

type CommandText = Pick<PromptTemplate, 'body' | 'argumentNames'>;

/** Expands arguments, shell lines and file mentions of a command or skill; argument values are not expanded again. */
export async function expandSlashCommand(
  { body, argumentNames }: CommandText,
  args: string,
  options: ExpandSlashCommandOptions,
): Promise<string> {
  const pieces = splitBody(body);
  const fill = (text: string, encode = (value: string) => value) =>
    expandPlaceholders(text, args, argumentNames, { values: options.variables, encode });
  const expanded = await Promise.all(
    pieces.map(async ({ kind, text, written }) => {
      if (kind === 'shell') return options.runShell(insertIntoShellCommand(text, fill).trim());
      if (kind === 'file') return (await options.readFile(fill(text))) ?? fill(written);
      return fill(text);
    }),
  );
  const text = expanded.join('').trim();
  const usesArguments = createPlaceholderPattern(argumentNames).test(body);
  return usesArguments || args.trim() === '' ? text : `${text}\n\nARGUMENTS: ${args.trim()}`;
}

/** A part of a body: its text, the command or the path, and the characters of the body. */
type Piece = { readonly kind: 'text' | 'shell' | 'file'; readonly text: string; readonly written: string };

/**
 * Matches fences with shell lines, other fences, inline shell lines, and `@path` or `@"path with blanks"` at the start of
 * a word.
 */
const PIECES =
  /(?<=^|\n)```![ \t]*\n([\s\S]*?)\n?```|(```[\s\S]*?```)|(?<=^|\s)!`([^`\n]+)`|(?<=^|\s)@(?:"([^"\n]+)"|([^\s`'"]*[^\s`'".,;:!?)]))/g;

function splitBody(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  const add = (kind: Piece['kind'], written: string, text = written) => pieces.push({ kind, text, written });
  for (const match of body.matchAll(PIECES)) {
    const [whole, block, fence, line, quoted, plain] = match;
    if (fence !== undefined) continue;
    add('text', body.slice(start, match.index));
    const shell = block ?? line;
    add(shell === undefined ? 'file' : 'shell', whole, shell ?? quoted ?? plain);
    start = match.index + whole.length;
  }
  add('text', body.slice(start));
  return pieces;
}

/** Creates the pattern of placeholders: all arguments, one by index from 0, or one by name; `$1.50` does not match. */
function createPlaceholderPattern(names: readonly string[]): RegExp {
  const validNames = names.filter((name) => /^[A-Za-z_]\w*$/.test(name));
  const byName = validNames.length === 0 ? '' : `|\\$(?<name>${validNames.join('|')})(?!\\w)`;
  return new RegExp(
    `\\$ARGUMENTS\\[(?<index>\\d+)\\]|\\$(?<all>ARGUMENTS)(?!\\w)|\\$(?<digit>\\d)(?!\\w|[.,]\\d)${byName}`,
  );
}

function expandPlaceholders(
  text: string,
  args: string,
  names: readonly string[],
  facts: { readonly values: Readonly<Record<string, string>>; readonly encode: (value: string) => string },
): string {
  const words = splitArguments(args);
  const pattern = new RegExp(
    `(?<escaped>\\\\(?=\\$))?(?:${createPlaceholderPattern(names).source}|\\$\\{(?<fact>[\\w.]+)\\})`,
    'g',
  );
  return text.replaceAll(pattern, (...match) => {
    const whole: string = match[0];
    const { escaped, index, all, digit, name, fact }: Readonly<Record<string, string | undefined>> = match.at(-1);
    if (escaped !== undefined) return whole.slice(1);
    if (fact !== undefined) return Object.hasOwn(facts.values, fact) ? facts.encode(facts.values[fact] ?? '') : whole;
    if (all !== undefined) return args.trim();
    const position = name === undefined ? Number(index ?? digit) : names.indexOf(name);
    return words[position] ?? '';
  });
}

/**
 * Splits a line that the user typed into arguments. Quotes at the start of an argument or after its `name=` group text
 * with spaces; inside double quotes a backslash escapes a quote. Quotes elsewhere are ordinary characters.
 */
export function splitArguments(text: string): readonly string[] {
  return [...text.matchAll(ARGUMENT)].map(([whole, prefix = '', double, single]) => {
    if (single !== undefined) return prefix + single;
    return double === undefined ? whole : prefix + double.replaceAll(/\\(["\\])/g, '$1');
  });
}

const ARGUMENT = /([\w-]+=)?(?:"((?:\\.|[^"\\])*)"|'([^']*)')(?=\s|$)|\S+/gs;
