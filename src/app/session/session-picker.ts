import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { SessionChoiceInfo, SessionScope, StoredSessionsPort } from '../../contracts/face/stored-sessions.ts';
import { formatAge, formatBytes } from '../../lib/text/format.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { unsentWords } from '../../session/input/draft.ts';
import { readRecords } from '../../session/records/read-records.ts';
import { type DialogueItem, dialogueOf } from '../../session/stored/dialogue.ts';
import { openArchive, type SessionSummary } from '../replay/session-archive.ts';

const PREVIEW_BYTES = 65_536;
const PREVIEW_ITEMS = 6;
const LINE_CHARS = 400;

/** Stored sessions as a picker wants them. `own` is the one that is open, `branch` what is checked out just now. */
export function sessionPicker(
  environment: Pick<Environment, 'ouroHome' | 'home'>,
  cwd: string,
  own: string,
  branch: () => Promise<string | undefined>,
): StoredSessionsPort {
  const archive = openArchive(environment, cwd);
  const find = async (id: string) => {
    const found = await archive.find(id);
    return found.ok ? found.session : undefined;
  };
  /** Archives know folders; which branch a session began on is written in it. */
  const chosen = async (scope: SessionScope) => {
    const wanted = scope === 'branch' ? await branch() : undefined;
    const fits = ({ id, gitBranch }: SessionSummary) => id !== own && (scope !== 'branch' || gitBranch === wanted);
    return { folders: scope === 'all' ? ('all' as const) : ('folder' as const), fits };
  };
  return {
    async list(scope) {
      const { folders, fits } = await chosen(scope);
      return Promise.all((await archive.list(folders)).filter(fits).map(withDraft));
    },
    async last() {
      const found = await archive.newest();
      if (!found.ok || found.session.id === own) return undefined;
      const { title, modifiedMs, worked } = found.session;
      return { title, modifiedMs, ...(worked === undefined ? {} : { worked }) };
    },
    async *search(words, scope, signal) {
      let last = '';
      const { folders, fits } = await chosen(scope);
      for await (const { session, role, excerpt } of archive.search(words, folders, signal)) {
        if (!fits(session) || session.id === last) continue;
        last = session.id;
        yield { ...choiceOf(session), detail: `${role === 'user' ? 'you' : 'ouro'}: ${excerpt}` };
      }
    },
    async preview(id) {
      const session = await find(id);
      return session === undefined ? undefined : previewOf(session);
    },
    async rename(id, title) {
      const session = await find(id);
      if (session === undefined) return 'This session is gone.';
      const done = await archive.rename(session, title);
      return done.ok ? undefined : done.why;
    },
    async remove(id) {
      const session = await find(id);
      if (session === undefined) return undefined;
      const done = await archive.delete(session);
      return done.ok ? undefined : done.why;
    },
  };
}

/** Whoever left words unsent finds the session by them. */
async function withDraft(session: SessionSummary): Promise<SessionChoiceInfo> {
  const choice = choiceOf(session);
  const words = await unsentWords(dirname(session.path), session.id);
  return words === undefined ? choice : { ...choice, detail: `unsent: ${oneLine(words)} (${choice.detail})` };
}

function choiceOf({ id, title, modifiedMs, bytes, gitBranch, firstPrompt }: SessionSummary): SessionChoiceInfo {
  const first = firstPrompt === title ? [] : [firstPrompt];
  const facts = [formatAge(Date.now() - modifiedMs), gitBranch, formatBytes(bytes), ...first];
  return { id, label: title, detail: facts.filter((fact) => fact !== undefined).join(', ') };
}

/** Only the end of the file is read: a preview must not wait for a long session. */
async function previewOf({ path, bytes }: SessionSummary): Promise<string | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const from = Math.max(0, bytes - PREVIEW_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PREVIEW_BYTES), 0, PREVIEW_BYTES, from);
    const items = dialogueOf(readRecords(buffer.toString('utf8', 0, bytesRead)).records);
    return items.slice(-PREVIEW_ITEMS).map(lineOf).join('\n\n');
  } finally {
    await file.close();
  }
}

function lineOf(item: DialogueItem): string {
  switch (item.kind) {
    case 'user':
      return `> ${item.text.slice(0, LINE_CHARS).toWellFormed().replaceAll('\n', '\n> ')}`;
    case 'assistant':
      return item.text.slice(0, LINE_CHARS).toWellFormed();
    case 'call':
      return `*${item.tool}*`;
    default:
      return `*${item.text}*`;
  }
}
