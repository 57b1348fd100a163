import type { TurnLog } from '../../context/report/turn-log.ts';
import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { createGitChangesFeature } from '../../git/external-changes.ts';
import type { HookDispatcher } from '../../hooks/create-hooks.ts';
import { createEventHooks } from '../../hooks/event-hooks.ts';
import { collectAgentHooks } from '../../hooks/hook-sources.ts';
import { createBatchHooksFeature, createHooksFeature, createLoopHooks } from '../../hooks/loop-hooks.ts';
import type { PluginMonitors } from '../../hooks/plugin-monitors.ts';
import type { RunOverrides } from '../../hooks/run-overrides.ts';
import { createConfigChangeHooks } from '../../hooks/session-change-hooks.ts';
import { createDiagnosticsFeature } from '../../ide/diagnostics-feature.ts';
import type { IdeIntegration } from '../../ide/ide-integration.ts';
import type { ProgramCheck } from '../../lib/processes/program-check.ts';
import { createChangedFilesFormatter } from '../../lsp/changed-files-formatter.ts';
import type { SessionLanguageServers } from '../../lsp/session-language-servers.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import type { ModelFallbacks } from '../../model/model-fallbacks.ts';
import type { AutoModeJudge } from '../../permissions/auto-mode-judge.ts';
import { createMemoryFeature } from '../../prompt/memory/memory-feature.ts';
import type { OfferedSkills } from '../../prompt/offered-skills.ts';
import type { SessionSystemPrompt } from '../../prompt/session-system-prompt.ts';
import { getSubAgentPath } from '../../session/paths.ts';
import type { Session } from '../../session/session.ts';
import type { SessionCheckpoints } from '../../session/session-checkpoints.ts';
import type { ShellRegistry } from '../../tools/bash/shell-registry.ts';
import { createDiskChangesFeature } from '../../tools/files/disk-changes.ts';
import type { FileReadState } from '../../tools/files/file-read-state.ts';
import { createStructuredAnswerFeature } from '../../tools/structured-output.ts';
import { createTodoFeature } from '../../tools/todo-write.ts';
import type { Core } from '../core.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { SessionHooks } from '../session-hooks.ts';

/** The parts of a conversation that are features, or that features are made from. */
type FeatureParts = {
  readonly session: Session;
  readonly permissions: SessionPermissions;
  readonly checkProgram: ProgramCheck;
  readonly hooks: SessionHooks;
  readonly runOverrides: RunOverrides;
  readonly prompt: SessionSystemPrompt;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly turnLog: TurnLog;
  readonly judge: AutoModeJudge;
  readonly fallbacks: ModelFallbacks;
  readonly offeredSkills: OfferedSkills;
  readonly monitors: PluginMonitors;
  readonly readState: FileReadState;
  readonly shells: ShellRegistry;
  readonly mcp: McpServers;
  readonly languages: SessionLanguageServers;
  readonly editor: IdeIntegration;
};

/** The sub-agent for which features are listed. */
type FeaturedSubAgent = {
  readonly kind: SubAgentDefinition;
  readonly agentId: string;
  /** A hook started it, so hooks that start sub-agents do not run for it. */
  readonly isForHook: boolean;
};

/** The features of an agent, in the order in which they are asked. */
export type FeatureLists = {
  readonly conversation: readonly Feature[];
  /** Lists the features of one run of a sub-agent. */
  subAgent(agent: FeaturedSubAgent, readState: FileReadState): readonly Feature[];
};

/**
 * Lists the features of a session. The order of a list decides in which order reminders reach the model, which feature
 * answers first, and that each sees what those before it have changed; comments name the features that depend on it.
 */
export function createFeatureLists(core: Core, parts: FeatureParts): FeatureLists {
  const { options, environment, live, repository, now } = core;
  const { session, permissions, hooks, prompt, readState, shells, mcp, languages, editor } = parts;
  const format = createChangedFilesFormatter(core, parts);
  const cwd = () => live.current().cwd;

  const createDiagnostics = () =>
    createDiagnosticsFeature(languages.createTracker(), editor.createDiagnostics(), environment.home);

  const createHooks = (dispatcher: HookDispatcher, stopEvent: 'Stop' | 'SubagentStop', stopFields?: JsonObject) =>
    createHooksFeature(createLoopHooks(dispatcher, stopEvent, stopFields), permissions.recordHookDenial);

  return {
    conversation: [
      ...(parts.checkpoints === undefined ? [] : [parts.checkpoints]),
      parts.turnLog,
      parts.judge,
      parts.fallbacks,
      parts.offeredSkills,
      // Changed settings, watched files and a new session are reported before the hooks that judge the prompt.
      createConfigChangeHooks(core, hooks, prompt.memory),
      hooks.watchedFiles,
      hooks.sessionStart,
      createBatchHooksFeature(hooks),
      readState,
      prompt,
      // The first reminders: what the model knows of files is corrected before others refer to them.
      createDiskChangesFeature(readState),
      core.meter,
      createMemoryFeature(prompt.memory, { cwd, home: environment.home }),
      createTodoFeature(() => live.current().todos),
      // Print mode has no later prompt that could carry news about the repository.
      ...(options.frontend === 'print'
        ? []
        : [
            createGitChangesFeature({
              initial: repository.initialSnapshot,
              readSnapshot: repository.readSnapshot,
              now,
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
      parts.runOverrides,
      createEventHooks(core, hooks),
      parts.monitors,
      // After the hooks, which may deny a call or change its input before the editor is asked about it.
      editor,
      // After the Stop hooks: only a run that may end needs its answer.
      ...(options.jsonSchema === undefined ? [] : [createStructuredAnswerFeature()]),
      // Last, so that an application sees what all others have decided.
      ...(options.host?.features ?? []),
    ],
    subAgent: ({ kind, agentId, isForHook }, agentReadState) => [
      createDiskChangesFeature(agentReadState),
      format.subAgent,
      createDiagnostics(),
      createHooks(isForHook ? hooks.withoutAgentHooks : hooks.withHooks(collectAgentHooks(kind)), 'SubagentStop', {
        agent_id: agentId,
        agent_type: kind.name,
        agent_transcript_path: getSubAgentPath(session.transcript.folder, agentId),
      }),
      editor,
      ...(options.host?.features ?? []),
    ],
  };
}
