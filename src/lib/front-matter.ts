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
  if (!text.startsWith('---\n')) return { facts: {}, body: text };
  const end = /\n---[ \t]*(?:\n|$)/.exec(text);
  if (end === null)
    return { facts: {}, body: text, problem: { line: 1, text: 'the head opened with --- is never closed' } };
  const body = text.slice(end.index + end[0].length);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text.slice(4, end.index + 1), { prettyErrors: true });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const line = (broken.linePos?.[0].line ?? 1) + 1;
    return {
      facts: {},
      body,
      problem: { line, text: broken.message.split('\n')[0]?.replace(/ at line.*$/, '') ?? 'the head is not YAML' },
    };
  }
  const value: unknown = document.toJS();
  if (value === null || value === undefined) return { facts: {}, body };
  if (typeof value !== 'object' || Array.isArray(value))
    return { facts: {}, body, problem: { line: 2, text: 'the head must be a list of "key: value" lines' } };
  return { facts: { ...value }, body };
}

/** A fact as text; a list becomes one text with commas. */
export function textFact(facts: FrontMatter['facts'], key: string): string | undefined {
  const value = facts[key];
  if (typeof value === 'string') return value;
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
