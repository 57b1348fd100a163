import { dirname } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { SessionListEntry, SessionListScope, StoredSessionsPort } from '../../contracts/frontend/conversation.ts';
import { formatAge, formatBytes, formatCount, formatMoney, formatOneLine } from '../../lib/text/format.ts';
import { readUnsentText } from '../../session/input/draft-store.ts';
import { parseSessionRecords } from '../../session/records/parse-session-records.ts';
import { buildDialogue, type DialogueItem } from '../../session/store/dialogue.ts';
import { readSessionEnd } from '../../session/unsaved-lines.ts';
import { createStoredSessionOperations, type SessionSummary } from '../replay/session-archive.ts';

const PREVIEW_BYTES = 65_536;
const PREVIEW_ITEMS = 6;
const MAX_ITEM_CHARS = 400;

/** Creates the operations of the session picker. `openId` is the open session, `branch` the current git branch. */
export function createStoredSessionsPort(
  environment: Pick<Environment, 'ouroHome' | 'home'>,
  cwd: string,
  openId: string,
  branch: () => Promise<string | undefined>,
): StoredSessionsPort {
  const archive = createStoredSessionOperations(environment, cwd);
  const find = async (id: string) => {
    const found = await archive.find(id);
    return found.ok ? found.session : undefined;
  };
  /** Resolves a scope. The archive filters by folder only; the branch is part of each session. */
  const resolveScope = async (scope: SessionListScope) => {
    const currentBranch = scope === 'branch' ? await branch() : undefined;
    const isIncluded = ({ id, gitBranch }: SessionSummary) =>
      id !== openId && (scope !== 'branch' || gitBranch === currentBranch);
    return { folders: scope === 'all' ? ('all' as const) : ('folder' as const), isIncluded };
  };
  return {
    async list(scope) {
      const { folders, isIncluded } = await resolveScope(scope);
      return Promise.all((await archive.list(folders)).filter(isIncluded).map(describeWithDraft));
    },
    async last() {
      const found = await archive.newest();
      if (!found.ok || found.session.id === openId) return undefined;
      const { title, modifiedMs, worked } = found.session;
      return { title, modifiedMs, ...(worked === undefined ? {} : { worked }) };
    },
    async *search(text, scope, signal) {
      let lastId = '';
      const { folders, isIncluded } = await resolveScope(scope);
      for await (const { session, role, excerpt } of archive.search(text, folders, signal)) {
        if (!isIncluded(session) || session.id === lastId) continue;
        lastId = session.id;
        yield { ...describeSession(session), detail: `${role === 'user' ? 'you' : 'ouro'}: ${excerpt}` };
      }
    },
    async preview(id) {
      const session = await find(id);
      return session === undefined ? undefined : renderPreview(session);
    },
    async rename(id, title) {
      const session = await find(id);
      if (session === undefined) return 'This session no longer exists.';
      const outcome = await archive.rename(session, title);
      return outcome.ok ? undefined : outcome.problem;
    },
    async remove(id) {
      const session = await find(id);
      if (session === undefined) return undefined;
      const outcome = await archive.delete(session);
      return outcome.ok ? undefined : outcome.problem;
    },
  };
}

/** Adds the unsent draft to the description of a session. */
async function describeWithDraft(session: SessionSummary): Promise<SessionListEntry> {
  const draft = await readUnsentText(dirname(session.path), session.id);
  return describeSession(session, draft === undefined ? undefined : `draft: ${formatOneLine(draft)}`);
}

/** Describes a session: age, branch, work and cost, then what is unsent or the first prompt, which may be cut. */
function describeSession(session: SessionSummary, draft?: string): SessionListEntry {
  const { id, title, modifiedMs, bytes, gitBranch, firstPrompt, worked, spentUsd } = session;
  const lines =
    worked === undefined || worked.added + worked.removed === 0 ? [] : [`+${worked.added} -${worked.removed}`];
  const facts = [
    formatAge(Date.now() - modifiedMs),
    gitBranch,
    ...(worked === undefined ? [formatBytes(bytes)] : [formatCount(worked.turns, 'turn'), ...lines]),
    ...(spentUsd === undefined ? [] : [formatMoney(spentUsd)]),
    draft ?? (firstPrompt === title ? undefined : firstPrompt),
  ];
  return { id, label: title, detail: facts.filter((fact) => fact !== undefined).join(', ') };
}

/** Renders the end of a session. Only the end of the file is read, so that long sessions open quickly. */
async function renderPreview({ path }: SessionSummary): Promise<string> {
  const { records } = parseSessionRecords(readSessionEnd(path, PREVIEW_BYTES));
  return buildDialogue(records).slice(-PREVIEW_ITEMS).map(formatItem).join('\n\n');
}

function formatItem(item: DialogueItem): string {
  switch (item.kind) {
    case 'user':
      return `> ${item.text.slice(0, MAX_ITEM_CHARS).toWellFormed().replaceAll('\n', '\n> ')}`;
    case 'assistant':
      return item.text.slice(0, MAX_ITEM_CHARS).toWellFormed();
    case 'call':
      return `*${item.tool}*`;
    default:
      return `*${item.text}*`;
  }
}
