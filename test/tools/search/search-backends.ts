import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { createSearchBackend } from '../../../src/tools/search/create-search-backend.ts';
import { createRipgrepBackend } from '../../../src/tools/search/ripgrep-backend.ts';

import type { FileSearchBackend } from '../../../src/tools/search/search-backend.ts';
import { createWalkBackend } from '../../../src/tools/search/walk-backend.ts';

/** The three ways to search, and the choice between them when the first is missing. */
export const locators: readonly (readonly [string, FileSearchBackend])[] = [
  ['the bundled ripgrep', createSearchBackend({})],
  // The name is looked up in PATH, as the system's would be.
  ['the system ripgrep', createRipgrepBackend('system', 'rg', { PATH: path.dirname(rgPath) })],
  ['fast-glob', createWalkBackend()],
  // Neither beside the program nor in PATH.
  ['fast-glob when there is no ripgrep', createSearchBackend({ PATH: '/nowhere' }, missing)],
];

function missing(): never {
  throw Object.assign(new Error('ripgrep is not installed'), { code: 'ENOENT' });
}
