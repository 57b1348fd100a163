import { createGlobMatcher, type GlobDialect, hasTooManyWildcards, parseGlob } from './glob.ts';

/** Decides on a path relative to an ignore file; `undefined` if no line matches. Folder paths end in a slash. */
export type IgnoreRules = (path: string) => 'ignored' | 'included' | undefined;

type Rule = {
  readonly matches: (path: string) => boolean;
  readonly decision: 'ignored' | 'included';
  readonly appliesTo: 'folders' | 'all';
};

/** Parses an ignore file as git does: the last match decides, and everything in an ignored folder is ignored. */
export function parseIgnoreRules(lines: readonly string[], braces: GlobDialect['braces'] = 'letters'): IgnoreRules {
  const rules = lines.flatMap((line) => parseRule(line, braces)).reverse();
  const decide = (path: string, kind: 'folder' | 'file') =>
    rules.find((rule) => (rule.appliesTo === 'all' || kind === 'folder') && rule.matches(path))?.decision;
  return (path) => {
    const parts = path.split('/');
    const isFolder = parts.at(-1) === '';
    const depth = isFolder ? parts.length - 1 : parts.length;
    for (let level = 1; level < depth; level += 1) {
      if (decide(parts.slice(0, level).join('/'), 'folder') === 'ignored') return 'ignored';
    }
    return decide(parts.slice(0, depth).join('/'), isFolder ? 'folder' : 'file');
  };
}

function parseRule(line: string, braces: GlobDialect['braces']): readonly Rule[] {
  const trimmed = line.trimEnd();
  // A backslash keeps the space after it.
  const text = trimmed.endsWith('\\') && trimmed.length < line.length ? `${trimmed} ` : trimmed;
  if (text === '' || text.startsWith('#') || hasTooManyWildcards(text)) return [];
  const isNegated = text.startsWith('!');
  const pattern = isNegated ? text.slice(1) : text;
  const body = pattern.replace(/\/$/, '');
  const steps = parseGlob(body.replace(/^\//, ''), { braces, doubleStar: 'star' });
  return [
    {
      matches: createGlobMatcher(body.includes('/') ? steps : [{ kind: 'folders' }, ...steps]),
      decision: isNegated ? 'included' : 'ignored',
      appliesTo: body === pattern ? 'all' : 'folders',
    },
  ];
}
