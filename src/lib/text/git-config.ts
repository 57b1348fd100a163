/** One line of a git configuration. The section and the name are in small letters, as git compares them. */
export type GitConfigEntry = {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly name: string;
  /** `undefined` for a name alone, which git takes for true. */
  readonly value: string | undefined;
};

/** Whatever git would refuse is not read either. */
export type GitConfig =
  | { readonly ok: true; readonly entries: readonly GitConfigEntry[] }
  | { readonly ok: false; readonly why: string };

const MAX_LENGTH = 250_000;

/**
 * Reads a git configuration as git does: comments end with their line whatever they hold, only a backslash outside of
 * one continues a value. What git would refuse, or end at a NUL byte, is no configuration.
 */
export function readGitConfig(text: string): GitConfig {
  if (text.length > MAX_LENGTH) return { ok: false, why: 'it is too long' };
  if (text.includes('\0')) return { ok: false, why: 'it holds a NUL byte' };
  // Git takes both bytes for the end of the line wherever they stand, and the end of the file for one, too.
  const lines = `${text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')}\n\n`;
  const entries: GitConfigEntry[] = [];
  let at = 0;
  let head: Head = { section: '', subsection: undefined };
  while (at < lines.length) {
    const step = nextStep(lines, at, head);
    if (step === undefined) return { ok: false, why: `line ${lines.slice(0, at).split('\n').length} is no git syntax` };
    if (step.entry !== undefined) entries.push(step.entry);
    ({ at, head } = step);
  }
  return { ok: true, entries };
}

type Head = Pick<GitConfigEntry, 'section' | 'subsection'>;
type Step = { readonly at: number; readonly head: Head; readonly entry?: GitConfigEntry };

const BETWEEN = /(?:[ \t\r\n]+|[#;][^\n]*)/y;
const HEAD = /\[(?!\])([A-Za-z0-9.-]*)(?:\]|[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)"\])/y;
const NAME = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(\n|=)/y;
/** One piece of a value, from one quote to the next at most. */
const PIECE = /[^"\\#;\n \t\r]+|[ \t\r]+|\\[\ntbn"\\]|"(?:[^"\\\n]|\\[\ntbn"\\])*"/y;
const VALUE_END = /(?:[#;][^\n]*)?\n/y;

function nextStep(lines: string, at: number, head: Head): Step | undefined {
  const between = matchAt(BETWEEN, lines, at);
  if (between !== null) return { at: at + between[0].length, head };
  const header = matchAt(HEAD, lines, at);
  if (header !== null) return { at: at + header[0].length, head: headOf(header[1] ?? '', header[2]) };
  const name = matchAt(NAME, lines, at);
  if (name === null) return undefined;
  const begins = at + name[0].length;
  const entry = { ...head, name: (name[1] ?? '').toLowerCase() };
  if (name[2] === '\n') return { at: begins, head, entry: { ...entry, value: undefined } };
  const read = valueAt(lines, begins);
  return read === undefined ? undefined : { at: read.at, head, entry: { ...entry, value: read.value } };
}

/** `[a.b "C"]` is the subsection `b.C` of `a`: for git a key is one word whose first and last dot count. */
function headOf(base: string, quoted: string | undefined): Head {
  const [section = '', ...more] = base.toLowerCase().split('.');
  const parts = quoted === undefined ? more : [...more, quoted.replace(/\\(.)/gs, '$1')];
  return { section, subsection: parts.length === 0 ? undefined : parts.join('.') };
}

/** A value up to the end of its line: spaces around it are not part of it, those inside count one by one. */
function valueAt(lines: string, begins: number): { readonly at: number; readonly value: string } | undefined {
  const parts: string[] = [];
  let at = begins;
  let spaces = '';
  for (let piece = matchAt(PIECE, lines, at); piece !== null; piece = matchAt(PIECE, lines, at)) {
    const [text] = piece;
    at += text.length;
    if (/^[ \t\r]/.test(text)) {
      if (parts.some((part) => part !== '')) spaces += ' '.repeat(text.length);
      continue;
    }
    parts.push(spaces, unescaped(text));
    spaces = '';
  }
  const end = matchAt(VALUE_END, lines, at);
  return end === null ? undefined : { at: at + end[0].length, value: parts.join('') };
}

function unescaped(piece: string): string {
  const text = piece.startsWith('"') ? piece.slice(1, -1) : piece;
  return text.replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter);
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '', n: '\n', t: '\t', b: '\b' };

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
