import { anyText, type GlobStep, literalSteps } from './linear-match.ts';

/** How many stars and the like a pattern may have: more than anybody writes, and few enough to be matched at once. */
export const MAX_WILDCARDS = 50;

export function hasManyWildcards(pattern: string): boolean {
  return (pattern.match(/[*?[{]/g)?.length ?? 0) > MAX_WILDCARDS;
}

export type GlobDialect = {
  /** `{a,b}` are alternatives. */
  readonly braces: 'alternatives' | 'letters';
  /** What two stars mean that are not a whole folder: the same as one, or any text with its slashes. */
  readonly doubleStar: 'star' | 'any-text';
};

const MAX_BRACES = 30;
const inName: GlobStep = { is: 'many', fits: (sign) => sign !== '/' };
const oneOfName: GlobStep = { is: 'one', fits: (sign) => sign !== '/' };

/** The steps of a pattern as .gitignore and ripgrep write them. */
export function globSteps(glob: string, dialect: GlobDialect): readonly GlobStep[] {
  const signs = [...glob];
  const groups = dialect.braces === 'alternatives' ? groupsOf(signs) : new Map<number, number>();
  const read = (from: number, to: number): readonly GlobStep[] => {
    const steps: GlobStep[] = [];
    for (let at = from; at < to; at += 1) {
      const sign = signs[at] ?? '';
      const close = groups.get(at);
      if (close !== undefined) {
        steps.push({ is: 'either', ways: parted(signs, groups, at, close).map(([start, end]) => read(start, end)) });
        at = close;
        continue;
      }
      const piece = pieceAt(signs, at, to, dialect);
      steps.push(...(piece?.steps ?? literalSteps(sign)));
      at += (piece?.length ?? 1) - 1;
    }
    return steps;
  };
  return read(0, signs.length);
}

/** A star, a set or an escape, and how many signs it takes. */
function pieceAt(
  signs: readonly string[],
  at: number,
  end: number,
  { doubleStar }: GlobDialect,
): { readonly steps: readonly GlobStep[]; readonly length: number } | undefined {
  const sign = signs[at];
  if (sign === '\\' && at + 1 < end) return { steps: literalSteps(signs[at + 1] ?? ''), length: 2 };
  if (sign === '?') return { steps: [oneOfName], length: 1 };
  if (sign === '[') return setAt(signs, at, end);
  if (sign !== '*') return undefined;
  if (signs[at + 1] !== '*') return { steps: [inName], length: 1 };
  const isAtFolder = at === 0 || signs[at - 1] === '/';
  if (isAtFolder && signs[at + 2] === '/') return { steps: [{ is: 'folders' }], length: 3 };
  return { steps: [(isAtFolder && at + 2 === end) || doubleStar === 'any-text' ? anyText : inName], length: 2 };
}

/** `[a-z]`, `[!abc]`, `[]x]`. Without its closing bracket it is a letter. */
function setAt(signs: readonly string[], at: number, end: number) {
  const isOthers = signs[at + 1] === '!' || signs[at + 1] === '^';
  const from = at + (isOthers ? 2 : 1);
  const close = signs.indexOf(']', from + 1);
  if (close === -1 || close >= end) return undefined;
  const inside = signs.slice(from, close);
  const singles = new Set<string>();
  const ranges: (readonly [number, number])[] = [];
  for (let index = 0; index < inside.length; index += 1) {
    const [low = '', dash, high] = inside.slice(index, index + 3);
    if (dash === '-' && high !== undefined) {
      ranges.push([low.codePointAt(0) ?? 0, high.codePointAt(0) ?? 0]);
      index += 2;
    } else singles.add(low);
  }
  const holds = (sign: string) => {
    const code = sign.codePointAt(0) ?? 0;
    return singles.has(sign) || ranges.some(([low, high]) => low <= code && code <= high);
  };
  const step: GlobStep = { is: 'one', fits: (sign) => sign !== '/' && holds(sign) !== isOthers };
  return { steps: [step], length: close - at + 1 };
}

/** Where each brace that has a partner is closed. */
function groupsOf(signs: readonly string[]): ReadonlyMap<number, number> {
  const open: number[] = [];
  const groups = new Map<number, number>();
  for (let at = 0; at < signs.length; at += 1) {
    if (signs[at] === '\\') at += 1;
    else if (signs[at] === '{') open.push(at);
    else if (signs[at] === '}') {
      const start = open.pop();
      if (start !== undefined && open.length < MAX_BRACES) groups.set(start, at);
    }
  }
  return groups;
}

/** The alternatives of a group, by where they begin and end. */
function parted(
  signs: readonly string[],
  groups: ReadonlyMap<number, number>,
  open: number,
  close: number,
): readonly (readonly [number, number])[] {
  const ways: (readonly [number, number])[] = [];
  let from = open + 1;
  for (let at = from; at < close; at += 1) {
    if (signs[at] === '\\') at += 1;
    else if (groups.has(at)) at = groups.get(at) ?? at;
    else if (signs[at] === ',') {
      ways.push([from, at]);
      from = at + 1;
    }
  }
  return [...ways, [from, close]];
}
