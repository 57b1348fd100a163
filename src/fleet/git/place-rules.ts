import { isAbsolute, normalize } from 'node:path';
import type { TaskPlace } from '../../contracts/fleet.ts';

/** Addresses git understands that run no command of their own. */
const ADDRESS = /^(?:https?|ssh|git):\/\/[^\s-][^\s]*$|^[\w.][\w.-]*@[\w.][\w.-]*:[^\s-][^\s]*$/;

/** Is this an address of another machine? */
export function isAddress(url: string): boolean {
  return ADDRESS.test(url);
}

/** Why a place may not be worked in; it may have been written by anybody who can write to the queue. */
export function placeProblem({ url, commit, folder }: TaskPlace): string | undefined {
  const isPath = isAbsolute(url) && normalize(url) === url;
  if (!isAddress(url) && !isPath) return `"${url}" is neither an address of a repository nor a whole path to one`;
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit)) return `"${commit}" is not the id of a commit`;
  const isInside =
    folder === '' || (!isAbsolute(folder) && normalize(folder) === folder && !/^\.\.(?:\/|$)/.test(folder));
  if (!isInside || folder.startsWith('-')) return `"${folder}" is not a folder inside of the repository`;
  return undefined;
}

/** Names that become folders: nothing in them leads elsewhere. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,150}$/.test(name) && !name.includes('..');
}
