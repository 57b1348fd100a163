import { type GlobDialect, globSteps, hasManyWildcards } from './glob.ts';
import { globTest } from './linear-match.ts';

/** What the lines of an ignore file say about a path below its folder; a folder's path ends in a slash. */
export type IgnoreRules = (path: string) => 'ignored' | 'kept' | undefined;

type Rule = {
  readonly fits: (path: string) => boolean;
  readonly says: 'ignored' | 'kept';
  readonly of: 'folders' | 'all';
};

/** Reads .gitignore and its like as git does: the last line that fits decides, and what is ignored holds nothing kept. */
export function readIgnore(lines: readonly string[], braces: GlobDialect['braces'] = 'letters'): IgnoreRules {
  const rules = lines.flatMap((line) => ruleOf(line, braces)).reverse();
  const saidOf = (path: string, kind: 'folder' | 'file') =>
    rules.find((rule) => (rule.of === 'all' || kind === 'folder') && rule.fits(path))?.says;
  return (path) => {
    const parts = path.split('/');
    const isFolder = parts.at(-1) === '';
    const depth = isFolder ? parts.length - 1 : parts.length;
    for (let level = 1; level < depth; level += 1) {
      if (saidOf(parts.slice(0, level).join('/'), 'folder') === 'ignored') return 'ignored';
    }
    return saidOf(parts.slice(0, depth).join('/'), isFolder ? 'folder' : 'file');
  };
}

function ruleOf(line: string, braces: GlobDialect['braces']): readonly Rule[] {
  const bare = line.trimEnd();
  // A space that is wanted at the end has a backslash before it.
  const text = bare.endsWith('\\') && bare.length < line.length ? `${bare} ` : bare;
  if (text === '' || text.startsWith('#') || hasManyWildcards(text)) return [];
  const isKept = text.startsWith('!');
  const pattern = isKept ? text.slice(1) : text;
  const body = pattern.replace(/\/$/, '');
  const steps = globSteps(body.replace(/^\//, ''), { braces, doubleStar: 'star' });
  return [
    {
      fits: globTest(body.includes('/') ? steps : [{ is: 'folders' }, ...steps]),
      says: isKept ? 'kept' : 'ignored',
      of: body === pattern ? 'all' : 'folders',
    },
  ];
}
