import { join } from 'node:path';
import { createTurnLog } from '../context/report/turn-log.ts';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../contracts/frontend/conversation.ts';
import { createPluginMonitors } from '../hooks/plugin-monitors.ts';
import { createRunOverrides } from '../hooks/run-overrides.ts';
import { createIdeIntegration } from '../ide/ide-integration.ts';
import { createSessionLanguageServers } from '../lsp/session-language-servers.ts';
import { createMcpServers } from '../mcp/session-servers.ts';
import { type RegisteredRun, registerRun } from '../session/run-cleanup-log.ts';
import { createSession } from '../session/session.ts';
import { createSessionCheckpoints } from '../session/session-checkpoints.ts';
import { createShellRegistry } from '../tools/bash/shell-registry.ts';
import { assembleConversation } from './assemble-conversation.ts';
import { createConversationActions } from './conversation-actions.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { createAgentLoopParts } from './loop/agent-loop-parts.ts';
import { createAutoContinue } from './loop/auto-continue.ts';
import { createMainAgent } from './loop/main-agent.ts';
import { openCore } from './open-core.ts';
import { canReadUnasked } from './permissions/host-file-access.ts';
import { createSessionPermissions } from './permissions/session-permissions.ts';
import { listSettingsFolders } from './read-settings.ts';
import { createSessionHooks } from './session-hooks.ts';
import { createTrustDialog } from './trust/manage-folder-trust.ts';
import { createProgramGuard } from './trust/program-guard.ts';

/** The composed conversation, or the reason why it cannot start. */
export type ComposeConversationResult =
  | { readonly ok: true; readonly conversation: Conversation }
  | { readonly ok: false; readonly problem: string };

/** Creates a conversation: the core first, then each part from the core and the parts before it. */
export async function createConversation(
  options: CliRunOptions,
  environment: Environment,
): Promise<ComposeConversationResult> {
  const started = registerRun(environment);
  const composed = await compose(options, started);
  // A refused start must release the session lock and its entry in the run ledger.
  if (!composed.ok) await started.abandon();
  return composed;
}

async function compose(options: CliRunOptions, started: RegisteredRun): Promise<ComposeConversationResult> {
  const first = await openCore(options, started);
  if (!first.ok) return first;
  const { core, opened } = first;

  const session = createSession(core, { opened, started });
  const permissions = createSessionPermissions(core, {
    sessionFolder: session.transcript.folder,
    refusals: opened.refusals,
  });
  const guard = createProgramGuard({ ...core, ...permissions });
  const shells = createShellRegistry(core.now, (event) => void core.bus.emit(event));
  const checkpoints = createSessionCheckpoints(core, {
    session,
    roots: permissions.getRoots,
    hasBackground: shells.hasRunning,
  });
  const turnLog = createTurnLog(core, opened.messages);
  const mcp = await createMcpServers(core, {
    guard,
    folders: listSettingsFolders(core.cwd, core.environment.home),
    askUser: (...question) => core.bus.getPort().ask(...question),
    getRoots: permissions.getRoots,
    getRules: permissions.getRules,
    ledger: session.ledger,
    getResultsFolder: () => join(session.transcript.folder, 'results'),
    expectCacheMiss: turnLog.expectCacheMiss,
  });
  const editor = createIdeIntegration(core, (path) => canReadUnasked(path, { permissions, cwd: core.cwd }));
  const languages = createSessionLanguageServers(core, { ledger: session.ledger, editor, checkProgram: guard.check });
  const runOverrides = createRunOverrides(core);
  const hooks = createSessionHooks(core, { session, permissions, mcp, runOverrides, guard });
  const monitors = createPluginMonitors(core, { session, shells, checkProgram: guard.check });
  const loop = createAgentLoopParts(core, {
    runOverrides,
    session,
    permissions,
    checkpoints,
    mcp,
    hooks,
    shells,
    turnLog,
    languages,
    editor,
    monitors,
    checkProgram: guard.check,
  });
  const agent = createMainAgent(core, {
    session,
    mcp,
    loop,
    turnLog,
    editor,
    ready: started.ready,
  });
  // The editor is a part of the loop and shows what the agent asks, so each needs the other.
  editor.attach(agent);
  const autoContinue = createAutoContinue(core, { agent, shells });
  const actions = createConversationActions(core, { agent, session, checkpoints, permissions, loop, turnLog, hooks });
  const trustCommands = createTrustDialog(core.cwd, core.environment);
  const parts: ConversationParts = {
    core,
    agent,
    session,
    permissions,
    checkpoints,
    mcp,
    editor,
    languages,
    hooks,
    loop,
    shells,
    turnLog,
    autoContinue,
    actions,
    trustCommands,
    checkProgram: guard.check,
  };
  const conversation = await assembleConversation(parts, started);
  // Started last: their programs must not run for a conversation that cannot start.
  mcp.start();
  // Not awaited: the conversation can be used before the monitors of plugins run.
  void monitors.update();
  return { ok: true, conversation };
}
