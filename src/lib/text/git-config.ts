/** One entry of a git configuration. Section and name are in lower case, as git compares them. */
export type GitConfigEntry = {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly name: string;
  /** `undefined` for a name without a value, which git reads as true. */
  readonly value: string | undefined;
};

/** A parsed git configuration, or why git would reject it. */
export type GitConfig =
  | { readonly ok: true; readonly entries: readonly GitConfigEntry[] }
  | { readonly ok: false; readonly problem: string };

const MAX_LENGTH = 250_000;

/**
 * Parses a git configuration exactly as git does: a comment ends with its line, and only a backslash outside of a
 * comment continues a value. Input that git would reject or cut at a NUL byte is an error.
 */
export function parseGitConfig(text: string): GitConfig {
  if (text.length > MAX_LENGTH) return { ok: false, problem: 'it is too long' };
  if (text.includes('\0')) return { ok: false, problem: 'it contains a NUL byte' };
  // Git reads CRLF anywhere, and the end of the file, as the end of a line.
  const lines = `${text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')}\n\n`;
  const entries: GitConfigEntry[] = [];
  let at = 0;
  let section: Section = { section: '', subsection: undefined };
  while (at < lines.length) {
    const step = parseNext(lines, at, section);
    if (step === undefined)
      return { ok: false, problem: `line ${lines.slice(0, at).split('\n').length} is not valid git config syntax` };
    if (step.entry !== undefined) entries.push(step.entry);
    ({ at, section } = step);
  }
  return { ok: true, entries };
}

type Section = Pick<GitConfigEntry, 'section' | 'subsection'>;
type Step = { readonly at: number; readonly section: Section; readonly entry?: GitConfigEntry };

const SPACE_OR_COMMENT = /(?:[ \t\r\n]+|[#;][^\n]*)/y;
const SECTION_HEADER = /\[(?!\])([A-Za-z0-9.-]*)(?:\]|[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)"\])/y;
const NAME = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(\n|=)/y;
/** One token of a value: plain text, spaces, an escape or a quoted string. */
const VALUE_TOKEN = /[^"\\#;\n \t\r]+|[ \t\r]+|\\[\ntbn"\\]|"(?:[^"\\\n]|\\[\ntbn"\\])*"/y;
const VALUE_END = /(?:[#;][^\n]*)?\n/y;

function parseNext(lines: string, at: number, section: Section): Step | undefined {
  const skipped = matchAt(SPACE_OR_COMMENT, lines, at);
  if (skipped !== null) return { at: at + skipped[0].length, section };
  const header = matchAt(SECTION_HEADER, lines, at);
  if (header !== null) return { at: at + header[0].length, section: parseSection(header[1] ?? '', header[2]) };
  const name = matchAt(NAME, lines, at);
  if (name === null) return undefined;
  const valueStart = at + name[0].length;
  const entry = { ...section, name: (name[1] ?? '').toLowerCase() };
  if (name[2] === '\n') return { at: valueStart, section, entry: { ...entry, value: undefined } };
  const parsed = parseValue(lines, valueStart);
  return parsed === undefined ? undefined : { at: parsed.at, section, entry: { ...entry, value: parsed.value } };
}

/** Parses `[a.b "C"]` as subsection `b.C` of `a`: git splits a key at its first and last dot. */
function parseSection(base: string, quoted: string | undefined): Section {
  const [section = '', ...more] = base.toLowerCase().split('.');
  const parts = quoted === undefined ? more : [...more, quoted.replace(/\\(.)/gs, '$1')];
  return { section, subsection: parts.length === 0 ? undefined : parts.join('.') };
}

/** Parses a value up to the end of its line. Spaces around it are dropped, spaces inside it are preserved. */
function parseValue(lines: string, start: number): { readonly at: number; readonly value: string } | undefined {
  const parts: string[] = [];
  let at = start;
  let spaces = '';
  let hasText = false;
  for (let token = matchAt(VALUE_TOKEN, lines, at); token !== null; token = matchAt(VALUE_TOKEN, lines, at)) {
    const [text] = token;
    at += text.length;
    if (/^[ \t\r]/.test(text)) {
      if (hasText) spaces += ' '.repeat(text.length);
      continue;
    }
    const part = unescapeToken(text);
    parts.push(spaces, part);
    hasText ||= part !== '';
    spaces = '';
  }
  const end = matchAt(VALUE_END, lines, at);
  return end === null ? undefined : { at: at + end[0].length, value: parts.join('') };
}

function unescapeToken(token: string): string {
  const text = token.startsWith('"') ? token.slice(1, -1) : token;
  return text.replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter);
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '', n: '\n', t: '\t', b: '\b' };

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
