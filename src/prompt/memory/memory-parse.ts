import { readHead } from '../../lib/text/front-matter.ts';

/** A memory file taken apart. */
export type ParsedMemory = {
  /** What the model reads: front matter and HTML comments are gone. */
  readonly text: string;
  readonly imports: readonly string[];
  /** `paths:` of the front matter: globs a rule waits for. */
  readonly paths: readonly string[] | undefined;
  readonly problem?: string;
};

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Code is kept apart, so that neither comments nor imports are looked for in it. */
const INLINE_CODE = /(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g;
const CODE_OR_COMMENT = new RegExp(`${INLINE_CODE.source}|<!--[\\s\\S]*?(?:-->|$)\\n?`, 'g');
const IMPORT = /(?:^|(?<=[\s(]))@((?:~\/|\.{1,2}\/|\/)?[^\s@`)]+)/g;

/** Front matter, comments and imports, none of them looked for inside code. */
export async function parseMemory(source: string): Promise<ParsedMemory> {
  const { head, body } = splitFrontMatter(source);
  const pieces = codeApart(body);
  const text = pieces.map((piece) => piece.text).join('');
  const imports = pieces.flatMap(({ kind, text }) => (kind === 'code' ? [] : importsIn(text)));
  const matter = head === undefined ? { paths: undefined } : await readPaths(head);
  return { text: text.trim(), imports: [...new Set(imports)], ...matter };
}

type Piece = { readonly kind: 'code' | 'prose'; readonly text: string };

/** Prose and fenced or inline code, in order. Comments are dropped first where they begin in prose. */
function codeApart(body: string): readonly Piece[] {
  return fencesApart(body).flatMap((piece): readonly Piece[] =>
    piece.kind === 'code' ? [piece] : inlineApart(piece.text),
  );
}

function fencesApart(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let prose: string[] = [];
  let code: string[] = [];
  let fence: string | undefined;
  let inComment = false;
  const flushProse = () => {
    if (prose.length > 0) pieces.push({ kind: 'prose', text: withoutComments(prose.join('')) });
    prose = [];
  };
  for (const line of body.split(/(?<=\n)/)) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined && mark !== undefined && !inComment) {
      flushProse();
      fence = mark;
      code = [line];
    } else if (fence !== undefined) {
      code.push(line);
      if (mark !== undefined && closes(fence, mark, line)) {
        pieces.push({ kind: 'code', text: code.join('') });
        fence = undefined;
      }
    } else {
      prose.push(line);
      inComment = endsInComment(line, inComment);
    }
  }
  if (fence !== undefined) pieces.push({ kind: 'code', text: code.join('') });
  flushProse();
  return pieces;
}

function closes(fence: string, mark: string, line: string): boolean {
  return mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
}

function endsInComment(line: string, before: boolean): boolean {
  const opened = line.lastIndexOf('<!--');
  const closed = line.lastIndexOf('-->');
  return opened === -1 && closed === -1 ? before : opened > closed;
}

function inlineApart(prose: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of prose.matchAll(INLINE_CODE)) {
    pieces.push({ kind: 'prose', text: prose.slice(from, match.index) }, { kind: 'code', text: match[0] });
    from = match.index + match[0].length;
  }
  return [...pieces, { kind: 'prose', text: prose.slice(from) }];
}

/** Comments go, except where they stand inside inline code. */
function withoutComments(prose: string): string {
  let text = '';
  let from = 0;
  for (const match of prose.matchAll(CODE_OR_COMMENT)) {
    text += prose.slice(from, match.index) + (match[1] === undefined ? '' : match[0]);
    from = match.index + match[0].length;
  }
  return text + prose.slice(from);
}

function importsIn(prose: string): readonly string[] {
  return [...prose.matchAll(IMPORT)].flatMap(([, target = '']) => {
    const path = target.replace(/[.,;:!?'"]+$/, '');
    return /[./]/.test(path) ? [path] : [];
  });
}

function splitFrontMatter(source: string): { readonly head: string | undefined; readonly body: string } {
  const match = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(source);
  return match === null ? { head: undefined, body: source } : { head: match[1], body: source.slice(match[0].length) };
}

async function readPaths(head: string): Promise<Pick<ParsedMemory, 'paths' | 'problem'>> {
  const { facts, problem } = await readHead(head);
  if (problem !== undefined) {
    return { paths: undefined, problem: 'has front matter that is not YAML; the rule is always used' };
  }
  if (facts.paths === undefined) return { paths: undefined };
  const paths = globs(facts.paths);
  if (paths === undefined)
    return { paths: undefined, problem: '`paths` is neither a glob nor a list of globs; the rule is always used' };
  return { paths };
}

function globs(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return splitOutsideBraces(value);
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item): item is string => typeof item === 'string');
  return texts.length === value.length ? texts.flatMap(splitOutsideBraces) : undefined;
}

/** `a/*.{ts,tsx}, b/**` are two globs. */
function splitOutsideBraces(list: string): readonly string[] {
  return list
    .split(/,(?![^{]*\})/)
    .map((glob) => glob.trim())
    .filter((glob) => glob !== '');
}
