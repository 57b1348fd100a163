import type { Callable } from '../contracts/extension.ts';
import { typedWords } from '../lib/typed-words.ts';

/** What a command's text may reach: shell lines go through the permission gate, files through the reading rules. */
export type ExpandParts = {
  readonly runShell: (command: string) => Promise<string>;
  /** `undefined` where there is no such file: then the words stay as they are. */
  readonly readFile: (path: string) => Promise<string | undefined>;
  /** Facts a text may name as `${NAME}`. */
  readonly facts: Readonly<Record<string, string>>;
};

type Words = Pick<Callable, 'body' | 'argumentNames'>;

/** The text of a command or a skill with its arguments, shell lines and files in place. What arguments bring is never expanded again. */
export async function expandCommand({ body, argumentNames }: Words, args: string, parts: ExpandParts): Promise<string> {
  const pieces = splitBody(body);
  const fill = (text: string) => filled(text, args, argumentNames, parts.facts);
  const expanded = await Promise.all(
    pieces.map(async ({ kind, text }) => {
      if (kind === 'shell') return parts.runShell(fill(text).trim());
      if (kind === 'file') return (await parts.readFile(fill(text))) ?? `@${fill(text)}`;
      return fill(text);
    }),
  );
  const text = expanded.join('').trim();
  const isNamed = placeholders(argumentNames).test(body);
  return isNamed || args.trim() === '' ? text : `${text}\n\nARGUMENTS: ${args.trim()}`;
}

type Piece = { readonly kind: 'text' | 'shell' | 'file'; readonly text: string };

/** Fences of shell lines, other fences, shell lines and `@path` at the beginning of a word. */
const PIECES =
  /(?<=^|\n)```![ \t]*\n([\s\S]*?)\n?```|(```[\s\S]*?```)|(?<=^|\s)!`([^`\n]+)`|(?<=^|\s)@([^\s`'"]*[^\s`'".,;:!?)])/g;

function splitBody(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of body.matchAll(PIECES)) {
    const [whole, block, fence, line, file] = match;
    if (fence !== undefined) continue;
    pieces.push({ kind: 'text', text: body.slice(from, match.index) });
    const shell = block ?? line;
    if (shell !== undefined) pieces.push({ kind: 'shell', text: shell });
    else if (file !== undefined) pieces.push({ kind: 'file', text: file });
    from = match.index + whole.length;
  }
  pieces.push({ kind: 'text', text: body.slice(from) });
  return pieces;
}

/** What stands for arguments: all, one by its number counted from 0, one by its name. An amount of money is none. */
function placeholders(names: readonly string[]): RegExp {
  const named = names.filter((name) => /^[A-Za-z_]\w*$/.test(name));
  const known = named.length === 0 ? '' : `|\\$(?<name>${named.join('|')})(?!\\w)`;
  return new RegExp(
    `\\$ARGUMENTS\\[(?<at>\\d+)\\]|\\$(?<all>ARGUMENTS)(?!\\w)|\\$(?<digit>\\d)(?!\\w|[.,]\\d)${known}`,
  );
}

function filled(text: string, args: string, names: readonly string[], facts: Readonly<Record<string, string>>): string {
  const words = typedWords(args);
  const every = new RegExp(`(?<escaped>\\\\(?=\\$))?(?:${placeholders(names).source}|\\$\\{(?<fact>\\w+)\\})`, 'g');
  return text.replaceAll(every, (...match) => {
    const whole: string = match[0];
    const { escaped, at, all, digit, name, fact }: Readonly<Record<string, string | undefined>> = match.at(-1);
    if (escaped !== undefined) return whole.slice(1);
    if (fact !== undefined) return Object.hasOwn(facts, fact) ? (facts[fact] ?? '') : whole;
    if (all !== undefined) return args.trim();
    const index = name === undefined ? Number(at ?? digit) : names.indexOf(name);
    return words[index] ?? '';
  });
}
