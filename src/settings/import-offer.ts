import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../contracts/environment.ts';
import type { ImportOffer } from '../contracts/frontend/first-run.ts';
import type { ForeignImports } from '../contracts/frontend/foreign-imports.ts';
import { findRepositoryRoot } from '../git/git-repository.ts';
import { openJsonStore } from '../lib/files/json-store.ts';
import { sanitize } from '../lib/text/sanitize.ts';

/** The files and folders of Claude Code that can be imported, with their names for display. */
const IMPORTABLE = [
  ['settings.json', 'settings'],
  ['CLAUDE.md', 'CLAUDE.md'],
  ['commands', 'commands'],
  ['skills', 'skills'],
  ['agents', 'agents'],
  ['output-styles', 'output styles'],
] as const;

/**
 * Returns the files of another assistant that can be imported, unless the user has already answered. Reads only names.
 */
export async function findImportOffer({
  home,
  ouroHome,
}: Pick<Environment, 'home' | 'ouroHome'>): Promise<ImportOffer | undefined> {
  const from = join(home, '.claude');
  if (!existsSync(from)) return undefined;
  const { value, isRefused } = await openAnswerStore(ouroHome).read();
  // If the answer cannot be stored, the question is not asked.
  if (value !== undefined || isRefused) return undefined;
  const holds = IMPORTABLE.filter(([name]) => existsSync(join(from, name))).map(([, label]) => label);
  return holds.length === 0 ? undefined : { from, to: ouroHome, holds };
}

/** Stores the user's answer to the offer. */
export async function storeImportAnswer(answer: 'yes' | 'no', from: string, ouroHome: string): Promise<void> {
  await openAnswerStore(ouroHome).change(() =>
    Object.entries({ v: 1, answer, from }).map(([key, value]) => ({ path: [key], value })),
  );
}

const answerSchema = z.object({ answer: z.enum(['yes', 'no']), from: z.string() });

/** Opens the store of the answer: the question is asked only once. */
function openAnswerStore(ouroHome: string) {
  return openJsonStore<z.output<typeof answerSchema> | undefined>(join(ouroHome, 'taken-over.json'), {
    empty: undefined,
    entryDepth: 1,
    parse: (json) => answerSchema.safeParse(json),
  });
}

const MAX_NAMES = 5;
const announcementSchema = z.record(z.string(), z.object({ at: z.string() }));

/** Names the files of other assistants that are not read here, once per project. */
export async function announceForeignFiles(
  environment: Environment,
  folder: string,
  loadImports: () => Promise<ForeignImports>,
): Promise<readonly string[]> {
  const cwd = findRepositoryRoot(folder);
  const store = openJsonStore<z.output<typeof announcementSchema>>(join(environment.ouroHome, 'import-named.json'), {
    empty: {},
    entryDepth: 1,
    parse: (json) => announcementSchema.safeParse(json),
  });
  const { value, isRefused } = await store.read();
  // If it cannot be stored that the files were named, they are not named at each start.
  if (isRefused || Object.hasOwn(value, cwd)) return [];
  const names = await (await loadImports()).listFiles(environment, folder);
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
