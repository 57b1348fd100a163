/** A text with its head of facts, or the sentence that says what is wrong with the head. */
export type FrontMatter = {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Where the head is malformed; the body is whole all the same. */
  readonly problem?: { readonly line: number; readonly text: string };
};

/** Splits a Markdown file into its YAML head and its text. A file without a head is all text. */
export async function readFrontMatter(source: string): Promise<FrontMatter> {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const start = /^---[ \t]*\n/.exec(text)?.[0].length;
  if (start === undefined) return { facts: {}, body: text };
  const end = /\n---[ \t]*(?:\n|$)/.exec(text);
  if (end === null)
    return { facts: {}, body: text, problem: { line: 1, text: 'the head opened with --- is never closed' } };
  const body = text.slice(end.index + end[0].length);
  return { ...(await readHead(text.slice(start, end.index + 1))), body };
}

/** What takes a parser seconds is no head. */
const MOST_HEAD = 20_000;

/** The facts of a head: YAML, or lines of `key: value` that YAML does not understand. */
export async function readHead(head: string): Promise<Pick<FrontMatter, 'facts' | 'problem'>> {
  if (head.length > MOST_HEAD)
    return { facts: {}, problem: { line: 1, text: 'the head is longer than anybody writes' } };
  const read = await readYaml(head);
  if (read.problem === undefined) return read;
  // Lines of facts say nothing of facts within facts.
  const mended = /^[ \t]+[\w-]+:/m.test(head) ? await readYaml(await withQuotes(head)) : read;
  if (mended.problem === undefined) return mended;
  const facts = plainFacts(head);
  return facts === undefined ? read : { facts };
}

async function readYaml(head: string): Promise<Pick<FrontMatter, 'facts' | 'problem'>> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(head, { prettyErrors: true });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const line = (broken.linePos?.[0].line ?? 1) + 1;
    const words = broken.message.split('\n')[0]?.replace(/ at line.*$/, '') ?? 'the head is not YAML';
    return { facts: {}, problem: { line, text: words } };
  }
  const value = contentsOf(document);
  if (value === null || value === undefined) return { facts: {} };
  if (typeof value !== 'object' || Array.isArray(value))
    return { facts: {}, problem: { line: 2, text: 'the head must be a list of "key: value" lines' } };
  return { facts: { ...value } };
}

/** The same with quotes around each fact that YAML cannot read by itself; what is nested below others stays as it is. */
async function withQuotes(head: string): Promise<string> {
  const { parseDocument } = await import('yaml');
  const lines = head.split('\n').map((line) => {
    const [, key, rest = ''] = FACT.exec(line) ?? [];
    const value = plainValue(rest.trim());
    if (key === undefined || typeof value !== 'string' || value === '') return line;
    return parseDocument(line).errors.length === 0 ? line : `${key}: ${JSON.stringify(value)}`;
  });
  return lines.join('\n');
}

/** A star is a name to YAML, and one that was given to nothing is only noticed here. */
function contentsOf(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch {
    return 'not usable';
  }
}

const FACT = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;
const CLOSED_BY: Readonly<Record<string, string>> = { '"': '"', "'": "'", '[': ']' };

/**
 * The head as most people mean it: after its name a fact is what stands on the line, colons, stars and all.
 * Nothing when that is not how it is written.
 */
function plainFacts(head: string): Readonly<Record<string, unknown>> | undefined {
  const facts: Record<string, string | string[]> = {};
  let last = '';
  for (const raw of head.split('\n')) {
    if (raw.trim() === '' || raw.startsWith('#')) continue;
    const [, key, rest = ''] = FACT.exec(raw) ?? [];
    const before = facts[last];
    const [, item] = /^[ \t]*-[ \t]+(.+)$/.exec(raw) ?? [];
    if (key !== undefined) {
      const value = plainValue(rest.trim());
      if (value === undefined) return undefined;
      facts[key] = value;
      last = key;
    } else if (before === undefined) return undefined;
    else if (item !== undefined && (before === '' || Array.isArray(before))) {
      facts[last] = [...before, plainValue(item.trim()) ?? item].flat();
    } else if (/^[ \t]/.test(raw) && typeof before === 'string') facts[last] = `${before} ${raw.trim()}`.trim();
    else return undefined;
  }
  return facts;
}

/** What is opened must be closed; everything else is text. */
function plainValue(text: string): string | string[] | undefined {
  if (/^[|>][+-]?$/.test(text)) return '';
  if (text.startsWith('{')) return text.includes('}') ? text : undefined;
  const closing = CLOSED_BY[text[0] ?? ''];
  if (closing === undefined) return text;
  if (text.length < 2 || !text.endsWith(closing)) return undefined;
  const inner = text.slice(1, -1);
  if (closing === '"' || closing === "'") return inner.includes(closing) ? text : inner;
  return closing === ']' && !/[[\]]/.test(inner) ? inner.split(',').map((part) => part.trim()) : text;
}

/** A fact as text; a list becomes one text with commas, and what says nothing is none. */
export function textFact(facts: FrontMatter['facts'], key: string): string | undefined {
  const value = facts[key];
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? value.join(', ') : undefined;
}

/** A fact as a list: written as one, or with commas; commas within parentheses belong to their part. */
export function listFact(facts: FrontMatter['facts'], key: string): readonly string[] | undefined {
  const value = facts[key];
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string') return undefined;
  return value
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A fact as a list of words, written with commas or only with spaces; what stands in parentheses belongs to its word. */
export function wordsFact(facts: FrontMatter['facts'], key: string): readonly string[] | undefined {
  const value = facts[key];
  if (Array.isArray(value)) return value.map((one) => String(one).trim());
  if (typeof value !== 'string') return undefined;
  return [...value.matchAll(/(?:\([^)]*(?:\)|$)|[^\s,(])+/g)].map(([word]) => word);
}

/** A fact that is yes or no, however it is written. */
export function flagFact(facts: FrontMatter['facts'], key: string): boolean | undefined {
  const value = String(facts[key] ?? '').toLowerCase();
  if (['true', 'yes', 'on'].includes(value)) return true;
  return ['false', 'no', 'off'].includes(value) ? false : undefined;
}

/** A fact that holds facts of its own. */
export function objectFact(facts: FrontMatter['facts'], key: string): JsonFacts | undefined {
  const value = facts[key];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return JSON.parse(JSON.stringify(value));
}

/** What a head can hold below one of its facts. */
type JsonFacts = { readonly [key: string]: JsonFact };
type JsonFact = string | number | boolean | null | readonly JsonFact[] | JsonFacts;
