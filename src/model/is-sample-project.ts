import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Returns true if the folder contains the sample project. */
export function isSampleProject(dir: string): boolean {
  return existsSync(join(dir, 'src/cart.mjs')) && existsSync(join(dir, 'bin/receipt.mjs'));
}
