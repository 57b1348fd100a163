import { createRequire } from 'node:module';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { createLocator, firstAvailable } from '../../../src/tools/search/choose-locator.ts';
import type { Locator } from '../../../src/tools/search/locator.ts';
import { createRipgrepLocator } from '../../../src/tools/search/ripgrep.ts';
import { createWalkerLocator } from '../../../src/tools/search/walker.ts';

const here = path.dirname(createRequire(import.meta.url).resolve('@vscode/ripgrep'));

/** The three ways to search, and the choice between them when the first is missing. */
export const locators: readonly (readonly [string, Locator])[] = [
  ['the bundled ripgrep', createLocator({})],
  // The name is looked up in PATH, as the system's would be.
  ['the system ripgrep', createRipgrepLocator('system', 'rg', { PATH: path.dirname(rgPath) })],
  ['the walker', createWalkerLocator()],
  [
    'the walker when there is no ripgrep',
    firstAvailable([
      async () => createRipgrepLocator('none', path.join(here, 'no-such-program'), {}),
      async () => createWalkerLocator(),
    ]),
  ],
];
