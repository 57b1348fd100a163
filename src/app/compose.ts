import { join } from 'node:path';
import { createTurnLog } from '../context/report/turn-log.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Feature } from '../contracts/feature.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../contracts/frontend/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import { createGitChangesFeature } from '../git/external-changes.ts';
import { createBatchHooksFeature } from '../hooks/batch-hooks.ts';
import type { HookDispatcher } from '../hooks/create-hooks.ts';
import { createEventHooks } from '../hooks/event-hooks.ts';
import { collectAgentHooks } from '../hooks/hook-sources.ts';
import { createHooksFeature, createLoopHooks } from '../hooks/loop-hooks.ts';
import { createPluginMonitors } from '../hooks/plugin-monitors.ts';
import { createRunOverrides } from '../hooks/run-overrides.ts';
import { createConfigChangeHooks } from '../hooks/session-change-hooks.ts';
import { createDiagnosticsFeature } from '../ide/diagnostics-feature.ts';
import { createIdeIntegration } from '../ide/ide-integration.ts';
import { createChangedFilesFormatter } from '../lsp/changed-files-formatter.ts';
import { createSessionLanguageServers } from '../lsp/session-language-servers.ts';
import { createMcpServers } from '../mcp/session-servers.ts';
import { createMemoryFeature } from '../prompt/memory/memory-feature.ts';
import { getSubAgentPath } from '../session/paths.ts';
import { type RegisteredRun, registerRun } from '../session/run-cleanup-log.ts';
import { createSession } from '../session/session.ts';
import { createSessionCheckpoints } from '../session/session-checkpoints.ts';
import { createShellRegistry } from '../tools/bash/shell-registry.ts';
import { createDiskChangesFeature } from '../tools/files/disk-changes.ts';
import { createStructuredAnswerFeature } from '../tools/structured-output.ts';
import { createTodoFeature } from '../tools/todo-write.ts';
import { assembleConversation } from './assemble-conversation.ts';
import { createConversationActions } from './conversation-actions.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { createAgentLoopParts } from './loop/agent-loop-parts.ts';
import { createAutoContinue } from './loop/auto-continue.ts';
import { createMainAgent } from './loop/main-agent.ts';
import { createRequestParts } from './loop/request-parts.ts';
import type { ListSubAgentFeatures } from './loop/sub-agent-runs.ts';
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
  const { environment, live, repository } = core;

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
    folders: listSettingsFolders(core.cwd, environment.home),
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
  const request = createRequestParts(core, { session, permissions, checkpoints, mcp, hooks, shells, languages });
  const { readState } = request.toolset;
  const format = createChangedFilesFormatter(core, { checkpoints, readState, checkProgram: guard.check });
  const createDiagnostics = () =>
    createDiagnosticsFeature(languages.createTracker(), editor.createDiagnostics(), environment.home);
  const createHooks = (dispatcher: HookDispatcher, stopEvent: 'Stop' | 'SubagentStop', stopFields?: JsonObject) =>
    createHooksFeature(createLoopHooks(dispatcher, stopEvent, stopFields), permissions.recordHookDenial);

  // The order of features decides in which order reminders reach the model, which feature answers first, and that each
  // sees what those before it have changed. Comments name the features that depend on it.
  const features: readonly Feature[] = [
    ...(checkpoints === undefined ? [] : [checkpoints]),
    turnLog,
    request.judge,
    request.fallbacks,
    request.offeredSkills,
    // Changed settings, watched files and a new session are reported before the hooks that judge the prompt.
    createConfigChangeHooks(core, hooks, request.prompt.memory),
    hooks.watchedFiles,
    hooks.sessionStart,
    createBatchHooksFeature(hooks),
    readState,
    request.prompt,
    // The first reminders: what the model knows of files is corrected before others refer to them.
    createDiskChangesFeature(readState),
    core.meter,
    createMemoryFeature(request.prompt.memory, { cwd: () => live.current().cwd, home: environment.home }),
    createTodoFeature(() => live.current().todos),
    // Print mode has no later prompt that could carry news about the repository.
    ...(core.options.frontend === 'print'
      ? []
      : [
          createGitChangesFeature({
            initial: repository.initialSnapshot,
            readSnapshot: repository.readSnapshot,
            now: core.now,
          }),
        ]),
    shells,
    mcp.resourceChanges,
    core.inbox,
    // Before the Stop hooks, which then check formatted files; the model corrects reports of the linter first.
    format.conversation,
    // Before the hooks of a call: the diagnostics of a file are recorded while it is unchanged.
    createDiagnostics(),
    createHooks(hooks, 'Stop'),
    // After the hooks: a prompt that they refuse starts no run, so the overrides wait for the next one.
    runOverrides,
    createEventHooks(core, hooks),
    monitors,
    // After the hooks, which may deny a call or change its input before the editor is asked about it.
    editor,
    // After the Stop hooks: only a run that may end needs its answer.
    ...(core.options.jsonSchema === undefined ? [] : [createStructuredAnswerFeature()]),
    // Last, so that an application sees what all others have decided.
    ...(core.options.host?.features ?? []),
  ];
  const listSubAgentFeatures: ListSubAgentFeatures = ({ kind, agentId, isForHook }, agentReadState) => [
    createDiskChangesFeature(agentReadState),
    format.subAgent,
    createDiagnostics(),
    createHooks(isForHook ? hooks.withoutAgentHooks : hooks.withHooks(collectAgentHooks(kind)), 'SubagentStop', {
      agent_id: agentId,
      agent_type: kind.name,
      agent_transcript_path: getSubAgentPath(session.transcript.folder, agentId),
    }),
    editor,
    ...(core.options.host?.features ?? []),
  ];

  const loop = createAgentLoopParts(core, {
    request,
    features,
    listSubAgentFeatures,
    session,
    permissions,
    mcp,
    hooks,
    runOverrides,
    shells,
    turnLog,
    monitors,
  });
  const agent = createMainAgent(core, { session, mcp, loop, features, turnLog, editor, ready: started.ready });
  // The editor is a part of the loop and shows what the agent asks, so each needs the other.
  editor.attach(agent);
  const autoContinue = createAutoContinue(core, { agent, shells });
  const actions = createConversationActions(core, { agent, session, checkpoints, permissions, loop, turnLog, hooks });
  const trustCommands = createTrustDialog(core.cwd, environment);
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
