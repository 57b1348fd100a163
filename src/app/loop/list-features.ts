import type { AgentPort } from '../../agent/agent-deps.ts';
import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { HookDispatcher } from '../../hooks/create-hooks.ts';
import { collectAgentHooks } from '../../hooks/hook-sources.ts';
import { createBatchHooksFeature, createHooksFeature, createLoopHooks } from '../../hooks/loop-hooks.ts';
import { getSubAgentPath } from '../../session/paths.ts';
import { createDiskChangesFeature } from '../../tools/files/disk-changes.ts';
import type { FileReadState } from '../../tools/files/file-read-state.ts';
import { createStructuredAnswerFeature } from '../../tools/structured-output.ts';
import type { ChangedFilesFormatter } from '../changed-files-formatter.ts';
import type { Core } from '../core.ts';
import type { IdeIntegration } from '../ide-integration.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { Session } from '../session/session.ts';
import type { SessionHooks } from '../session-hooks.ts';
import type { SessionLanguageServers } from '../session-language-servers.ts';
import type { SessionSystemPrompt } from './session-system-prompt.ts';

type FeatureParts = {
  readonly session: Pick<Session, 'transcript'>;
  readonly permissions: Pick<SessionPermissions, 'recordHookDenial'>;
  readonly hooks: SessionHooks;
  readonly prompt: Pick<SessionSystemPrompt, 'collectNews'>;
  readonly readState: FileReadState;
  readonly languages: SessionLanguageServers;
  readonly format: ChangedFilesFormatter;
  readonly editor: Pick<IdeIntegration, 'unsavedFiles'>;
};

/** The sub-agent for which features are listed. */
type FeaturedSubAgent = {
  readonly kind: SubAgentDefinition;
  readonly agentId: string;
  readonly isForHook: boolean;
};

/** The features of an agent, in the order in which they are asked; made anew for each of its runs. */
export type FeatureLists = {
  conversation(port: AgentPort): readonly Feature[];
  subAgent(port: AgentPort, agent: FeaturedSubAgent, readState: FileReadState): readonly Feature[];
};

/** Creates the lists of features of a session. */
export function createFeatureLists(core: Core, parts: FeatureParts): FeatureLists {
  const { session, permissions, hooks, prompt, readState, languages, format, editor } = parts;

  const createHooks = (
    port: AgentPort,
    dispatcher: HookDispatcher,
    stopEvent: 'Stop' | 'SubagentStop',
    stopFields?: JsonObject,
  ): Feature =>
    createHooksFeature(createLoopHooks(dispatcher, stopEvent, stopFields), (request, reason) =>
      permissions.recordHookDenial(port, request, reason),
    );

  return {
    conversation: (port) => [
      createBatchHooksFeature(hooks),
      createNewsFeature(core, prompt, hooks),
      createDiskChangesFeature(readState),
      format.conversation,
      languages.mainDiagnostics.feature,
      createHooks(port, hooks, 'Stop'),
      editor.unsavedFiles,
      ...(core.options.jsonSchema === undefined ? [] : [createStructuredAnswerFeature()]),
    ],
    subAgent: (port, { kind, agentId, isForHook }, agentReadState) => [
      createDiskChangesFeature(agentReadState),
      format.subAgent,
      languages.createDiagnostics().feature,
      createHooks(
        port,
        isForHook ? hooks.withoutAgentHooks : hooks.withHooks(collectAgentHooks(kind)),
        'SubagentStop',
        {
          agent_id: agentId,
          agent_type: kind.name,
          agent_transcript_path: getSubAgentPath(session.transcript.folder, agentId),
        },
      ),
      editor.unsavedFiles,
    ],
  };
}

/** Creates the feature that reloads extensions and watched files that calls may have changed, and tells what is new. */
function createNewsFeature(
  { extensions }: Core,
  { collectNews }: FeatureParts['prompt'],
  { checkWatchedFiles }: SessionHooks,
): Feature {
  return {
    name: 'news',
    async reminders() {
      await checkWatchedFiles();
      await extensions.refresh();
      return collectNews();
    },
  };
}
