import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Draft, DraftPort } from '../../contracts/face/conversation.ts';
import { markOf, processState } from '../../lib/processes/process-mark.ts';

const stored = z.object({
  pid: z.number(),
  startTime: z.string(),
  host: z.string().optional(),
  draft: z.object({
    text: z.string(),
    caret: z.number(),
    pastes: z.array(z.record(z.string(), z.json())),
    queue: z.array(z.object({ lane: z.enum(['next', 'after']), text: z.string() })),
    stash: z.string().optional(),
    at: z.string(),
  }),
});
type Stored = z.infer<typeof stored>;

const DRAFTS = 'drafts';
/** What nobody came back to for so long is not put into their next prompt. */
const FRESH_MS = 86_400_000;
const ELSEWHERE_MS = 3_600_000;

export type DraftParts = {
  /** The folder of the sessions of one directory. */
  readonly dir: string;
  readonly sessionId: string;
  /** A new session takes over what a killed one left; a resumed one only what was its own. */
  readonly opening: 'new' | 'resumed';
  readonly now: () => number;
};

/** Keeps what is being typed on disk, one small file for each session, as fast as it is typed. */
export function createDraftStore({ dir, sessionId, opening, now }: DraftParts): DraftPort {
  const folder = join(dir, DRAFTS);
  const path = join(folder, `${sessionId}.json`);
  const owner = markOf();
  /** Of one in another container or on another machine only time tells. */
  const isLeft = ({ at, kept }: Left) => {
    const state = processState(kept);
    return state === 'dead' || (state === 'elsewhere' && now() - at > ELSEWHERE_MS);
  };
  let wanted: Draft | undefined;
  let written = '';
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    // Never done before the caller has noted that it is at work: it would seem to be at work for ever.
    await Promise.resolve();
    for (let text = textOf(wanted); text !== written; text = textOf(wanted)) {
      written = text;
      // A draft that cannot be kept is no reason to stop anybody from typing; the session tells of a full disk.
      await put(text).catch(() => undefined);
    }
    writing = undefined;
  }

  function textOf(draft: Draft | undefined): string {
    if (draft === undefined || (draft.text === '' && draft.queue.length === 0 && draft.stash === undefined)) return '';
    return JSON.stringify({ ...owner, draft: { ...draft, at: draft.at ?? new Date(now()).toISOString() } });
  }

  async function put(text: string): Promise<void> {
    if (text === '') return rm(path, { force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.tmp`, text, { mode: 0o600 });
    await rename(`${path}.tmp`, path);
  }

  async function newest(names: readonly string[], isOurs: (one: Left) => boolean): Promise<Left | undefined> {
    const left = await Promise.all(names.filter((name) => name.endsWith('.json')).map((name) => read(folder, name)));
    return left
      .filter((one) => one !== undefined)
      .filter(isOurs)
      .toSorted((a, b) => b.at - a.at)[0];
  }

  return {
    async load() {
      const names = opening === 'new' ? await readdir(folder).catch(() => []) : [`${sessionId}.json`];
      // A resumed session is ours alone; what others left must be theirs no more.
      const isOurs = (one: Left) => opening === 'resumed' || (isLeft(one) && now() - one.at < FRESH_MS);
      const found = await newest(names, isOurs);
      if (found === undefined) return undefined;
      await rm(found.path, { force: true });
      return draftOf(found);
    },
    async leftover() {
      if (opening === 'resumed') return undefined;
      const found = await newest(await readdir(folder).catch(() => []), isLeft);
      return found === undefined ? undefined : { draft: draftOf(found), drop: () => rm(found.path, { force: true }) };
    },
    save(draft) {
      const { at: _, ...plain } = draft;
      if (wanted !== undefined && JSON.stringify({ ...wanted, at: undefined }) === JSON.stringify(plain)) return;
      wanted = { ...plain, at: new Date(now()).toISOString() };
      writing ??= write();
    },
    async clear() {
      wanted = undefined;
      writing ??= write();
      await writing;
    },
  };
}

/** What was written and not sent in a session of this folder; `undefined` when nothing was. */
export async function unsentWords(dir: string, sessionId: string): Promise<string | undefined> {
  const kept = (await read(join(dir, DRAFTS), `${sessionId}.json`))?.kept.draft;
  const words = [...(kept?.queue.map(({ text }) => text) ?? []), kept?.text ?? '', kept?.stash ?? ''];
  return words.find((text) => text.trim() !== '');
}

type Left = { readonly path: string; readonly kept: Stored; readonly at: number };

function draftOf({ kept: { draft } }: Left): Draft {
  const { stash, ...plain } = draft;
  return stash === undefined ? plain : { ...plain, stash };
}

async function read(folder: string, name: string): Promise<Left | undefined> {
  const path = join(folder, name);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const kept = text === undefined ? undefined : parsed(text);
  return kept === undefined ? undefined : { path, kept, at: Date.parse(kept.draft.at) };
}

function parsed(text: string): Stored | undefined {
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
