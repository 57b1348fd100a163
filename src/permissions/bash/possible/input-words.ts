import { posix } from 'node:path';

/** May a word be what a command is fed with, by one of the many names of that: `/dev/stdin`, `../../proc/self/…/0`? */
export function isInputPath(word: string): boolean {
  return /(?:^|\/)(?:stdin|(?:dev|proc)\/.*\/\d+)$/.test(posix.normalize(word.replace(/^-?-?[\w.-]*=/, '')));
}

/** The same for a program that takes its code from there: it may stand in that very folder. */
export function isInput(word: string): boolean {
  return isInputPath(word) || /^(?:\w+\/)?\d+$/.test(word);
}
