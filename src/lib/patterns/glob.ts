/** Maximum number of wildcards in a pattern, so that matching stays fast. */
export const MAX_WILDCARDS = 50;

/** Returns whether a pattern has more wildcards than are matched. */
export function hasTooManyWildcards(pattern: string): boolean {
  return (pattern.match(/[*?[{]/g)?.length ?? 0) > MAX_WILDCARDS;
}

/** Differences between the glob syntaxes in use. */
export type GlobDialect = {
  /** Meaning of `{a,b}`: alternatives or literal characters. */
  readonly braces: 'alternatives' | 'letters';
  /** Meaning of `**` that is not a whole path segment: the same as one star, or any text including slashes. */
  readonly doubleStar: 'star' | 'any-text';
};

const MAX_BRACES = 30;
const starStep: GlobToken = { kind: 'many', matches: (character) => character !== '/' };
const questionMarkStep: GlobToken = { kind: 'one', matches: (character) => character !== '/' };

/** Parses a glob in the syntax of .gitignore and ripgrep. */
export function parseGlob(glob: string, dialect: GlobDialect): readonly GlobToken[] {
  const characters = [...glob];
  const groups = dialect.braces === 'alternatives' ? findBraceGroups(characters) : new Map<number, number>();
  const parseRange = (from: number, to: number): readonly GlobToken[] => {
    const steps: GlobToken[] = [];
    for (let at = from; at < to; at += 1) {
      const character = characters[at] ?? '';
      const close = groups.get(at);
      if (close !== undefined) {
        const ranges = splitAlternatives(characters, groups, at, close);
        steps.push({ kind: 'either', alternatives: ranges.map(([start, end]) => parseRange(start, end)) });
        at = close;
        continue;
      }
      const wildcard = parseWildcard(characters, at, to, dialect);
      steps.push(...(wildcard?.steps ?? parseLiteralGlob(character)));
      at += (wildcard?.length ?? 1) - 1;
    }
    return steps;
  };
  return parseRange(0, characters.length);
}

/** Parses a star, a question mark, a set or an escape. Returns its steps and its length in the pattern. */
function parseWildcard(
  characters: readonly string[],
  at: number,
  end: number,
  { doubleStar }: GlobDialect,
): { readonly steps: readonly GlobToken[]; readonly length: number } | undefined {
  const character = characters[at];
  if (character === '\\' && at + 1 < end) return { steps: parseLiteralGlob(characters[at + 1] ?? ''), length: 2 };
  if (character === '?') return { steps: [questionMarkStep], length: 1 };
  if (character === '[') return parseSet(characters, at, end);
  if (character !== '*') return undefined;
  if (characters[at + 1] !== '*') return { steps: [starStep], length: 1 };
  const isAtSegmentStart = at === 0 || characters[at - 1] === '/';
  if (isAtSegmentStart && characters[at + 2] === '/') return { steps: [{ kind: 'folders' }], length: 3 };
  const matchesSlashes = (isAtSegmentStart && at + 2 === end) || doubleStar === 'any-text';
  return { steps: [matchesSlashes ? anyTextGlobToken : starStep], length: 2 };
}

/** Parses `[a-z]`, `[!abc]` or `[]x]`. A bracket that is not closed is an ordinary character. */
function parseSet(characters: readonly string[], at: number, end: number) {
  const isNegated = characters[at + 1] === '!' || characters[at + 1] === '^';
  const from = at + (isNegated ? 2 : 1);
  const close = characters.indexOf(']', from + 1);
  if (close === -1 || close >= end) return undefined;
  const inside = characters.slice(from, close);
  const singles = new Set<string>();
  const ranges: (readonly [number, number])[] = [];
  for (let index = 0; index < inside.length; index += 1) {
    const [low = '', dash, high] = inside.slice(index, index + 3);
    if (dash === '-' && high !== undefined) {
      ranges.push([low.codePointAt(0) ?? 0, high.codePointAt(0) ?? 0]);
      index += 2;
    } else singles.add(low);
  }
  const isListed = (character: string) => {
    const code = character.codePointAt(0) ?? 0;
    return singles.has(character) || ranges.some(([low, high]) => low <= code && code <= high);
  };
  const step: GlobToken = {
    kind: 'one',
    matches: (character) => character !== '/' && isListed(character) !== isNegated,
  };
  return { steps: [step], length: close - at + 1 };
}

/** Maps the position of each opening brace to that of its closing brace. */
function findBraceGroups(characters: readonly string[]): ReadonlyMap<number, number> {
  const open: number[] = [];
  const groups = new Map<number, number>();
  for (let at = 0; at < characters.length; at += 1) {
    if (characters[at] === '\\') at += 1;
    else if (characters[at] === '{') open.push(at);
    else if (characters[at] === '}') {
      const start = open.pop();
      if (start !== undefined && open.length < MAX_BRACES) groups.set(start, at);
    }
  }
  return groups;
}

/** Returns the start and end of each alternative of a brace group. */
function splitAlternatives(
  characters: readonly string[],
  groups: ReadonlyMap<number, number>,
  open: number,
  close: number,
): readonly (readonly [number, number])[] {
  const alternatives: (readonly [number, number])[] = [];
  let from = open + 1;
  for (let at = from; at < close; at += 1) {
    if (characters[at] === '\\') at += 1;
    else if (groups.has(at)) at = groups.get(at) ?? at;
    else if (characters[at] === ',') {
      alternatives.push([from, at]);
      from = at + 1;
    }
  }
  return [...alternatives, [from, close]];
}

/** One step of a pattern. `folders` matches any number of folder names, each with its slash; also none. */
export type GlobToken =
  | { readonly kind: 'one' | 'many'; readonly matches: (character: string) => boolean }
  | { readonly kind: 'folders' }
  | { readonly kind: 'either'; readonly alternatives: readonly (readonly GlobToken[])[] };

/** Matches any single character. */
export const anyCharacterToken: GlobToken = { kind: 'one', matches: () => true };
/** Matches any text, slashes included. */
export const anyTextGlobToken: GlobToken = { kind: 'many', matches: () => true };

/** Returns the steps that match a text literally. */
export function parseLiteralGlob(text: string): readonly GlobToken[] {
  return [...text].map((character): GlobToken => ({ kind: 'one', matches: (candidate) => candidate === character }));
}

/** Compiles a pattern in which only the star is special: it matches any text. */
export function compileStarPattern(pattern: string): (text: string) => boolean {
  return createGlobMatcher(
    [...pattern].flatMap((character) => (character === '*' ? [anyTextGlobToken] : parseLiteralGlob(character))),
  );
}

/**
 * Compiles steps to a test of a whole text; with `or-below` also of any path below a matching one. It simulates an NFA:
 * all states are advanced together, so the time is at most pattern length times text length.
 */
export function createGlobMatcher(
  steps: readonly GlobToken[],
  end: 'exact' | 'or-below' = 'exact',
): (text: string) => boolean {
  const states = buildStates(steps);
  return (text) => {
    const active = createActiveStates(states);
    active.enter(states.length - 1, 'folder');
    let current = active.take();
    for (const character of text) {
      if (end === 'or-below' && character === '/' && current.includes(END)) return true;
      const position = character === '/' ? 'folder' : 'name';
      for (const index of current) {
        const state = states[index];
        if (state?.accepts?.(character) === true) active.enter(state.next, position);
      }
      current = active.take();
      if (current.length === 0) return false;
    }
    return current.includes(END);
  };
}

/** A state: consumes an accepted character and goes to `next`. `skips` are epsilon transitions, `when` limits them. */
type State = {
  readonly accepts?: (character: string) => boolean;
  readonly next: number;
  readonly skips: readonly number[];
  readonly when?: 'at-folder';
};

const END = 0;

/** Builds the NFA from its end: the accepting state comes first in the list, the start state last. */
function buildStates(steps: readonly GlobToken[]): readonly State[] {
  const states: State[] = [{ next: 0, skips: [] }];
  const add = (state: State) => states.push(state) - 1;
  const build = (list: readonly GlobToken[], target: number): number =>
    list.reduceRight((next, step, index) => {
      const before = list[index - 1];
      switch (step.kind) {
        case 'one':
          return add({ accepts: step.matches, next, skips: [] });
        case 'many':
          return before === step ? next : add({ accepts: step.matches, next: states.length, skips: [next] });
        case 'folders':
          return before?.kind === 'folders'
            ? next
            : add({ accepts: () => true, next: states.length, skips: [next], when: 'at-folder' });
        default:
          return add({ next: 0, skips: step.alternatives.map((alternative) => build(alternative, next)) });
      }
    }, target);
  const start = build(steps, END);
  add({ next: 0, skips: [start] });
  return states;
}

/** The set of active states with those reachable by epsilon transitions, each once. */
function createActiveStates(states: readonly State[]) {
  const enteredIn = new Uint32Array(states.length);
  let round = 1;
  let entered: number[] = [];
  const pending: number[] = [];
  const enter = (from: number, position: 'folder' | 'name'): void => {
    for (let index: number | undefined = from; index !== undefined; index = pending.pop()) {
      if (enteredIn[index] === round) continue;
      enteredIn[index] = round;
      entered.push(index);
      const state = states[index];
      if (state !== undefined && (state.when === undefined || position === 'folder')) pending.push(...state.skips);
    }
  };
  return {
    enter,
    take(): readonly number[] {
      const taken = entered;
      entered = [];
      round += 1;
      return taken;
    },
  };
}

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
