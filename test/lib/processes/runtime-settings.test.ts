import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RUNTIME_SETTINGS } from '../../../src/lib/processes/runtime-settings.ts';

const ROOT = join(import.meta.dirname, '../../..');

test.each([
  ['bin/ouro', /^export (BUN_\w+)="\$\{\1:-([^}]*)\}"$/gm],
  ['bin/bootstrap.mjs', /^ {2}(BUN_\w+): '([^']*)',$/gm],
  ['packages/launcher/ouro.cjs', /^ {2}(BUN_\w+): '([^']*)',$/gm],
])(
  '%s sets the same variables of the runtime to the same values as an executable that restarts',
  async (file, line) => {
    const text = await readFile(join(ROOT, file), 'utf8');
    const settings = [...text.matchAll(line)].map(([, name, value]) => [name, value]);
    // The path of this cache depends on the user.
    const fixed = settings.filter(([name]) => name !== 'BUN_RUNTIME_TRANSPILER_CACHE_PATH');
    expect(Object.fromEntries(fixed)).toEqual(RUNTIME_SETTINGS);
  },
);
