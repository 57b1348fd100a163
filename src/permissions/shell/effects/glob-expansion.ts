import type { DecisionContext } from '../../decision-context.ts';
import { expandGlob } from '../../paths/folder-scan.ts';

const MAX_BRACED = 64;
/** Shell options, and a variable, that make globs match hidden files or ignore case. */
const GLOB_SETTING = /dotglob|nocaseglob|extglob|globstar|globignore/i;

/** True if a command line makes globs match more than by default. */
export function changesGlobbing(command: string): boolean {
  return GLOB_SETTING.test(command.replace(/["'\\]/g, ''));
}

/** Returns an argument and all paths it may expand to: present glob matches, all brace choices, the home folder. */
export function expandPathArg(context: DecisionContext, cwd: string, word: string): readonly string[] {
  const resolved = word
    .replace(/^file:(?:\/\/(?:localhost)?)?/, '')
    .replace(/^\$(?:HOME\b|\{HOME\})/, context.policy.home)
    .replace(/^(?:\$(?:PWD\b|\{PWD\})|~\+(?=\/|$))/, cwd);
  const { words, globs } = expandBraces(resolved);
  const names = context.globMatching === 'wide' ? 'hidden too' : 'shown';
  return [
    ...words.flatMap((variant) => expandGlobs(context, cwd, variant, names)),
    ...globs.flatMap((variant) => expandGlobs(context, cwd, variant, 'hidden too')),
  ];
}

function expandGlobs(context: DecisionContext, cwd: string, word: string, names: 'shown' | 'hidden too') {
  const pattern = names === 'hidden too' ? word.replace(/[@?*+!]\([^()]*\)/g, '*') : word;
  if (!/[*?[]/.test(pattern)) return [word];
  const expanded = expandGlob(context.fs, cwd, pattern, names);
  return expanded === 'too many' ? [word] : [...new Set([word, ...expanded])];
}

/** Expands `{a,b}/c` and `.{d..f}`, and keeps the text as written; too many words become globs instead. */
function expandBraces(word: string): { readonly words: readonly string[]; readonly globs: readonly string[] } {
  const [, inBraces = ''] = /^[^{]*\{([\s\S]*)\}/.exec(word) ?? [];
  if (!/,|\.\./.test(inBraces)) return { words: [word], globs: [] };
  let words = [word];
  for (let hasBraces = true; hasBraces; ) {
    const expanded = words.flatMap((candidate) => expandInnermostBraces(candidate) ?? [candidate]);
    if (expanded.length > MAX_BRACED) return { words: [word], globs: [replaceBraces(word)] };
    hasBraces = expanded.some(
      (candidate) =>
        candidate.includes('{') && candidate.includes('}') && expandInnermostBraces(candidate) !== undefined,
    );
    words = expanded;
  }
  return { words: [...new Set([word, ...words.map(restoreBraces)])], globs: [] };
}

/** Expands one pair of innermost braces, or returns `undefined` if there is none. */
function expandInnermostBraces(word: string): readonly string[] | undefined {
  const [, prefix = '', inside, suffix = ''] = /^([\s\S]*?)\{([^{}]*)\}([\s\S]*)$/.exec(word) ?? [];
  if (inside === undefined) return undefined;
  const choices = inside.includes(',') ? inside.split(',') : expandRange(inside);
  // Braces around a single word are plain text.
  return (choices ?? [`\u0001${inside}\u0002`]).map((choice) => prefix + choice + suffix);
}

const restoreBraces = (word: string) => word.replaceAll('\u0001', '{').replaceAll('\u0002', '}');

function expandRange(inside: string): readonly string[] | undefined {
  const [, from, to] = /^(-?\d+|[\s\S])\.\.(-?\d+|[\s\S])(?:\.\.-?\d+)?$/.exec(inside) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const isNumber = [from, to].every((bound) => /^-?\d+$/.test(bound));
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const [low, high] = [Math.min(first, last), Math.min(Math.max(first, last), Math.min(first, last) + MAX_BRACED)];
  // Bash may pad the numbers with zeros.
  if (isNumber && (high - low === MAX_BRACED || /^-?0\d/.test(from) || /^-?0\d/.test(to))) return ['*'];
  const values = Array.from({ length: high - low + 1 }, (_, index) => low + index);
  return values.map((value) => (isNumber ? String(value) : String.fromCharCode(value)));
}

/** Replaces every pair of braces by a star. */
function replaceBraces(word: string): string {
  const replaced = word.replace(/\{[^{}]*\}/g, '*');
  return replaced === word ? word : replaceBraces(replaced);
}
