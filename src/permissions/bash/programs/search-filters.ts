import { isCertainPattern, segmentTest } from '../../paths/folder-scan.ts';

/** An option as it was given. */
export type GivenOption = { readonly flag: string; readonly value: string };

/** May a search open this file? By the names from the searched folder down to it; `isShown`: a hidden name that some file of ignored names brings back. */
export type Opens = (inside: readonly string[], isShown: (name: string) => boolean) => boolean;

/** A pattern of one name, in which nothing is read in different ways. */
const PLAIN_PATTERN = /^[^[\\{}/]+$/;

/** A name is left out only if a plain pattern says so, and taken unless one certainly does not fit. */
const leaves = (pattern: string, name: string) =>
  PLAIN_PATTERN.test(pattern) && isCertainPattern(pattern) && segmentTest(pattern)(name);
const takes = (pattern: string, name: string) => !PLAIN_PATTERN.test(pattern) || segmentTest(pattern)(name);

/** grep: of what takes and leaves files the last that fits counts, and where none does, whether the first one takes. */
export function grepOpens(options: readonly GivenOption[]): Opens {
  const folders = options.filter(({ flag }) => flag === '--exclude-dir').map(({ value }) => value.replace(/\/+$/, ''));
  const files = options.filter(({ flag }) => flag === '--include' || flag === '--exclude');
  return (inside) => {
    const name = inside.at(-1) ?? '';
    if (inside.slice(0, -1).some((folder) => folders.some((pattern) => leaves(pattern, folder)))) return false;
    const last = files.findLast(({ flag, value }) => (flag === '--include' ? takes(value, name) : leaves(value, name)));
    return last === undefined ? files[0]?.flag !== '--include' : last.flag === '--include';
  };
}

const HIDDEN_TOO = ['-.', '--hidden', '-u', '--unrestricted'];

/** ripgrep: the last glob that fits counts, one that takes also opens what is hidden, and beside one all others are left. */
export function ripgrepOpens(options: readonly GivenOption[]): Opens {
  // Those that pass over case come behind all others, wherever they stand.
  const globs = [['-g', '--glob'], ['--iglob']].flatMap((names) => options.filter(({ flag }) => names.includes(flag)));
  const isNegative = ({ value }: GivenOption) => value.startsWith('!');
  const taking = globs.filter((glob) => !isNegative(glob));
  const lastTaking = globs.findLastIndex((glob) => !isNegative(glob));
  const leaving = globs.slice(lastTaking + 1).map(({ value }) => value.slice(1).replace(/^(?:\*\*\/)+/, ''));
  const left = leaving.map((pattern) => pattern.replace(/\/$/, ''));
  const opensHidden = taking.length > 0 || options.some(({ flag }) => HIDDEN_TOO.includes(flag));
  return (inside, isShown) => {
    if (inside.some((name) => left.some((pattern) => leaves(pattern, name)))) return false;
    if (!opensHidden && inside.some((name) => name.startsWith('.') && !isShown(name))) return false;
    const fits = ({ flag, value }: GivenOption, name: string) =>
      flag === '--iglob' ? takes(value.toLowerCase(), name.toLowerCase()) : takes(value, name);
    return taking.length === 0 || taking.some((glob) => inside.some((name) => fits(glob, name)));
  };
}

/** find: one name that is asked for, and nothing that turns the question round. */
export function findOpens(args: readonly string[]): Opens {
  const names = args.flatMap((word, at) => (/^-i?name$/.test(args[at - 1] ?? '') ? [word] : []));
  const isTurned = args.some((word) => /^(?:-o|-or|-not|!|,|\(|\))$/.test(word));
  const [only, more] = names;
  if (only === undefined || more !== undefined || isTurned) return () => true;
  return (inside) => takes(only.toLowerCase(), (inside.at(-1) ?? '').toLowerCase());
}
