import { createStepCounter, type Part, parsePattern } from './match-steps.ts';
import { isNode, type Node, templateText, treeOf } from './syntax.ts';

/** Returns the regular expressions of a source: literals, and those that are built from texts. */
export function listPatterns(path: string, text: string): readonly RegExp[] {
  const found: RegExp[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (!isNode(node)) return;
    const { regex } = node;
    if (typeof regex === 'object' && regex !== null && 'pattern' in regex && 'flags' in regex)
      found.push(new RegExp(String(regex.pattern), String(regex.flags)));
    if (isBuiltPattern(node) && Array.isArray(node.arguments)) {
      const [flags = ''] = textsIn(node.arguments[1]);
      found.push(...textsIn(node.arguments[0]).flatMap((source) => toPattern(source, flags)));
    }
    for (const part of Object.values(node)) if (typeof part === 'object') visit(part);
  };
  visit(treeOf(path, text));
  return found;
}

const isBuiltPattern = ({ type, callee }: Node): boolean =>
  (type === 'NewExpression' || type === 'CallExpression') && isNode(callee) && callee.name === 'RegExp';

/** Returns the texts from which a pattern is built; a computed part of a template counts as a letter. */
function textsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (!isNode(node)) return [];
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : [];
  if (node.type === 'TaggedTemplateExpression')
    return isNode(node.quasi) ? [piecesOf(node.quasi).map(rawText).join('a')] : [];
  if (node.type === 'TemplateLiteral') return [piecesOf(node).map(templateText).join('a')];
  return Object.values(node).flatMap(textsIn);
}

const piecesOf = ({ quasis }: Node): readonly unknown[] => (Array.isArray(quasis) ? quasis : []);

function rawText(quasi: unknown): string {
  const value = isNode(quasi) ? quasi.value : undefined;
  return typeof value === 'object' && value !== null && 'raw' in value ? String(value.raw) : '';
}

function toPattern(source: string, flags: string): readonly RegExp[] {
  try {
    return [new RegExp(source, flags)];
  } catch {
    return [];
  }
}

/** A text that takes a regular expression more than linear time: `before`, then `repeated` many times, then `after`. */
export type SlowText = { readonly before: string; readonly repeated: string; readonly after: string };

const CHARACTERS = [
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + ((index + 65) % 95))),
  ...'\n\t\r\0\x1b\x85é…\u2028',
];
/** Numbers of repetitions from which on a loop counts as one without a bound. */
const MANY = 20;
const SHORT = 64;
/** Kinds of characters that are combined with each other. */
const MOST_PAIRED = 8;
const MAX_STEPS_PER_CHARACTER = 1_000;

/**
 * Searches a text for which the steps of a backtracking engine grow faster than the text. It counts steps instead of
 * measuring time, so the answer is the same on every machine.
 */
export function findSlowText(pattern: RegExp): SlowText | undefined {
  const part = parsePattern(pattern);
  const loops = loopsIn(part, ['']);
  if (loops.length === 0) return undefined;
  const count = createStepCounter(pattern, part);
  const texts = new Map<string, SlowText>();
  const add = (before: string, repeated: string, after: string): void => {
    if (repeated !== '') texts.set(JSON.stringify([before, repeated, after]), { before, repeated, after });
  };
  const kinds = kindsOf(pattern, part);
  addTexts(loops, kinds, add);
  const hasLimits = loops.some(({ isLimited }) => isLimited);
  const lengths = hasLimits ? [SHORT, 4 * SHORT] : [SHORT];
  return [...texts.values()].find((text) => isSlow(text, count, lengths));
}

type Kinds = { readonly all: readonly string[]; readonly strange: string };
type Add = (before: string, repeated: string, after: string) => void;

function addTexts(loops: readonly Loop[], { all, strange }: Kinds, add: Add): void {
  const mixed = all.join('').repeat(3);
  for (const kind of all)
    for (const before of ['', strange]) for (const after of ['', strange, mixed]) add(before, kind, after);
  for (const { before, element } of loops)
    for (const start of before) {
      add('', start, '');
      for (const one of element)
        for (const after of ['', strange, mixed]) {
          add(start, one, after);
          add('', start + one, after);
          add('', one + start, after);
        }
      for (const kind of all) {
        add('', start + kind, '');
        if (start !== '') for (const after of ['', strange, mixed]) add(start, kind, after);
      }
    }
  for (const kind of all.slice(0, MOST_PAIRED))
    for (const other of all.slice(0, MOST_PAIRED)) {
      add('', kind, other);
      add('', kind + other, '');
      add('', kind + other, strange);
    }
}

