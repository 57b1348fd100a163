import { randomUUID } from 'node:crypto';
import type { Message } from '../contracts/message.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import { type Rebuilt, rebuild } from '../session/rebuild.ts';
import { findSession, forkSession, listSessions, readSession, type SessionSummary } from '../session/store.ts';
import type { Environment } from './environment.ts';

/** The session a run is about: a new one, or what a stored one held. */
export type OpenedSession = {
  readonly id: string;
  readonly messages: readonly Message[];
  readonly rebuilt: Rebuilt | undefined;
  readonly lastUuid: string | null;
  readonly warnings: readonly string[];
};

export type SessionOpening = ({ readonly ok: true } & OpenedSession) | { readonly ok: false; readonly problem: string };

/** Finds, reads, repairs and if asked forks the session; a new one touches no disk. */
export async function openSession(
  options: RunOptions,
  environment: Environment,
  realCwd: string,
): Promise<SessionOpening> {
  const { session } = options;
  if (session.kind === 'new') {
    return { ok: true, id: session.id ?? randomUUID(), messages: [], rebuilt: undefined, lastUuid: null, warnings: [] };
  }
  const found =
    session.kind === 'resume'
      ? await findSession(environment.ouroHome, realCwd, session.wanted)
      : await newest(environment, realCwd);
  if (!found.ok) return { ok: false, problem: found.why };
  return resume(found.session, session.fork === 'fork' ? (session.id ?? randomUUID()) : undefined);
}

async function newest(environment: Environment, realCwd: string) {
  const [first] = await listSessions(environment.ouroHome, realCwd);
  return first === undefined
    ? { ok: false as const, why: 'There is no session of this folder to go on with.' }
    : { ok: true as const, session: first };
}

async function resume(summary: SessionSummary, forkId: string | undefined): Promise<SessionOpening> {
  const path = forkId === undefined ? summary.path : await forkSession(summary, forkId);
  const { records, damaged, salvaged, doubled } = await readSession(path);
  const rebuilt = rebuild(records);
  const hurt = [
    ...(damaged > 0 ? [`${damaged} unreadable`] : []),
    ...(salvaged > 0 ? [`${salvaged} repaired`] : []),
    ...(doubled > 0 ? [`${doubled} doubled`] : []),
  ];
  const warnings =
    hurt.length === 0 ? [] : [`The session file was damaged: ${hurt.join(', ')} lines. Everything else is here.`];
  return {
    ok: true,
    id: forkId ?? summary.id,
    messages: rebuilt.messages,
    rebuilt,
    lastUuid: rebuilt.lastUuid,
    warnings,
  };
}
