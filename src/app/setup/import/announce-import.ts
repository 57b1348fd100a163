import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../../contracts/environment.ts';
import { findRepositoryRoot } from '../../../git/git-repository.ts';
import { openJsonStore } from '../../../lib/files/json-store.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';

const MAX_NAMES = 5;
const storeSchema = z.record(z.string(), z.object({ at: z.string() }));

/** Names the files of other assistants that are not read here, once per project. */
export async function announceImport(environment: Environment, folder: string): Promise<readonly string[]> {
  const cwd = findRepositoryRoot(folder);
  const store = openJsonStore<z.output<typeof storeSchema>>(join(environment.ouroHome, 'import-named.json'), {
    empty: {},
    entryDepth: 1,
    parse: (json) => storeSchema.safeParse(json),
  });
  const { value, isRefused } = await store.read();
  // If it cannot be stored that the files were named, they are not named at each start.
  if (isRefused || Object.hasOwn(value, cwd)) return [];
  // Loaded when there is something to look for: the readers of foreign formats are large.
  const { listForeignFiles } = await import('./find-importable.ts');
  const names = await listForeignFiles(environment, folder);
  if (names.length === 0) return [];
  await store.change(() => [{ path: [cwd], value: { at: new Date().toISOString() } }]);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  const list = names.slice(0, MAX_NAMES).join(', ');
  return [
    sanitize(
      `Files of other assistants that ouro does not read: ${list}${more}. /import lists what can be imported.`,
      'line',
    ),
  ];
}
