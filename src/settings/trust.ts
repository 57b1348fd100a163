import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { TrustMarks } from '../contracts/face/trust.ts';
import { messageOf } from '../lib/errors.ts';
import type { JsonEdit } from '../lib/files/json-edit.ts';
import { openJsonStore } from '../lib/files/json-store.ts';

const marks = z.object({
  project: z.string().optional(),
  local: z.string().optional(),
  commands: z.string().optional(),
  instructions: z.string().optional(),
  above: z.string().optional(),
});
/** TrustMarks that fit nothing: what was met once and cannot be read any more is asked about, not met anew. */
const UNREADABLE = {
  project: 'unreadable',
  local: 'unreadable',
  commands: 'unreadable',
  instructions: 'unreadable',
  above: 'unreadable',
};
const folder = z.object({
  at: z.string(),
  reach: z.enum(['folder', 'below']),
  /** Fingerprints of what was approved, by the file of settings it stands in. */
  approved: marks.optional(),
});
const schema = z.object({
  v: z.literal(1),
  folders: z.record(z.string(), folder),
  /** What was first met in folders below a trusted one. */
  met: z.record(z.string(), marks.catch(UNREADABLE)).optional(),
});
type Stored = z.output<typeof schema>;

/** Which folders the user trusts. The key is the real path; nothing a repository says takes part. */
export type TrustStore = {
  isTrusted(realDir: string): boolean;
  list(): readonly { readonly dir: string; readonly at: string; readonly reach: 'folder' | 'below' }[];
  /** What cannot be used of the file, in a sentence. */
  readonly problem: string | undefined;
  /** What was approved of this folder's settings; what another run approved meanwhile counts too. */
  marks(realDir: string): Promise<TrustMarks>;
  /** Notes what was approved, or first met below a trusted folder. */
  approve(realDir: string, marks: TrustMarks): Promise<void>;
  trust(realDir: string, reach: 'folder' | 'below', marks: TrustMarks, now: Date): Promise<TrustAnswer>;
  /** Why a folder can never be trusted as a whole. */
  refusal(realDir: string): string | undefined;
  revoke(realDir: string): Promise<'revoked' | 'was not trusted'>;
};

/** `notice` says that a damaged file was set aside. */
export type TrustAnswer =
  | { readonly ok: true; readonly notice: string | undefined }
  | { readonly ok: false; readonly why: string };

/** A missing or damaged entry means: not trusted until the user says so again. */
export async function openTrust(ouroHome: string, home: string): Promise<TrustStore> {
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
    problem: opened.problem,
    async marks(realDir) {
      const { folders, met } = (await store.read()).value;
      return clean(folders[realDir]?.approved ?? met?.[realDir]);
    },
    async approve(realDir, approved) {
      await save(({ folders }) => {
        const place = folders[realDir] === undefined ? ['met', realDir] : ['folders', realDir, 'approved'];
        return Object.entries(approved).map(([source, value]) => ({ path: [...place, source], value }));
      });
    },
    refusal,
    async trust(realDir, reach, approved, now) {
      const why = refusal(realDir);
      if (why !== undefined) return { ok: false, why };
      const entry = Object.entries({ at: now.toISOString(), reach, approved });
      try {
        const notice = await save(() => entry.map(([key, value]) => ({ path: ['folders', realDir, key], value })));
        return { ok: true, notice };
      } catch (thrown) {
        return { ok: false, why: messageOf(thrown) };
      }
    },
    async revoke(realDir) {
      if (current.folders[realDir] === undefined) return 'was not trusted';
      await save(({ met = {} }) => {
        const below = Object.keys(met).filter((dir) => dir === realDir || parentsOf(dir).includes(realDir));
        return [['folders', realDir], ...below.map((dir) => ['met', dir])].map((path) => ({ path, value: undefined }));
      });
      return 'revoked';
    },
  };
}

/** Without the list of what was met, everything below a trusted folder would be met anew: then nothing counts. */
function parse(json: unknown) {
  const parsed = schema.safeParse(json);
  const isMetLost = !parsed.success && parsed.error.issues.some(({ path }) => path[0] === 'met');
  return isMetLost ? ({ success: false, error: { issues: [{ path: [] }] } } as const) : parsed;
}

function clean(known: z.output<typeof marks> = {}): TrustMarks {
  return Object.fromEntries(Object.entries(known).filter(([, mark]) => mark !== undefined));
}

function parentsOf(dir: string): readonly string[] {
  const parents: string[] = [];
  for (let at = dirname(dir); ; at = dirname(at)) {
    parents.push(at);
    if (at === dirname(at)) return parents;
  }
}
