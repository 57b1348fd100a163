import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { AgentEvent } from '../../contracts/event.ts';

const stored = z.object({ messageId: z.string(), model: z.string(), index: z.number(), text: z.string() });

/** Words whose block has not ended: of which reply, and how many blocks of it were complete before. */
export type OpenWords = z.infer<typeof stored>;

/** Keeps the words of an answer that is being written, so that they outlive a kill. */
export type AnswerJournal = {
  /** Costs nothing while words stream; resolves at the end of a reply, once nothing is left on disk. */
  hear(event: AgentEvent): Promise<void>;
};

type JournalParts = {
  readonly dir: string;
  readonly sessionId: string;
  /** What an earlier run may have left; it is settled by the end of the first reply. */
  readonly left: 'nothing' | 'words';
  /** Calls back a little later, at most a few times a second. */
  readonly soon?: (work: () => void) => void;
};

/** What is lost by a kill is at most this much. */
const EVERY_MS = 300;

export const answerPath = (dir: string, sessionId: string) => join(dir, 'answers', `${sessionId}.json`);

/** One small file for each session, there only while words are open. */
export function createAnswerJournal({ dir, sessionId, left, soon = later }: JournalParts): AnswerJournal {
  const path = answerPath(dir, sessionId);
  let reply: Reply | undefined;
  let isDue = false;
  let work = Promise.resolve();
  let kept = left;

  async function keep(): Promise<void> {
    const open = openWords(reply);
    if (open === undefined) return;
    kept = 'words';
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.tmp`, JSON.stringify(open), { mode: 0o600 });
    await rename(`${path}.tmp`, path);
  }

  // What cannot be kept is no reason to stop an answer; the session tells of a full disk.
  const then = (step: () => Promise<void>) => {
    work = work.then(step).catch(() => undefined);
    return work;
  };

  return {
    async hear(event) {
      reply = nextReply(reply, event);
      if (event.type === 'message_update' && event.kind === 'text' && !isDue) {
        isDue = true;
        soon(() => {
          isDue = false;
          void then(keep);
        });
      }
      if (!endsReply(event) || kept === 'nothing') return;
      await then(async () => {
        kept = 'nothing';
        await rm(path, { force: true });
      });
    },
  };
}

/** The words a killed run left open. */
export async function readOpenWords(dir: string, sessionId: string): Promise<OpenWords | undefined> {
  const text = await readFile(answerPath(dir, sessionId), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return stored.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

type Reply = OpenWords & { readonly place: number | undefined };

function nextReply(reply: Reply | undefined, event: AgentEvent): Reply | undefined {
  switch (event.type) {
    case 'message_start':
      if (event.role !== 'assistant') return reply;
      return { messageId: event.messageId, model: event.model, index: 0, text: '', place: undefined };
    case 'message_update': {
      if (reply === undefined || event.kind !== 'text' || event.messageId !== reply.messageId) return reply;
      const before = reply.place === event.index ? reply.text : '';
      return { ...reply, place: event.index, text: before + event.delta };
    }
    case 'block_end': {
      if (reply === undefined) return undefined;
      const rest = reply.place === event.index ? { text: '', place: undefined } : {};
      return { ...reply, index: reply.index + 1, ...rest };
    }
    default:
      return endsReply(event) ? undefined : reply;
  }
}

function endsReply({ type }: AgentEvent): boolean {
  return type === 'tombstone' || type === 'turn_end' || type === 'agent_end';
}

function openWords(reply: Reply | undefined): OpenWords | undefined {
  if (reply === undefined || reply.text.trim() === '') return undefined;
  const { place: _, ...open } = reply;
  return open;
}

function later(work: () => void): void {
  setTimeout(work, EVERY_MS).unref();
}