/** True if the steps grow faster than the text from each of the lengths to the fourfold. */
function isSlow(text: SlowText, count: (text: string, limit: number) => number, lengths: readonly number[]): boolean {
  const stepsFor = (length: number, limit: number) => {
    const times = Math.ceil(length / text.repeated.length);
    return count(text.before + text.repeated.repeat(times) + text.after, limit);
  };
  const least = 12 * SHORT;
  if (stepsFor(SHORT, least) < least) return false;
  return lengths.every((length) => {
    const limit = 6 * stepsFor(length, length * MAX_STEPS_PER_CHARACTER);
    return stepsFor(4 * length, limit) >= limit;
  });
}

/** Returns one character of each kind that the sets of the pattern tell apart, and one that the fewest of them match. */
function kindsOf({ source }: RegExp, part: Part): Kinds {
  const sets = setsIn(part);
  const kinds = new Map<string, string>();
  for (const character of [...CHARACTERS, ...source]) {
    const places = `${/\w/.test(character)}${/[\n\r\u2028]/.test(character)}`;
    const key = sets.map(({ matches }) => (matches(character.charCodeAt(0)) ? '1' : '0')).join('') + places;
    if (!kinds.has(key)) kinds.set(key, character);
  }
  const matched = (character: string) => sets.filter(({ matches }) => matches(character.charCodeAt(0))).length;
  const all = [...kinds.values()];
  return { all, strange: all.reduce((least, one) => (matched(one) < matched(least) ? one : least)) };
}

function setsIn(part: Part): readonly (Part & { readonly kind: 'set' })[] {
  switch (part.kind) {
    case 'set':
      return [part];
    case 'sequence':
    case 'choice':
      return part.parts.flatMap(setsIn);
    case 'group':
    case 'look':
    case 'loop':
      return setsIn(part.part);
    default:
      return [];
  }
}

type Loop = {
  readonly before: readonly string[];
  readonly element: readonly string[];
  /** In a short text, a limited repetition looks like one without a limit. */
  readonly isLimited: boolean;
};

/** Returns the loops without a bound, with examples of what they repeat and of what precedes them. */
function loopsIn(part: Part, before: readonly string[]): readonly Loop[] {
  switch (part.kind) {
    case 'sequence': {
      let start = before;
      const loops = part.parts.flatMap((one) => {
        const found = loopsIn(one, start);
        start = joinExamples(start, examplesOf(one), 2);
        return found;
      });
      return loops.length < 2 ? loops : [...loops, { before, element: examplesOf(part).slice(0, 2), isLimited: false }];
    }
    case 'choice':
      return part.parts.flatMap((one) => loopsIn(one, before));
    case 'loop':
      return [
        ...(part.max >= MANY
          ? [{ before, element: examplesOf(part.part).slice(0, 4), isLimited: part.max < Infinity }]
          : []),
        ...loopsIn(part.part, before),
      ];
    case 'group':
    case 'look':
      return loopsIn(part.part, before);
    default:
      return [];
  }
}

/** Returns some texts that a part matches. */
function examplesOf(part: Part): readonly string[] {
  switch (part.kind) {
    case 'set':
      return CHARACTERS.filter((character) => part.matches(character.charCodeAt(0))).slice(0, 1);
    case 'sequence':
      return part.parts.reduce<readonly string[]>((texts, one) => joinExamples(texts, examplesOf(one), 4), ['']);
    case 'choice':
      return unique(part.parts.flatMap((one) => examplesOf(one).slice(0, 2))).slice(0, 8);
    case 'group':
      return examplesOf(part.part);
    case 'loop': {
      const once = examplesOf(part.part);
      return part.min === 0 ? unique([...once.slice(0, 2), '']) : once.map((one) => one.repeat(part.min));
    }
    default:
      return [''];
  }
}

function joinExamples(starts: readonly string[], ends: readonly string[], most: number): readonly string[] {
  return unique(ends.flatMap((end) => starts.map((start) => start + end))).slice(0, most);
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
