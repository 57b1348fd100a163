import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { PromptDraft, PromptDraftPort } from '../../contracts/frontend/conversation.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { getProcessIdentity, getProcessState } from '../../lib/processes/process-info.ts';

const storedSchema = z.lazy(() =>
  z.object({
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
  }),
);
type Stored = z.infer<typeof storedSchema>;

const DRAFTS_FOLDER = 'drafts';
/** Older drafts are not restored into a new session. */
const FRESH_MS = 86_400_000;
/** After this time, the process of a draft in another container or on another machine counts as gone. */
const ELSEWHERE_MS = 3_600_000;

/** The session that a draft belongs to. */
export type DraftStoreOptions = {
  /** Folder of the sessions of one directory. */
  readonly dir: string;
  readonly sessionId: string;
  /** A new session may take over the draft of a killed one; a resumed session only its own. */
  readonly opening: 'new' | 'resumed';
  readonly now: () => number;
};

/** Creates a store that saves the text being typed in one small file per session, as fast as it is typed. */
export function createDraftStore({ dir, sessionId, opening, now }: DraftStoreOptions): PromptDraftPort {
  const folder = join(dir, DRAFTS_FOLDER);
  const path = join(folder, `${sessionId}.json`);
  const owner = getProcessIdentity();
  /** True when no process uses the draft any more; a process elsewhere cannot be checked, so its age decides. */
  const isAbandoned = ({ at, content }: StoredDraft) => {
    const state = getProcessState(content);
    return state === 'dead' || (state === 'elsewhere' && now() - at > ELSEWHERE_MS);
  };
  let current: PromptDraft | undefined;
  let lastWritten = '';
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    // Without this delay `writing` could be cleared before the caller has assigned it, and would stay set forever.
    await Promise.resolve();
    for (let text = encodeDraft(current); text !== lastWritten; text = encodeDraft(current)) {
      lastWritten = text;
      // A failed save must not disturb typing; the session file reports a full disk.
      await writeDraft(text).catch(() => undefined);
    }
    writing = undefined;
  }

  function encodeDraft(draft: PromptDraft | undefined): string {
    if (draft === undefined || (draft.text === '' && draft.queue.length === 0 && draft.stash === undefined)) return '';
    return JSON.stringify({ ...owner, draft: { ...draft, at: draft.at ?? new Date(now()).toISOString() } });
  }

  async function writeDraft(text: string): Promise<void> {
    if (text === '') return rm(path, { force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.tmp`, text, { mode: 0o600 });
    await rename(`${path}.tmp`, path);
  }

  async function findNewest(
    names: readonly string[],
    isUsable: (draft: StoredDraft) => boolean,
  ): Promise<StoredDraft | undefined> {
    const drafts = await Promise.all(
      names.filter((name) => name.endsWith('.json')).map((name) => readDraft(folder, name)),
    );
    return drafts
      .filter((draft) => draft !== undefined)
      .filter(isUsable)
      .toSorted((a, b) => b.at - a.at)[0];
  }

  return {
    async load() {
      const names = opening === 'new' ? await readdir(folder).catch(() => []) : [`${sessionId}.json`];
      // A resumed session owns its draft; drafts of other sessions must be abandoned and recent.
      const isUsable = (draft: StoredDraft) =>
        opening === 'resumed' || (isAbandoned(draft) && now() - draft.at < FRESH_MS);
      const found = await findNewest(names, isUsable);
      if (found === undefined) return undefined;
      await rm(found.path, { force: true });
      return toDraft(found);
    },
    async loadLeftover() {
      if (opening === 'resumed') return undefined;
      const found = await findNewest(await readdir(folder).catch(() => []), isAbandoned);
      return found === undefined
        ? undefined
        : { draft: toDraft(found), discard: () => rm(found.path, { force: true }) };
    },
    save(draft) {
      const { at: _, ...plain } = draft;
      if (current !== undefined && JSON.stringify({ ...current, at: undefined }) === JSON.stringify(plain)) return;
      current = { ...plain, at: new Date(now()).toISOString() };
      writing ??= write();
    },
    async clear() {
      current = undefined;
      writing ??= write();
      await writing;
    },
  };
}

/** Reads the text that was typed and never sent in a session; `undefined` when there is none. */
export async function readUnsentText(dir: string, sessionId: string): Promise<string | undefined> {
  const content = (await readDraft(join(dir, DRAFTS_FOLDER), `${sessionId}.json`))?.content.draft;
  const texts = [...(content?.queue.map(({ text }) => text) ?? []), content?.text ?? '', content?.stash ?? ''];
  return texts.find((text) => text.trim() !== '');
}

type StoredDraft = { readonly path: string; readonly content: Stored; readonly at: number };

function toDraft({ content: { draft } }: StoredDraft): PromptDraft {
  const { stash, ...plain } = draft;
  return stash === undefined ? plain : { ...plain, stash };
}

async function readDraft(folder: string, name: string): Promise<StoredDraft | undefined> {
  const path = join(folder, name);
  const text = await readRegularFile(path).catch(() => undefined);
  const content = text === undefined ? undefined : parseDraft(text);
  return content === undefined ? undefined : { path, content, at: Date.parse(content.draft.at) };
}

function parseDraft(text: string): Stored | undefined {
  try {
    return storedSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
