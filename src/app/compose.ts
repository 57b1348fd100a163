import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { Conversation } from '../contracts/face/conversation.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import { createShells } from '../tools/bash/shells.ts';
import { makeConversation } from './conversation.ts';
import { createSessionHooks } from './loop/hooks/session-hooks.ts';
import { createLoop } from './loop/loop.ts';
import { createMainAgent } from './loop/main-agent.ts';
import { createRunWishes } from './loop/skills/run-wishes.ts';
import { createTurnLog } from './loop/turn-log.ts';
import { createWake } from './loop/wake.ts';
import { createMcpServers } from './mcp/servers.ts';
import { openCore } from './open-core.ts';
import { createPermissions } from './permissions/permissions.ts';
import { createSessionCheckpoints } from './session/checkpoints.ts';
import { createSessionLanguages } from './session/languages.ts';
import { createSession } from './session/session.ts';
import { type StartedRun, startRun } from './session/start-run.ts';
import { createTrustTalk } from './settings/trust-commands.ts';
import { createActions } from './slash/actions.ts';

export type Composed =
  | { readonly ok: true; readonly conversation: Conversation }
  | { readonly ok: false; readonly problem: string };

/** Makes a conversation: the core first, then each part from the core and the parts before it. */
export async function createConversation(given: RunOptions, surroundings: Environment): Promise<Composed> {
  const started = startRun(surroundings);
  const composed = await compose(given, started);
  // A refused start must release the session's claim and its place among those that run.
  if (!composed.ok) await started.abandon();
  return composed;
}

async function compose(given: RunOptions, started: StartedRun): Promise<Composed> {
  const first = await openCore(given, started);
  if (!first.ok) return first;
  const { core, opened } = first;

  const session = createSession(core, { opened, started });
  const permissions = createPermissions(core, { sessionFolder: session.transcript.folder, refusals: opened.refusals });
  const shells = createShells(core.now, (event) => void core.bus.tell(event));
  const checkpoints = createSessionCheckpoints(core, {
    session,
    roots: permissions.roots,
    hasBackground: shells.anyRunning,
  });
  const turnLog = createTurnLog(core, opened.messages);
  const mcp = await createMcpServers(core, {
    roots: permissions.roots,
    rules: permissions.rules,
    ledger: session.ledger,
    resultsFolder: () => join(session.transcript.folder, 'results'),
    expect: turnLog.expect,
  });
  const languages = createSessionLanguages(core, session);
  const wishes = createRunWishes(core);
  const hooks = createSessionHooks(core, { session, permissions, mcp, wishes });
  const loop = createLoop(core, { wishes, session, permissions, checkpoints, mcp, hooks, shells, turnLog, languages });
  const agent = createMainAgent(core, {
    session,
    checkpoints,
    mcp,
    hooks,
    loop,
    turnLog,
    languages,
    ready: started.ready,
  });
  const wake = createWake(core, { agent, loop });
  const actions = createActions(core, { agent, session, checkpoints, permissions, loop, turnLog, hooks });
  const trustTalk = createTrustTalk(core.cwd, core.environment);
  const parts = {
    core,
    agent,
    session,
    permissions,
    checkpoints,
    mcp,
    languages,
    hooks,
    loop,
    shells,
    turnLog,
    wake,
    actions,
    trustTalk,
  };
  const conversation = await makeConversation(parts, started);
  mcp.start();
  return { ok: true, conversation };
}
