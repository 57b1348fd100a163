import { accessSync, constants } from 'node:fs';

const MODES = { read: constants.R_OK, write: constants.W_OK, execute: constants.X_OK } as const;

/** Returns whether this user may read, write, or execute a path; to execute a folder is to enter it. */
export function hasAccess(path: string, right: keyof typeof MODES): boolean {
  try {
    accessSync(path, MODES[right]);
    return true;
  } catch {
    return false;
  }
}
