/** The parts of a Markdown file: the fields of its front matter and the text below. */
export type FrontMatter = {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Syntax error in the front matter; `body` is complete nevertheless. */
  readonly problem?: { readonly line: number; readonly text: string };
};

/** Splits a Markdown file into its YAML front matter and its body. */
export async function parseFrontMatter(source: string): Promise<FrontMatter> {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const start = /^---[ \t]*\n/.exec(text)?.[0].length;
  if (start === undefined) return { fields: {}, body: text };
  const end = /\n---[ \t]*(?:\n|$)/.exec(text);
  if (end === null)
    return { fields: {}, body: text, problem: { line: 1, text: 'the front matter opened with --- is not closed' } };
  const body = text.slice(end.index + end[0].length);
  return { ...(await parseFrontMatterFields(text.slice(start, end.index + 1))), body };
}

/** Larger front matter is rejected: parsing it would take seconds. */
const MAX_CHARS = 20_000;

/** Parses front matter: YAML, or `key: value` lines that are not valid YAML but clear. */
export async function parseFrontMatterFields(source: string): Promise<Pick<FrontMatter, 'fields' | 'problem'>> {
  if (source.length > MAX_CHARS)
    return { fields: {}, problem: { line: 1, text: `the front matter is longer than ${MAX_CHARS} characters` } };
  const parsed = await parseYaml(source);
  if (parsed.problem === undefined) return parsed;
  // Plain `key: value` lines cannot express nested fields, so quoting is tried first where there are some.
  const quoted = /^[ \t]+[\w-]+:/m.test(source) ? await parseYaml(await quoteValues(source)) : parsed;
  if (quoted.problem === undefined) return quoted;
  const fields = parsePlainLines(source);
  return fields === undefined ? parsed : { fields };
}

async function parseYaml(source: string): Promise<Pick<FrontMatter, 'fields' | 'problem'>> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(source, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = (error.linePos?.[0].line ?? 1) + 1;
    const text = error.message.split('\n')[0]?.replace(/ at line.*$/s, '') ?? 'the front matter is not valid YAML';
    return { fields: {}, problem: { line, text } };
  }
  const value = convertDocument(document);
  if (value === null || value === undefined) return { fields: {} };
  if (typeof value !== 'object' || Array.isArray(value))
    return { fields: {}, problem: { line: 2, text: 'the front matter must consist of "key: value" lines' } };
  return { fields: { ...value } };
}

/** Quotes each top-level value that YAML cannot parse by itself. Nested lines stay unchanged. */
async function quoteValues(source: string): Promise<string> {
  const { parseDocument } = await import('yaml');
  const lines = source.split('\n').map((line) => {
    const [, key, rest = ''] = FIELD.exec(line) ?? [];
    const value = parsePlainValue(rest.trim());
    if (key === undefined || typeof value !== 'string' || value === '') return line;
    return parseDocument(line).errors.length === 0 ? line : `${key}: ${JSON.stringify(value)}`;
  });
  return lines.join('\n');
}

/** Converts a document to a value. An alias (`*name`) without its anchor is detected only here. */
function convertDocument(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch {
    return 'not usable';
  }
}

const FIELD = /^([A-Za-z][\w-]*):(?:[ \t](.*))?$/;
const CLOSING_CHARACTER: Readonly<Record<string, string>> = { '"': '"', "'": "'", '[': ']' };

/** Parses front matter leniently: a value is the rest of its line; `undefined` for any other form. */
function parsePlainLines(source: string): Readonly<Record<string, unknown>> | undefined {
  const facts: Record<string, string | string[]> = {};
  let lastKey = '';
  for (const line of source.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, key, rest = ''] = FIELD.exec(line) ?? [];
    const previous = facts[lastKey];
    const [, item] = /^[ \t]*-[ \t](.+)$/.exec(line) ?? [];
    if (key !== undefined) {
      const value = parsePlainValue(rest.trim());
      if (value === undefined) return undefined;
      facts[key] = value;
      lastKey = key;
    } else if (previous === undefined) return undefined;
    else if (item !== undefined && (previous === '' || Array.isArray(previous))) {
      facts[lastKey] = [...previous, parsePlainValue(item.trim()) ?? item].flat();
    } else if (/^[ \t]/.test(line) && typeof previous === 'string') {
      facts[lastKey] = `${previous} ${line.trim()}`.trim();
    } else return undefined;
  }
  return facts;
}

/** Parses a one-line value: quoted text, a list in brackets, or plain text. `undefined` for an open bracket. */
function parsePlainValue(text: string): string | string[] | undefined {
  if (/^[|>][+-]?$/.test(text)) return '';
  if (text.startsWith('{')) return text.includes('}') ? text : undefined;
  const closing = CLOSING_CHARACTER[text[0] ?? ''];
  if (closing === undefined) return text;
  if (text.length < 2 || !text.endsWith(closing)) return undefined;
  const inner = text.slice(1, -1);
  if (closing === '"' || closing === "'") return inner.includes(closing) ? text : inner;
  return closing === ']' && !/[[\]]/.test(inner) ? inner.split(',').map((part) => part.trim()) : text;
}

/** Returns a field as text: list items joined with commas, `undefined` for blank text. */
export function getFrontMatterText(facts: FrontMatter['fields'], key: string): string | undefined {
  const value = facts[key];
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? value.join(', ') : undefined;
}

/** Returns a field as a list: a YAML list, or text split at commas outside of parentheses. */
export function getFrontMatterList(facts: FrontMatter['fields'], key: string): readonly string[] | undefined {
  const value = facts[key];
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string') return undefined;
  return splitAtCommas(value, '()');
}

/** Splits a list at commas, except where the next bracket closes a pair; blank parts are left out. */
export function splitAtCommas(list: string, [open, close]: '()' | '{}'): readonly string[] {
  const parts = [''];
  let isInside = false;
  for (const token of list.split(/([,(){}])/).toReversed()) {
    if (token === open || token === close) isInside = token === close;
    if (token === ',' && !isInside) parts.push('');
    else parts.push(token + (parts.pop() ?? ''));
  }
  return parts
    .toReversed()
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Returns a field as a list of words: a YAML list, or text split at commas and spaces outside of parentheses. */
export function getFrontMatterWords(facts: FrontMatter['fields'], key: string): readonly string[] | undefined {
  const value = facts[key];
  if (Array.isArray(value)) return value.map((item) => String(item).trim());
  if (typeof value !== 'string') return undefined;
  return [...value.matchAll(/(?:\([^)]*(?:\)|$)|[^\s,(])+/g)].map(([word]) => word);
}

/** Returns a boolean field in any of its YAML spellings (`yes`, `on`, …). */
export function getFrontMatterBoolean(facts: FrontMatter['fields'], key: string): boolean | undefined {
  const value = String(facts[key] ?? '').toLowerCase();
  if (['true', 'yes', 'on'].includes(value)) return true;
  return ['false', 'no', 'off'].includes(value) ? false : undefined;
}

/** Returns the nested object of a key. */
export function getFrontMatterObject(facts: FrontMatter['fields'], key: string): FieldObject | undefined {
  const value = facts[key];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return JSON.parse(JSON.stringify(value));
}

/** A nested object of the front matter. */
type FieldObject = { readonly [key: string]: FieldValue };
type FieldValue = string | number | boolean | null | readonly FieldValue[] | FieldObject;
