import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeAtomically } from '../lib/atomic-write.ts';

const stored = z.object({
  v: z.literal(1),
  folders: z.record(z.string(), z.object({ at: z.string(), reach: z.enum(['folder', 'below']) })),
});
type Stored = z.output<typeof stored>;

/** Which folders the user trusts. The key is the real path; nothing a repository says takes part. */
export type TrustStore = {
  isTrusted(realDir: string): boolean;
  list(): readonly { readonly dir: string; readonly at: string; readonly reach: 'folder' | 'below' }[];
  /** Answers with why not, for folders that can never be trusted as a whole. */
  trust(realDir: string, reach: 'folder' | 'below', now: Date): Promise<string | undefined>;
  revoke(realDir: string): Promise<'revoked' | 'was not trusted'>;
};

export async function openTrust(ouroHome: string, home: string): Promise<TrustStore> {
  const file = join(ouroHome, 'trust.json');
  let current = await readStored(file);

  async function save(next: Stored): Promise<void> {
    current = next;
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeAtomically(file, new TextEncoder().encode(`${JSON.stringify(next, null, 2)}\n`));
  }

  return {
    isTrusted(realDir) {
      if (current.folders[realDir] !== undefined) return true;
      return parentsOf(realDir).some((parent) => current.folders[parent]?.reach === 'below');
    },
    list: () => Object.entries(current.folders).map(([dir, facts]) => ({ dir, ...facts })),
    async trust(realDir, reach, now) {
      if (realDir === '/' || realDir === home || realDir === dirname(home)) {
        return `${realDir} is too much to trust as a whole. Trust the project folders in it one by one.`;
      }
      await save({ v: 1, folders: { ...current.folders, [realDir]: { at: now.toISOString(), reach } } });
      return undefined;
    },
    async revoke(realDir) {
      const { [realDir]: gone, ...folders } = current.folders;
      if (gone === undefined) return 'was not trusted';
      await save({ v: 1, folders });
      return 'revoked';
    },
  };
}

async function readStored(file: string): Promise<Stored> {
  try {
    return stored.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // Missing or damaged: nothing is trusted until the user says so again.
    return { v: 1, folders: {} };
  }
}

function parentsOf(dir: string): readonly string[] {
  const parents: string[] = [];
  for (let at = dirname(dir); at !== dirname(at); at = dirname(at)) parents.push(at);
  return parents;
}
