import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { createLocator } from '../../../src/tools/search/choose-locator.ts';
import type { Locator } from '../../../src/tools/search/locator.ts';
import { createRipgrepLocator } from '../../../src/tools/search/ripgrep.ts';
import { createWalkerLocator } from '../../../src/tools/search/walker.ts';

/** The three ways to search, and the choice between them when the first is missing. */
export const locators: readonly (readonly [string, Locator])[] = [
  ['the bundled ripgrep', createLocator({})],
  // The name is looked up in PATH, as the system's would be.
  ['the system ripgrep', createRipgrepLocator('system', 'rg', { PATH: path.dirname(rgPath) })],
  ['fast-glob', createWalkerLocator()],
  // Neither beside the program nor in PATH.
  ['fast-glob when there is no ripgrep', createLocator({ PATH: '/nowhere' }, missing)],
];

function missing(): never {
  throw Object.assign(new Error('ripgrep is not installed'), { code: 'ENOENT' });
}
