import { flagsOf } from '../command-rule.ts';

/** Where a word may be of several: `a=b`, `x:y`, `[a,b]`. */
const APART = /[\s()[\]{}<>"'`;,|=:@!&]+/;
/** The same for the words of a shell, which may hold braces. */
const SEPARATE = /[\s"'`;|&<>()=]+/;

/** Everything in a word that may be a name of its own: behind an option, beside a sign, in the words of a shell. */
export function piecesOf(word: string): readonly string[] {
  const glued = /^-\w./.test(word) ? [word.slice(2)] : [];
  const pieces = [word, ...word.split(APART), ...word.split(SEPARATE), ...glued];
  return pieces.filter((piece) => !/[*?[]/.test(piece) || (/\w/.test(piece) && isPattern(piece)));
}

/** The flags that stand anywhere in a text. */
export function flagsIn(text: string): readonly string[] {
  return text.split(APART).flatMap(flagsOf);
}

/** `.items[].name` is none. */
export const isPattern = (word: string) => /[*?[]/.test(word) && !word.includes('[]');

/** `cu""rl`, `c\url`, `cu${x}rl`: what a shell makes of a text that is handed to it. */
export function joinedAsInShell(text: string): string {
  return text.replace(/\$\{[^}]*\}|\$(?:\w+|[@*]|(?=["']))|["'\\]/g, '');
}
