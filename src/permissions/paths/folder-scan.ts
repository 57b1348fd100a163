import { join } from 'node:path/posix';
import { createLazy } from '../../lib/memoize.ts';
import {
  anyCharacterToken,
  anyTextGlobToken,
  createGlobMatcher,
  type GlobToken,
  hasTooManyWildcards,
  parseLiteralGlob,
} from '../../lib/patterns/glob.ts';
import type { PermissionFs } from '../permission-fs.ts';
import type { ResolvedPath } from '../resolve-path.ts';

/** An entry found by a scan. */
export type FolderScanEntry = {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** Device and inode; set for files with several hard links. */
  readonly inode?: string;
};

const MAX_ENTRIES = 3_000;

/** Searches a folder recursively for the first entry that matches; `too many` if it exceeds the limit. */
export function scanFolder(
  fs: PermissionFs,
  folder: string,
  matches: (entry: FolderScanEntry) => boolean,
  skippedNames: ReadonlySet<string> = new Set(),
): FolderScanEntry | 'too many' | undefined {
  const pending = [folder];
  let seen = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const name of fs.readdir(next)) {
      seen += 1;
      if (seen > MAX_ENTRIES) return 'too many';
      const path = join(next, name);
      const { kind = 'other', inode } = fs.lstat(path) ?? {};
      const entry = { path, kind, ...(inode === undefined ? {} : { inode }) };
      if (matches(entry)) return entry;
      if (kind === 'directory' && !skippedNames.has(name)) pending.push(path);
    }
  }
  return undefined;
}

/** Creates the resolved path of an entry that is not a link below a real folder: it is where its name says. */
export function createScannedPath(
  path: string,
  kind: Exclude<FolderScanEntry['kind'], 'link'>,
  inode?: string,
): ResolvedPath {
  const inodeField = inode === undefined ? {} : { inode };
  return { original: path, lexical: path, real: path, kind, nlink: inode === undefined ? 1 : 2, ...inodeField };
}

/** Returns the path segments from a folder down to a path inside it. */
export function splitRelativePath(folder: string, path: string): readonly string[] {
  return path
    .slice(folder.length)
    .split('/')
    .filter((name) => name !== '');
}

const MAX_MATCHES = 500;

/** Expands a glob like bash; brackets beyond simple sets match every name they could match. */
export function expandGlob(
  fs: PermissionFs,
  cwd: string,
  pattern: string,
  names: 'shown' | 'hidden too' = 'shown',
): readonly string[] | 'too many' {
  const absolute = pattern.startsWith('/');
  let matches: string[] = [absolute ? '/' : ''];
  for (const segment of pattern.split('/').filter((part) => part !== '')) {
    const next: string[] = [];
    const matchesName = /[*?[]/.test(segment) ? createNameTest(segment, names) : undefined;
    for (const base of matches) {
      const folder = base === '' ? cwd : base.startsWith('/') ? base : join(cwd, base);
      const entries = matchesName === undefined ? [segment] : [...fs.readdir(folder)].filter(matchesName);
      for (const name of entries) next.push(base === '' ? name : `${base === '/' ? '' : base}/${name}`);
      if (next.length > MAX_MATCHES) return 'too many';
    }
    matches = next;
  }
  // Segments after a wildcard were not checked on disk, and unusual brackets may have matched too much.
  const wildcard = pattern.search(/[*?[]/);
  const isLast = wildcard === -1 || !pattern.includes('/', wildcard);
  const isExact = matches.length > 0 && isLast && !pattern.replace(LITERAL_SET, '').includes('[');
  return isExact ? matches : [...matches, pattern];
}

/** Creates the test for entries of a folder; `hidden too` includes dotfiles and ignores case. */
function createNameTest(segment: string, names: 'shown' | 'hidden too'): (name: string) => boolean {
  if (names === 'hidden too') {
    // Extended globs such as `@(a|b)` are not parsed, so they match every name.
    const matches = /[()|]/.test(segment) ? () => true : createEncodingTest(segment.toLowerCase());
    return (name) => matches(name.toLowerCase());
  }
  const matches = createEncodingTest(segment);
  return (name) => matches(name) && (segment.startsWith('.') || !name.startsWith('.'));
}

/** A bracket set of single characters, digit ranges and letter ranges. Shells know more forms, which are not parsed. */
const SIMPLE_SET = /\[([!^]?)((?:[0-9]-[0-9]|[A-Za-z]-[A-Za-z]|[^\][\\!^-])+)\]/gu;

/** A bracket set without ranges. */
const LITERAL_SET = /\[[!^]?[^\][\\!^-]+\]/gu;

/** Returns whether the pattern is matched exactly as in bash: few wildcards, and only simple bracket sets. */
export function isExactGlobPattern(pattern: string): boolean {
  return !hasTooManyWildcards(pattern) && !pattern.replace(SIMPLE_SET, '').includes('[');
}

/** Matches by characters and by bytes, since the locale decides which one a shell uses; ASCII is the same in both. */
function createEncodingTest(segment: string): (name: string) => boolean {
  const bytes = (text: string) => Buffer.from(text).toString('latin1');
  const byCharacters = createGlobSegmentTest(segment);
  const byBytes = createLazy(() => createGlobSegmentTest(bytes(segment)));
  const isAscii = (text: string) => !/[^\0-\x7f]/.test(text);
  const isAsciiPattern = isAscii(segment);
  // Fast path: most names differ in their literal start or end.
  const isSimple = isAsciiPattern && /^[^[\\]+$/.test(segment);
  const start = isSimple ? (/^[^*?]*/.exec(segment)?.[0] ?? '') : '';
  const end = isSimple ? (/(?<![^*?])[^*?]*$/.exec(segment)?.[0] ?? '') : '';
  // With a single wildcard, start and end are the whole test.
  if (isSimple && /^[^*?]*\*+[^*?]*$/.test(segment)) {
    return (name) => name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
  }
  return (name) =>
    name.startsWith(start) &&
    name.endsWith(end) &&
    (byCharacters(name) || (!(isAsciiPattern && isAscii(name)) && byBytes()(bytes(name))));
}

/** Creates the test for one segment of a glob pattern; it never matches fewer names than bash would. */
export function createGlobSegmentTest(pattern: string): (name: string) => boolean {
  const segment = pattern.replace(/\*+/g, '*');
  if (!isExactGlobPattern(segment)) return () => true;
  const steps: GlobToken[] = [];
  let end = 0;
  for (const match of segment.matchAll(new RegExp(`${SIMPLE_SET.source}|[*?]`, 'gu'))) {
    const [text, negation, set] = match;
    steps.push(...parseLiteralGlob(segment.slice(end, match.index)));
    if (set !== undefined) steps.push(createSetStep(set, negation === '' ? 'listed' : 'others'));
    else steps.push(text === '*' ? anyTextGlobToken : anyCharacterToken);
    end = match.index + text.length;
  }
  return createGlobMatcher([...steps, ...parseLiteralGlob(segment.slice(end))]);
}

/** Ranges like `[a-z]` depend on the locale, so they match any letter. */
function createSetStep(set: string, matched: 'listed' | 'others'): GlobToken {
  const hasRange = set.includes('-');
  if (matched === 'others' && hasRange) return anyCharacterToken;
  const source = set.replace(/[0-9]-[0-9]/g, '0-9').replace(/[A-Za-z]-[A-Za-z]/g, String.raw`\p{L}`);
  const expression = new RegExp(`^[${matched === 'others' ? '^' : ''}${source}]$`, 'us');
  return { kind: 'one', matches: (character) => expression.test(character) };
}
