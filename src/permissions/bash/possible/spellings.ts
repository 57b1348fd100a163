import type { DecisionContext } from '../../paths/context.ts';
import { expandGlob } from '../../paths/folder-scan.ts';

const MAX_BRACED = 64;
/** Switches of shells, and a variable, that make patterns match what is hidden, or is written in other letters. */
const WIDE = /dotglob|nocaseglob|extglob|globstar|globignore/i;

/** Does a line make its patterns match more than they usually do? */
export function widensPatterns(command: string): boolean {
  return WIDE.test(command.replace(/["'\\]/g, ''));
}

/** A pattern stands for itself and for what it matches now, braces for what they could be; home variables for the home folder. */
export function spellings(context: DecisionContext, cwd: string, word: string): readonly string[] {
  const named = word
    .replace(/^\$(?:HOME\b|\{HOME\})/, context.policy.home)
    .replace(/^(?:\$(?:PWD\b|\{PWD\})|~\+(?=\/|$))/, cwd)
    .replace(/^file:\/\/(?:localhost)?/, '');
  const { words, left } = braced(named);
  const reach = context.patterns === 'wide' ? 'hidden too' : 'shown';
  return [
    ...words.flatMap((each) => matched(context, cwd, each, reach)),
    ...left.flatMap((each) => matched(context, cwd, each, 'hidden too')),
  ];
}

function matched(context: DecisionContext, cwd: string, word: string, names: 'shown' | 'hidden too') {
  const pattern = names === 'hidden too' ? word.replace(/[@?*+!]\([^()]*\)/g, '*') : word;
  if (!/[*?[]/.test(pattern)) return [word];
  const expanded = expandGlob(context.fs, cwd, pattern, names);
  return expanded === 'too many' ? [word] : [...new Set([word, ...expanded])];
}

/** `{a,b}/c`, `.{d..f}` as the names they stand for, and as they are written; `left`: patterns for those that are too many. */
function braced(word: string): { readonly words: readonly string[]; readonly left: readonly string[] } {
  if (!/\{[\s\S]*(?:,|\.\.)[\s\S]*\}/.test(word)) return { words: [word], left: [] };
  let words = [word];
  for (let isOpen = true; isOpen; ) {
    const next = words.flatMap((each) => withoutInnermost(each) ?? [each]);
    if (next.length > MAX_BRACED) return { words: [word], left: [asPattern(word)] };
    isOpen = next.some((each) => each.includes('{') && each.includes('}') && withoutInnermost(each) !== undefined);
    words = next;
  }
  return { words: [...new Set([word, ...words.map(withBraces)])], left: [] };
}

/** The words without one pair of braces that holds no other; `undefined` where there is none. */
function withoutInnermost(word: string): readonly string[] | undefined {
  const [, before = '', inside, behind = ''] = /^([\s\S]*?)\{([^{}]*)\}([\s\S]*)$/.exec(word) ?? [];
  if (inside === undefined) return undefined;
  const choices = inside.includes(',') ? inside.split(',') : rangeOf(inside);
  // Braces around a single word are only text.
  return (choices ?? [`\u0001${inside}\u0002`]).map((choice) => before + choice + behind);
}

const withBraces = (word: string) => word.replaceAll('\u0001', '{').replaceAll('\u0002', '}');

function rangeOf(inside: string): readonly string[] | undefined {
  const [, from, to] = /^(-?\d+|[\s\S])\.\.(-?\d+|[\s\S])(?:\.\.-?\d+)?$/.exec(inside) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const isNumber = [from, to].every((each) => /^-?\d+$/.test(each));
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const [low, high] = [Math.min(first, last), Math.min(Math.max(first, last), Math.min(first, last) + MAX_BRACED)];
  // Numbers may be filled up with zeros.
  if (isNumber && (high - low === MAX_BRACED || /^-?0\d/.test(from) || /^-?0\d/.test(to))) return ['*'];
  const values = Array.from({ length: high - low + 1 }, (_, at) => low + at);
  return values.map((value) => (isNumber ? String(value) : String.fromCharCode(value)));
}

/** Every pair of braces as a star. */
function asPattern(word: string): string {
  const next = word.replace(/\{[^{}]*\}/g, '*');
  return next === word ? word : asPattern(next);
}
