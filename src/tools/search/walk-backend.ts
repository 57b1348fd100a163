import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { decodeText } from '../../lib/files/text-encoding.ts';
import { compileLinearRegex, type LinearRegex } from '../../lib/patterns/linear-regex.ts';
import { createEventLoopYielder } from '../../lib/promises.ts';
import { countNewlines } from '../../lib/text/lines.ts';
import { readFileBytes } from '../files/read-bytes.ts';
import { buildExclusionGlobs, compileGlob, matchesHiddenFiles } from './globs.ts';
import { type FileSearchBackend, InvalidPattern, type TextQuery } from './search-backend.ts';
import { walkFiles } from './walk-files.ts';

/** Creates the search backend that needs no other program: slower than ripgrep, but always available. */
export function createWalkBackend(): FileSearchBackend {
  return {
    name: 'walker',
    async listFiles({ root, excluded, ignored }, take, signal) {
      const never = buildExclusionGlobs(root, excluded);
      if (never === 'all') return;
      for await (const file of walkFiles(
        root,
        { hidden: 'include', never, ...(ignored === undefined ? {} : { ignored }) },
        signal,
      )) {
        if (take(`${file}\n`) === 'enough') return;
      }
    },
    async search(query, take, signal) {
      const expression = await compilePattern(query);
      let isFirst = true;
      for await (const file of listSearchedFiles(query, signal)) {
        signal.throwIfAborted();
        const found = await readFileBytes(path.resolve(query.root, file), signal).catch(() => undefined);
        const text = found === undefined ? undefined : decodeText(found.bytes)?.text;
        const records = text === undefined ? '' : await grepFileText(file, text, expression, query);
        if (records === '') continue;
        const hasContext = query.mode === 'content' && query.before + query.after > 0;
        const separated = hasContext && !isFirst ? `--\n${records}` : records;
        isFirst = false;
        if (take(separated) === 'enough') return;
      }
    },
  };
}

async function* listSearchedFiles(query: TextQuery, signal: AbortSignal): AsyncGenerator<string> {
  const never = buildExclusionGlobs(query.root, query.excluded);
  if (never === 'all') return;
  if (query.file !== undefined) {
    yield query.file;
    return;
  }
  const type = query.type === undefined ? undefined : findTypeGlob(query.type);
  if (type !== undefined && 'known' in type) {
    throw new ToolFailure(`The file type "${query.type}" is unknown. Known types: ${type.known}. Or use glob.`);
  }
  const isOfType = type === undefined ? () => true : compileGlob(type.glob);
  const hidden = matchesHiddenFiles(query.glob) ? 'include' : 'skip';
  for await (const file of walkFiles(query.root, { hidden, only: query.glob, never }, signal)) {
    if (isOfType(file)) yield file;
  }
}

async function compilePattern(query: TextQuery): Promise<LinearRegex> {
  const expression = await compileLinearRegex(query.pattern, [
    'multiline',
    ...(query.letters === 'any_case' ? (['any-case'] as const) : []),
    ...(query.span === 'multiline' ? (['dot-all'] as const) : []),
  ]);
  if (!('problem' in expression)) return expression;
  throw new InvalidPattern(`The search could not start: the pattern cannot be used, ${expression.problem}.`);
}

// The most common file types of ripgrep.
const TYPE_GLOBS: Readonly<Record<string, string>> = {
  c: '*.{c,h}',
  cpp: '*.{cpp,cc,cxx,hpp,hh,hxx,h,inl}',
  cs: '*.cs',
  css: '*.{css,scss}',
  go: '*.go',
  html: '*.{html,htm,ejs}',
  java: '*.{java,jsp,jspx,properties}',
  js: '*.{js,jsx,mjs,cjs,vue}',
  json: '*.{json,sarif}',
  kotlin: '*.{kt,kts}',
  lua: '*.lua',
  markdown: '*.{md,mdx,markdown,mdown,mkd,mkdn,mdwn}',
  md: '*.{md,mdx,markdown,mdown,mkd,mkdn,mdwn}',
  php: '*.{php,php3,php4,php5,php7,php8,pht,phtml}',
  py: '*.{py,pyi}',
  python: '*.{py,pyi}',
  ruby: '*.{rb,rbw,gemspec}',
  rust: '*.rs',
  sh: '*.{sh,bash,zsh,csh,ksh,tcsh}',
  sql: '*.{sql,psql}',
  swift: '*.swift',
  toml: '*.toml',
  ts: '*.{ts,tsx,mts,cts}',
  txt: '*.txt',
  xml: '*.{xml,xsd,xsl,xslt,dtd,rng}',
  yaml: '*.{yaml,yml}',
};

/** Returns the glob of a file type, or the list of known types. */
function findTypeGlob(type: string): { readonly glob: string } | { readonly known: string } {
  const glob = Object.hasOwn(TYPE_GLOBS, type) ? TYPE_GLOBS[type] : undefined;
  return glob === undefined ? { known: Object.keys(TYPE_GLOBS).join(', ') } : { glob };
}

/** Returns the records of one file in ripgrep's format; empty if nothing matches. */
export async function grepFileText(
  file: string,
  text: string,
  expression: LinearRegex,
  query: TextQuery,
): Promise<string> {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const matched = query.span === 'multiline' ? await matchSpans(text, expression) : await matchLines(lines, expression);
  if (matched.count === 0) return '';
  if (query.mode === 'files_with_matches') return `${file}\0`;
  if (query.mode === 'count') return `${file}\0${matched.count}\n`;
  return formatContent(file, lines, matched.lines, query);
}

function formatContent(file: string, lines: readonly string[], matched: ReadonlySet<number>, query: TextQuery): string {
  let out = '';
  let last = -1;
  const shownLines = new Set<number>();
  for (const line of matched) {
    for (
      let nearby = Math.max(0, line - query.before);
      nearby <= line + query.after && nearby < lines.length;
      nearby += 1
    )
      shownLines.add(nearby);
  }
  for (const line of [...shownLines].sort((a, b) => a - b)) {
    if (last !== -1 && line !== last + 1 && query.before + query.after > 0) out += '--\n';
    const separator = matched.has(line) ? ':' : '-';
    const number = query.lineNumbers === 'shown' ? `${line + 1}${separator}` : '';
    out += `${file}\0${number}${lines[line] ?? ''}\n`;
    last = line;
  }
  return out;
}

type Matched = { readonly lines: ReadonlySet<number>; readonly count: number };

async function matchLines(all: readonly string[], expression: LinearRegex): Promise<Matched> {
  const lines = new Set<number>();
  let count = 0;
  const yieldToLoop = createEventLoopYielder();
  for (const [index, line] of all.entries()) {
    await yieldToLoop();
    if (!expression.test(line)) continue;
    lines.add(index);
    count += [...expression.matchAll(line)].length;
  }
  return { lines, count };
}

/** Matches across lines and returns all lines that a match covers. */
async function matchSpans(text: string, expression: LinearRegex): Promise<Matched> {
  const lines = new Set<number>();
  const yieldToLoop = createEventLoopYielder();
  let [line, from, count] = [0, 0, 0];
  for (const match of expression.matchAll(text)) {
    await yieldToLoop();
    count += 1;
    line += countNewlines(text.slice(from, match.index));
    from = match.index ?? from;
    const height = countNewlines(match[0].replace(/\n$/, ''));
    for (let step = 0; step <= height; step += 1) lines.add(line + step);
  }
  return { lines, count };
}
