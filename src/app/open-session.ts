import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readDecisions } from '../context/decision-record.ts';
import type { Decision } from '../context/decisions.ts';
import type { Todo } from '../contracts/display.ts';
import type { Message } from '../contracts/message.ts';
import type { Effort } from '../contracts/model.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import type { SessionRecord } from '../contracts/session.ts';
import { type Rebuilt, rebuild } from '../session/rebuild.ts';
import { findSession, forkSession, listSessions, readSession, type SessionSummary } from '../session/store.ts';
import type { Environment } from './environment.ts';
import type { Live } from './live-state.ts';

/** The session a run is about: a new one, or what a stored one held. */
export type OpenedSession = {
  readonly id: string;
  readonly messages: readonly Message[];
  readonly rebuilt: Rebuilt | undefined;
  readonly lastUuid: string | null;
  readonly warnings: readonly string[];
  /** What the session remembers of how it was left. */
  readonly stored: StoredState;
  /** What the context pipeline decided, to be replayed so that sent bytes stay. */
  readonly contextDecisions: readonly Decision[];
};

export type StoredState = {
  readonly model?: string;
  readonly effort?: Effort;
  readonly cwd?: string;
  readonly todos?: readonly Todo[];
  readonly grants?: Live['grants'];
  readonly directories?: readonly string[];
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
    return {
      ok: true,
      id: session.id ?? randomUUID(),
      messages: [],
      rebuilt: undefined,
      lastUuid: null,
      warnings: [],
      stored: {},
      contextDecisions: [],
    };
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
    stored: storedState(records),
    contextDecisions: readDecisions(
      records.flatMap((record) => (record.type === 'system' && record.subtype === 'context' ? [record.data] : [])),
    ),
  };
}

const stateSchema = z.object({
  model: z.string().optional().catch(undefined),
  effort: z.enum(['off', 'low', 'medium', 'high', 'max']).optional().catch(undefined),
  cwd: z.string().optional().catch(undefined),
  todos: z
    .array(
      z.object({
        content: z.string(),
        status: z.enum(['pending', 'in_progress', 'completed']),
        activeForm: z.string().optional(),
      }),
    )
    .optional()
    .catch(undefined),
  grants: z
    .array(z.object({ rule: z.string(), behavior: z.enum(['allow', 'ask', 'deny']) }))
    .optional()
    .catch(undefined),
  directories: z.array(z.string()).optional().catch(undefined),
});

/** The newest word on each thing; a folder that is gone is not gone back to. */
function storedState(records: readonly SessionRecord[]): StoredState {
  const merged: Record<string, unknown> = {};
  for (const record of records) {
    if (record.type === 'system' && record.subtype === 'state') Object.assign(merged, record.data);
  }
  const { model, effort, cwd, todos, grants, directories } = stateSchema.parse(merged);
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(cwd === undefined || !existsSync(cwd) ? {} : { cwd }),
    ...(todos === undefined ? {} : { todos }),
    ...(grants === undefined ? {} : { grants }),
    ...(directories === undefined ? {} : { directories }),
  };
}
