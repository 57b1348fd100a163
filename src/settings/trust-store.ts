import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { TrustFingerprints } from '../contracts/frontend/first-run.ts';
import { getErrorMessage } from '../lib/errors.ts';
import type { JsonEdit } from '../lib/files/json-edit.ts';
import { openJsonStore } from '../lib/files/json-store.ts';
import { omitUndefined } from '../lib/json.ts';

const marksSchema = z.lazy(() =>
  z.object({
    project: z.string().optional(),
    local: z.string().optional(),
    commands: z.string().optional(),
    instructions: z.string().optional(),
    above: z.string().optional(),
    /** Files that ouro starts, with the hashes of their content. */
    programs: z.string().optional(),
  }),
);
/** Fingerprints that match nothing: an unreadable entry is asked about again, instead of being accepted as new. */
const UNREADABLE_MARKS = {
  project: 'unreadable',
  local: 'unreadable',
  commands: 'unreadable',
  instructions: 'unreadable',
  above: 'unreadable',
  programs: 'unreadable',
};
const folderSchema = z.lazy(() =>
  z.object({
    at: z.string(),
    reach: z.enum(['folder', 'below']),
    /** Fingerprints of the approved settings, by source. */
    approved: marksSchema.optional(),
  }),
);
const trustSchema = z.lazy(() =>
  z.object({
    v: z.literal(1),
    folders: z.record(z.string(), folderSchema),
    /** Fingerprints first seen in folders below a trusted one. */
    met: z.record(z.string(), marksSchema.catch(UNREADABLE_MARKS)).optional(),
  }),
);
type Stored = z.output<typeof trustSchema>;

/** The store of trusted folders, keyed by real path and independent of any repository content. */
export type TrustStore = Awaited<ReturnType<typeof openTrustStore>>;

/** The result of trusting a folder; `notice` reports that a damaged file was set aside. */
export type TrustResult =
  | { readonly ok: true; readonly notice: string | undefined }
  | { readonly ok: false; readonly problem: string };

/** Opens the store; a folder with a missing or damaged entry is not trusted. */
export async function openTrustStore(ouroHome: string, home: string) {
  const store = openJsonStore<Stored>(join(ouroHome, 'trust.json'), {
    empty: { v: 1, folders: {} },
    entryDepth: 2,
    parse,
  });
  const opened = await store.read();
  let current = opened.value;

  async function save(edits: (latest: Stored) => readonly JsonEdit[]): Promise<string | undefined> {
    const notice = await store.change((latest) => [{ path: ['v'], value: 1 }, ...edits(latest)]);
    current = (await store.read()).value;
    return notice;
  }

  /** Returns why a folder can never be trusted, or `undefined`. */
  function getRefusal(realDir: string): string | undefined {
    const isTooBroad = realDir === '/' || realDir === home || listParents(home).includes(realDir);
    return isTooBroad
      ? `${realDir} is too broad to trust as a whole. Trust its project folders one by one.`
      : undefined;
  }

  return {
    isTrusted(realDir: string): boolean {
      if (current.folders[realDir] !== undefined) return true;
      return listParents(realDir).some((parent) => current.folders[parent]?.reach === 'below');
    },
    list: (): readonly { readonly dir: string; readonly at: string; readonly reach: 'folder' | 'below' }[] =>
      Object.entries(current.folders).map(([dir, { at, reach }]) => ({ dir, at, reach })),
    /** Problem with the stored file, if any. */
    problem: opened.problem,
    /** Returns the approved fingerprints of a folder, including those other processes have approved meanwhile. */
    async readMarks(realDir: string): Promise<TrustFingerprints> {
      const { folders, met } = (await store.read()).value;
      return omitUndefined(folders[realDir]?.approved ?? met?.[realDir] ?? {});
    },
    /** Stores approved fingerprints, or those first seen below a trusted folder. */
    async approve(realDir: string, approved: TrustFingerprints) {
      await save(({ folders }) => {
        const path = folders[realDir] === undefined ? ['met', realDir] : ['folders', realDir, 'approved'];
        return Object.entries(approved).map(([source, value]) => ({ path: [...path, source], value }));
      });
    },
    getRefusal,
    async trust(
      realDir: string,
      reach: 'folder' | 'below',
      approved: TrustFingerprints,
      now: Date,
    ): Promise<TrustResult> {
      const problem = getRefusal(realDir);
      if (problem !== undefined) return { ok: false, problem };
      const entry = Object.entries({ at: now.toISOString(), reach, approved });
      try {
        const notice = await save(() => entry.map(([key, value]) => ({ path: ['folders', realDir, key], value })));
        return { ok: true, notice };
      } catch (thrown) {
        return { ok: false, problem: getErrorMessage(thrown) };
      }
    },
    async revoke(realDir: string): Promise<'revoked' | 'was not trusted'> {
      if (current.folders[realDir] === undefined) return 'was not trusted';
      await save(({ met = {} }) => {
        const below = Object.keys(met).filter((dir) => dir === realDir || listParents(dir).includes(realDir));
        return [['folders', realDir], ...below.map((dir) => ['met', dir])].map((path) => ({ path, value: undefined }));
      });
      return 'revoked';
    },
  };
}

/** Rejects the file when `met` is damaged: everything below trusted folders would be accepted as new otherwise. */
function parse(json: unknown) {
  const parsed = trustSchema.safeParse(json);
  const isMetLost = !parsed.success && parsed.error.issues.some(({ path }) => path[0] === 'met');
  return isMetLost ? ({ success: false, error: { issues: [{ path: [] }] } } as const) : parsed;
}

function listParents(dir: string): readonly string[] {
  const parents: string[] = [];
  for (let current = dirname(dir); ; current = dirname(current)) {
    parents.push(current);
    if (current === dirname(current)) return parents;
  }
}
