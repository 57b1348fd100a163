import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { ApprovedSource } from '../contracts/face/trust.ts';
import { writePrivately } from '../lib/files/private-file.ts';

const approval = z.object({
  project: z.string().optional(),
  local: z.string().optional(),
  commands: z.string().optional(),
});
const folder = z.object({
  at: z.string(),
  reach: z.enum(['folder', 'below']),
  /** Fingerprints of what was approved, by the file of settings it stands in. */
  approved: approval.optional(),
});
const stored = z.object({
  v: z.literal(1),
  folders: z.record(z.string(), folder),
  /** What was first met in folders below a trusted one. */
  met: z.record(z.string(), approval).optional(),
});
type Stored = z.output<typeof stored>;

export type Marks = { readonly [source in ApprovedSource]?: string };

/** Which folders the user trusts. The key is the real path; nothing a repository says takes part. */
export type TrustStore = {
  isTrusted(realDir: string): boolean;
  list(): readonly { readonly dir: string; readonly at: string; readonly reach: 'folder' | 'below' }[];
  /** What was approved of this folder's settings. */
  marks(realDir: string): Marks;
  /** Notes what was approved, or first met below a trusted folder. */
  approve(realDir: string, marks: Marks): Promise<void>;
  /** Answers with why not, for folders that can never be trusted as a whole. */
  trust(realDir: string, reach: 'folder' | 'below', marks: Marks, now: Date): Promise<string | undefined>;
  refusal(realDir: string): string | undefined;
  revoke(realDir: string): Promise<'revoked' | 'was not trusted'>;
};

export async function openTrust(ouroHome: string, home: string): Promise<TrustStore> {
  const file = join(ouroHome, 'trust.json');
  let current = await readStored(file);

  let saving: Promise<void> = Promise.resolve();

  /** Changes what is on disk now, one after the other: another run may have written meanwhile. */
  function save(change: (latest: Stored) => Stored): Promise<void> {
    const write = async () => {
      current = change(await readStored(file));
      await writePrivately(file, `${JSON.stringify(current, null, 2)}\n`);
    };
    saving = saving.then(write, write);
    return saving;
  }

  function refusal(realDir: string): string | undefined {
    const tooMuch = realDir === '/' || realDir === home || parentsOf(home).includes(realDir);
    return tooMuch
      ? `${realDir} is too much to trust as a whole. Trust the project folders in it one by one.`
      : undefined;
  }

  return {
    isTrusted(realDir) {
      if (current.folders[realDir] !== undefined) return true;
      return parentsOf(realDir).some((parent) => current.folders[parent]?.reach === 'below');
    },
    list: () => Object.entries(current.folders).map(([dir, { at, reach }]) => ({ dir, at, reach })),
    marks(realDir) {
      // What another run approved meanwhile counts too.
      const latest = storedIn(textNow(file));
      return clean(latest.folders[realDir]?.approved ?? latest.met?.[realDir]);
    },
    approve: (realDir, marks) =>
      save((latest) => {
        const own = latest.folders[realDir];
        if (own === undefined)
          return { ...latest, met: { ...latest.met, [realDir]: { ...latest.met?.[realDir], ...marks } } };
        const approved = { ...own.approved, ...marks };
        return { ...latest, folders: { ...latest.folders, [realDir]: { ...own, approved } } };
      }),
    refusal,
    async trust(realDir, reach, marks, now) {
      const why = refusal(realDir);
      if (why !== undefined) return why;
      await save((latest) => ({
        ...latest,
        folders: { ...latest.folders, [realDir]: { at: now.toISOString(), reach, approved: marks } },
      }));
      return undefined;
    },
    async revoke(realDir) {
      if (current.folders[realDir] === undefined) return 'was not trusted';
      await save((latest) => {
        const { [realDir]: _, ...folders } = latest.folders;
        const met = Object.entries(latest.met ?? {}).filter(
          ([dir]) => dir !== realDir && !parentsOf(dir).includes(realDir),
        );
        return { v: 1, folders, met: Object.fromEntries(met) };
      });
      return 'revoked';
    },
  };
}

async function readStored(file: string): Promise<Stored> {
  return storedIn(await readFile(file, 'utf8').catch(() => ''));
}

function textNow(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Missing or damaged: nothing is trusted until the user says so again. */
function storedIn(text: string): Stored {
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    return { v: 1, folders: {} };
  }
}

function clean(marks: z.output<typeof approval> = {}): Marks {
  return Object.fromEntries(Object.entries(marks).filter(([, mark]) => mark !== undefined));
}

function parentsOf(dir: string): readonly string[] {
  const parents: string[] = [];
  for (let at = dirname(dir); ; at = dirname(at)) {
    parents.push(at);
    if (at === dirname(at)) return parents;
  }
}
