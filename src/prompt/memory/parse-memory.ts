import { parseFrontMatterFields, splitAtCommas } from '../../lib/text/front-matter.ts';

/** A parsed memory file. */
export type ParsedMemory = {
  /** Text for the model, without front matter and HTML comments. */
  readonly text: string;
  readonly imports: readonly string[];
  /**
   * `paths` of the front matter, or what Cursor, Copilot and Kiro have in its place: globs of the files a rule applies
   * to. Empty: it applies only when somebody names it.
   */
  readonly paths: readonly string[] | undefined;
  readonly problem?: string;
};

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A path after `@`, in quotes or not; without them a backslash keeps a blank in it. */
const IMPORT = /(?:^|(?<=(?<!\\)[\s(]))@(?:"([^"\n]+)"|((?:\\ |[^\s@`)])+))/g;

/** Parses front matter, comments and imports, ignoring those inside code. */
export async function parseMemory(source: string): Promise<ParsedMemory> {
  const { head: frontMatter, body } = splitFrontMatter(source);
  const segments = splitCode(body);
  const text = segments.map((segment) => segment.text).join('');
  const imports = segments.flatMap(({ kind, text }) => (kind === 'code' ? [] : findImports(text)));
  const parsedPaths = frontMatter === undefined ? { paths: undefined } : await readPaths(frontMatter);
  return { text: text.trim(), imports: [...new Set(imports)], ...parsedPaths };
}

type Segment = { readonly kind: 'code' | 'prose'; readonly text: string };

/** Splits a text into prose and code, fenced or inline, in order; comments that start in prose are removed. */
function splitCode(body: string): readonly Segment[] {
  return splitFences(body).flatMap((segment): readonly Segment[] =>
    segment.kind === 'code' ? [segment] : splitInlineCode(segment.text),
  );
}

function splitFences(body: string): readonly Segment[] {
  const segments: Segment[] = [];
  let prose: string[] = [];
  let code: string[] = [];
  let fence: string | undefined;
  let isInComment = false;
  const flushProse = () => {
    if (prose.length > 0) segments.push({ kind: 'prose', text: removeComments(prose.join('')) });
    prose = [];
  };
  for (const line of body.split(/(?<=\n)/)) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined && mark !== undefined && !isInComment) {
      flushProse();
      fence = mark;
      code = [line];
    } else if (fence !== undefined) {
      code.push(line);
      if (mark !== undefined && closesFence(fence, mark, line)) {
        segments.push({ kind: 'code', text: code.join('') });
        fence = undefined;
      }
    } else {
      prose.push(line);
      isInComment = isInCommentAfter(line, isInComment);
    }
  }
  if (fence !== undefined) segments.push({ kind: 'code', text: code.join('') });
  flushProse();
  return segments;
}

function closesFence(fence: string, mark: string, line: string): boolean {
  return mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
}

function isInCommentAfter(line: string, before: boolean): boolean {
  const opened = line.lastIndexOf('<!--');
  const closed = line.lastIndexOf('-->');
  return opened === -1 && closed === -1 ? before : opened > closed;
}

function splitInlineCode(prose: string): readonly Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  for (const { kind, start, end } of findSpans(prose)) {
    if (kind !== 'code') continue;
    segments.push({ kind: 'prose', text: prose.slice(from, start) }, { kind: 'code', text: prose.slice(start, end) });
    from = end;
  }
  return [...segments, { kind: 'prose', text: prose.slice(from) }];
}

/** Removes comments, except inside inline code. */
function removeComments(prose: string): string {
  let text = '';
  let from = 0;
  for (const { kind, start, end } of findSpans(prose)) {
    text += prose.slice(from, kind === 'comment' ? start : end);
    from = end;
  }
  return text + prose.slice(from);
}

type Span = { readonly kind: 'code' | 'comment'; readonly start: number; readonly end: number };

/** Finds code, because comments and imports inside it do not count, and comments; one that is open extends to the end. */
function findSpans(prose: string): readonly Span[] {
  const marks = [...prose.matchAll(/`+|<!--/g)];
  const codeEnds = new Map<number, number>();
  const next = new Map<string, number>();
  for (const { 0: mark, index } of marks.toReversed()) {
    const end = next.get(mark);
    if (end !== undefined) codeEnds.set(index, end);
    next.set(mark, index + mark.length);
  }
  const spans: Span[] = [];
  for (const { 0: mark, index: start } of marks) {
    if (start < (spans.at(-1)?.end ?? 0)) continue;
    const codeEnd = codeEnds.get(start);
    if (mark === '<!--') spans.push({ kind: 'comment', start, end: findCommentEnd(prose, start) });
    else if (codeEnd !== undefined) spans.push({ kind: 'code', start, end: codeEnd });
  }
  return spans;
}

function findCommentEnd(prose: string, start: number): number {
  const close = prose.indexOf('-->', start + '<!--'.length);
  if (close === -1) return prose.length;
  return close + (prose[close + 3] === '\n' ? 4 : 3);
}

/** Spells a path the way an import of it is written. */
export const escapeImport = (path: string): string => path.replaceAll(' ', '\\ ');

function findImports(prose: string): readonly string[] {
  return [...prose.matchAll(IMPORT)].flatMap(([, quoted, target = '']) => {
    const path = quoted ?? target.replace(/(?<![.,;:!?'"])[.,;:!?'"]+$/, '').replaceAll('\\ ', ' ');
    return /[./]/.test(path) ? [path] : [];
  });
}

function splitFrontMatter(source: string): { readonly head: string | undefined; readonly body: string } {
  const match = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(source);
  return match === null ? { head: undefined, body: source } : { head: match[1], body: source.slice(match[0].length) };
}

async function readPaths(frontMatter: string): Promise<Pick<ParsedMemory, 'paths' | 'problem'>> {
  const { fields, problem } = await parseFrontMatterFields(frontMatter);
  if (problem !== undefined) {
    return { paths: undefined, problem: 'has invalid YAML front matter; the rule is always used' };
  }
  if (isAlwaysApplied(fields)) return { paths: undefined };
  const value = fields.paths ?? fields.globs ?? fields.applyTo ?? fields.fileMatchPattern;
  if (value === undefined || value === null) return isOnRequest(fields) ? { paths: [] } : { paths: undefined };
  const paths = parseGlobs(value);
  if (paths === undefined)
    return {
      paths: undefined,
      problem: 'has `paths` that is neither a glob nor a list of globs; the rule is always used',
    };
  return { paths };
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns whether Cursor, Kiro or Copilot apply a rule to every prompt. */
function isAlwaysApplied({ alwaysApply, inclusion, applyTo }: Fields): boolean {
  return alwaysApply === true || inclusion === 'always' || applyTo === '**' || applyTo === '**/*';
}

/** Returns whether Cursor or Kiro apply a rule only when somebody names it. */
function isOnRequest({ alwaysApply, inclusion }: Fields): boolean {
  return alwaysApply === false || inclusion === 'manual' || inclusion === 'auto';
}

function parseGlobs(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return splitAtCommas(value, '{}');
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item): item is string => typeof item === 'string');
  return texts.length === value.length ? texts.flatMap((list) => splitAtCommas(list, '{}')) : undefined;
}
