import { join } from 'node:path';
import { once } from '../../lib/once.ts';
import { hasManyWildcards } from '../../lib/patterns/glob.ts';
import { anySign, anyText, type GlobStep, globTest, literalSteps } from '../../lib/patterns/linear-match.ts';
import type { PermissionFs } from './fs.ts';
import type { ResolvedPath } from './paths.ts';

export type ScanEntry = {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** Which file it is, where that has several names. */
  readonly inode?: string;
};

const MAX_ENTRIES = 3_000;

/** Looks through a folder for the first entry that fits; or says that there are too many to look at. */
export function scanFolder(
  fs: PermissionFs,
  folder: string,
  fits: (entry: ScanEntry) => boolean,
  without: ReadonlySet<string> = new Set(),
): ScanEntry | 'too many' | undefined {
  const pending = [folder];
  let seen = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const name of fs.readdir(next)) {
      seen += 1;
      if (seen > MAX_ENTRIES) return 'too many';
      const path = join(next, name);
      const { kind = 'other', inode } = fs.lstat(path) ?? {};
      const entry = { path, kind, ...(inode === undefined ? {} : { inode }) };
      if (fits(entry)) return entry;
      if (kind === 'directory' && !without.has(name)) pending.push(path);
    }
  }
  return undefined;
}

/** What a scan comes by below a real folder, and is no link, is where it is spelled. */
export function foundAt(path: string, kind: Exclude<ScanEntry['kind'], 'link'>, inode?: string): ResolvedPath {
  const shared = inode === undefined ? {} : { inode };
  return { spelling: path, lexical: path, real: path, kind, nlink: inode === undefined ? 1 : 2, ...shared };
}

/** The names from a folder down to something in it. */
export function namesBelow(folder: string, path: string): readonly string[] {
  return path
    .slice(folder.length)
    .split('/')
    .filter((name) => name !== '');
}

const MAX_MATCHES = 500;

/**
 * The names bash would put in place of a pattern. Unmatched, the pattern stays as it is. Where brackets are more than is
 * understood for certain, it is all that they could stand for.
 */
export function expandGlob(
  fs: PermissionFs,
  cwd: string,
  pattern: string,
  names: 'shown' | 'hidden too' = 'shown',
): readonly string[] | 'too many' {
  const absolute = pattern.startsWith('/');
  let found: string[] = [absolute ? '/' : ''];
  for (const segment of pattern.split('/').filter((part) => part !== '')) {
    const next: string[] = [];
    const fits = /[*?[]/.test(segment) ? entryTest(segment, names) : undefined;
    for (const base of found) {
      const folder = base === '' ? cwd : base.startsWith('/') ? base : join(cwd, base);
      const entries = fits === undefined ? [segment] : [...fs.readdir(folder)].filter(fits);
      for (const name of entries) next.push(base === '' ? name : `${base === '/' ? '' : base}/${name}`);
      if (next.length > MAX_MATCHES) return 'too many';
    }
    found = next;
  }
  // What stands behind a star was not looked for, and of odd brackets too much may have been found.
  const isSure = found.length > 0 && !/[*?[].*\//s.test(pattern) && !pattern.replace(SIGNS, '').includes('[');
  return isSure ? found : [...found, pattern];
}

/** Which entries of a folder a pattern matches: `hidden too` also with a point in front, and in other letters. */
function entryTest(segment: string, names: 'shown' | 'hidden too'): (name: string) => boolean {
  if (names === 'hidden too') {
    // What a shell makes of `@(a|b)` is not read here.
    const fits = /[()|]/.test(segment) ? () => true : nameTest(segment.toLowerCase());
    return (name) => fits(name.toLowerCase());
  }
  const fits = nameTest(segment);
  return (name) => fits(name) && (segment.startsWith('.') || !name.startsWith('.'));
}

/** A set of single signs, digits and letters from one to another. Bash knows more in brackets, and so do other shells. */
const SET = /\[([!^]?)((?:[0-9]-[0-9]|[A-Za-z]-[A-Za-z]|[^\][\\!^-])+)\]/gu;

/** A set of which every sign is written out. */
const SIGNS = /\[[!^]?[^\][\\!^-]+\]/gu;

/** Is every bracket of the pattern a set that is read exactly as bash does, and is it one that can be matched? */
export function isCertainPattern(pattern: string): boolean {
  return !hasManyWildcards(pattern) && !pattern.replace(SET, '').includes('[');
}

/** By signs and by bytes: which of the two a shell goes by is a matter of the language. In plain letters they are the same. */
function nameTest(segment: string): (name: string) => boolean {
  const bytes = (text: string) => Buffer.from(text).toString('latin1');
  const bySigns = segmentTest(segment);
  const byBytes = once(() => segmentTest(bytes(segment)));
  const isPlain = (text: string) => !/[^\0-\x7f]/.test(text);
  const isPlainPattern = isPlain(segment);
  // Most names are out by how they begin or end.
  const isSimple = isPlainPattern && /^[^[\\]+$/.test(segment);
  const begin = isSimple ? (/^[^*?]*/.exec(segment)?.[0] ?? '') : '';
  const end = isSimple ? (/[^*?]*$/.exec(segment)?.[0] ?? '') : '';
  // With one star nothing else is to be known of them.
  if (isSimple && /^[^*?]*\*+[^*?]*$/.test(segment)) {
    return (name) => name.length >= begin.length + end.length && name.startsWith(begin) && name.endsWith(end);
  }
  return (name) =>
    name.startsWith(begin) &&
    name.endsWith(end) &&
    (bySigns(name) || (!(isPlainPattern && isPlain(name)) && byBytes()(bytes(name))));
}

/** One segment of a pattern, as bash reads it: never fewer names than bash would match. */
export function segmentTest(spelled: string): (name: string) => boolean {
  const segment = spelled.replace(/\*+/g, '*');
  if (!isCertainPattern(segment)) return () => true;
  const steps: GlobStep[] = [];
  let at = 0;
  for (const found of segment.matchAll(new RegExp(`${SET.source}|[*?]`, 'gu'))) {
    const [piece, not, set] = found;
    steps.push(...literalSteps(segment.slice(at, found.index)));
    if (set !== undefined) steps.push(setStep(set, not === '' ? 'these' : 'others'));
    else steps.push(piece === '*' ? anyText : anySign);
    at = found.index + piece.length;
  }
  return globTest([...steps, ...literalSteps(segment.slice(at))]);
}

/** What lies between two letters is a matter of the language: any letter may. */
function setStep(set: string, meant: 'these' | 'others'): GlobStep {
  const hasRange = set.includes('-');
  if (meant === 'others' && hasRange) return anySign;
  const source = set.replace(/[0-9]-[0-9]/g, '0-9').replace(/[A-Za-z]-[A-Za-z]/g, String.raw`\p{L}`);
  const expression = new RegExp(`^[${meant === 'others' ? '^' : ''}${source}]$`, 'us');
  return { is: 'one', fits: (sign) => expression.test(sign) };
}
