import type { PromptTemplate } from '../contracts/extension.ts';

/** The effects of expanding a command: shell lines pass the permission gate, files the read rules. */
export type ExpandSlashCommandOptions = {
  readonly runShell: (command: string) => Promise<string>;
  /** Reads a file; `undefined` leaves the mention as it is. */
  readonly readFile: (path: string) => Promise<string | undefined>;
  /** Values a text may use as `${NAME}`. */
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
  const fill = (text: string) => expandPlaceholders(text, args, argumentNames, options.variables);
  const expanded = await Promise.all(
    pieces.map(async ({ kind, text }) => {
      if (kind === 'shell') return options.runShell(fill(text).trim());
      if (kind === 'file') return (await options.readFile(fill(text))) ?? `@${fill(text)}`;
      return fill(text);
    }),
  );
  const text = expanded.join('').trim();
  const usesArguments = createPlaceholderPattern(argumentNames).test(body);
  return usesArguments || args.trim() === '' ? text : `${text}\n\nARGUMENTS: ${args.trim()}`;
}

type Piece = { readonly kind: 'text' | 'shell' | 'file'; readonly text: string };

/** Matches fences with shell lines, other fences, inline shell lines, and `@path` at the start of a word. */
const PIECES =
  /(?<=^|\n)```![ \t]*\n([\s\S]*?)\n?```|(```[\s\S]*?```)|(?<=^|\s)!`([^`\n]+)`|(?<=^|\s)@([^\s`'"]*[^\s`'".,;:!?)])/g;

function splitBody(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  for (const match of body.matchAll(PIECES)) {
    const [whole, block, fence, line, file] = match;
    if (fence !== undefined) continue;
    pieces.push({ kind: 'text', text: body.slice(start, match.index) });
    const shell = block ?? line;
    if (shell !== undefined) pieces.push({ kind: 'shell', text: shell });
    else if (file !== undefined) pieces.push({ kind: 'file', text: file });
    start = match.index + whole.length;
  }
  pieces.push({ kind: 'text', text: body.slice(start) });
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
  facts: Readonly<Record<string, string>>,
): string {
  const words = splitArguments(args);
  const pattern = new RegExp(
    `(?<escaped>\\\\(?=\\$))?(?:${createPlaceholderPattern(names).source}|\\$\\{(?<fact>\\w+)\\})`,
    'g',
  );
  return text.replaceAll(pattern, (...match) => {
    const whole: string = match[0];
    const { escaped, index, all, digit, name, fact }: Readonly<Record<string, string | undefined>> = match.at(-1);
    if (escaped !== undefined) return whole.slice(1);
    if (fact !== undefined) return Object.hasOwn(facts, fact) ? (facts[fact] ?? '') : whole;
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
