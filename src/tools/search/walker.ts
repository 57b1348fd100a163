import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { decodeText } from '../../lib/files/encoding.ts';
import { type LinearRegex, linearRegex } from '../../lib/patterns/linear-regex.ts';
import { exclusionGlobs, namesHidden } from './exclusions.ts';
import { compileGlob } from './glob-pattern.ts';
import type { Locator, TextQuery } from './locator.ts';
import { matchText } from './match-text.ts';
import { walk } from './walk.ts';

/** Searches with fast-glob, without any program: slower, but always there. */
export function createWalkerLocator(): Locator {
  return {
    name: 'walker',
    async listFiles({ root, excluded, ignored }, take, signal) {
      const never = exclusionGlobs(root, excluded);
      if (never === 'all') return;
      for await (const file of walk(
        root,
        { hidden: 'include', never, ...(ignored === undefined ? {} : { ignored }) },
        signal,
      )) {
        if (take(`${file}\n`) === 'enough') return;
      }
    },
    async search(query, take, signal) {
      const expression = await compile(query);
      let isFirst = true;
      for await (const file of filesOf(query, signal)) {
        signal.throwIfAborted();
        const bytes = await readFile(path.resolve(query.root, file)).catch(() => undefined);
        const text = bytes === undefined ? undefined : decodeText(bytes)?.text;
        const records = text === undefined ? '' : await matchText(file, text, expression, query);
        if (records === '') continue;
        const hasGroups = query.mode === 'content' && query.before + query.after > 0;
        const separated = hasGroups && !isFirst ? `--\n${records}` : records;
        isFirst = false;
        if (take(separated) === 'enough') return;
      }
    },
  };
}

async function* filesOf(query: TextQuery, signal: AbortSignal): AsyncGenerator<string> {
  const never = exclusionGlobs(query.root, query.excluded);
  if (never === 'all') return;
  if (query.file !== undefined) {
    yield query.file;
    return;
  }
  const type = query.type === undefined ? undefined : typeGlob(query.type);
  if (type !== undefined && 'known' in type) {
    throw new ToolFailure(`The file type "${query.type}" is unknown. Known types: ${type.known}. Or use glob.`);
  }
  const isOfType = type === undefined ? () => true : compileGlob(type.glob);
  const hidden = namesHidden(query.glob) ? 'include' : 'skip';
  for await (const file of walk(query.root, { hidden, only: query.glob, never }, signal)) {
    if (isOfType(file)) yield file;
  }
}

async function compile(query: TextQuery): Promise<LinearRegex> {
  const expression = await linearRegex(query.pattern, [
    'multiline',
    ...(query.letters === 'any_case' ? (['any-case'] as const) : []),
    ...(query.span === 'multiline' ? (['dot-all'] as const) : []),
  ]);
  if (!('problem' in expression)) return expression;
  throw new ToolFailure(`The search could not start: the pattern cannot be used, ${expression.problem}.`);
}

// The commonest of ripgrep's types, for where there is no ripgrep.
const TYPES: Readonly<Record<string, string>> = {
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

/** The glob of a file type, or the types there are. */
function typeGlob(type: string): { readonly glob: string } | { readonly known: string } {
  const glob = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  return glob === undefined ? { known: Object.keys(TYPES).join(', ') } : { glob };
}
