import { isAbsolute, normalize } from 'node:path';
import type { BatchTaskCheckout } from '../store/batch.ts';

/** Remote URLs and scp-like addresses that cannot make git run a command. */
const REMOTE_URL = /^(?:https?|ssh|git):\/\/[^\s-][^\s]*$|^[\w.][\w.-]*@[\w.][\w.-]*:[^\s-][^\s]*$/;

/** Returns whether a text is the URL of a remote repository. */
export function isRemoteRepositoryUrl(url: string): boolean {
  return REMOTE_URL.test(url);
}

/** Validates a checkout, which anyone with access to the queue may have written. Returns the problem, if any. */
export function validateTaskCheckout({ url, commit, folder }: BatchTaskCheckout): string | undefined {
  const isPath = isAbsolute(url) && normalize(url) === url;
  if (!isRemoteRepositoryUrl(url) && !isPath) return `"${url}" is neither the URL of a repository nor an absolute path`;
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit)) return `"${commit}" is not a commit id`;
  if (!isFolderInsideRepository(folder)) return `"${folder}" is not a folder inside the repository`;
  return undefined;
}

/** Returns whether a path is that of a folder in a repository; empty for the repository itself. */
export function isFolderInsideRepository(folder: string): boolean {
  const isInside =
    folder === '' || (!isAbsolute(folder) && normalize(folder) === folder && !/^\.\.(?:\/|$)/.test(folder));
  return isInside && !folder.startsWith('-');
}

export function isSafeFolderName(name: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,150}$/.test(name) && !name.includes('..');
}
