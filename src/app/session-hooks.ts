import type { AgentEvent } from '../contracts/event.ts';
import type { Feature } from '../contracts/feature.ts';
import type { HookVerdict } from '../contracts/hook.ts';
import { createHooks, type Hooks } from '../hooks/create-hooks.ts';
import { createHookEnvStore, type HookEnvStore } from '../hooks/hook-env-store.ts';
import { createHookModelRunners, type HookModelRunners } from '../hooks/hook-model-runners.ts';
import { createHookProcessRunners } from '../hooks/hook-runners.ts';
import { collectConfiguredHooks, collectPluginHooks } from '../hooks/hook-sources.ts';
import type { RunOverrides } from '../hooks/run-overrides.ts';
import { subscribeSessionChangeHooks } from '../hooks/session-change-hooks.ts';
import { createSessionStartHooks, type SessionStartHooks } from '../hooks/session-start.ts';
import { createFileChangedHooks } from '../hooks/watched-files.ts';
import type { McpServers } from '../mcp/session-servers.ts';
import type { Session } from '../session/session.ts';
import type { Core } from './core.ts';
import type { SessionPermissions } from './permissions/session-permissions.ts';
import type { ProgramGuard } from './trust/program-guard.ts';

/** The hooks of a session: of settings, plugins, skills, sub-agents and the host. */
export type SessionHooks = Hooks & {
  /** Returns the variables that hooks set for commands. */
  readonly getVariables: HookEnvStore['getAll'];
  readonly sessionStart: SessionStartHooks;
  /** Fires FileChanged for watched files that changed. */
  readonly watchedFiles: Feature;
  /** Sets the function that runs agent hooks. */
  readonly setAgentRunner: HookModelRunners['setAgentRunner'];
};

/** The parts of the session that its hooks depend on. */
type SessionHooksDeps = {
  readonly session: Session;
  readonly guard: ProgramGuard;
  readonly permissions: SessionPermissions;
  readonly mcp: McpServers;
  /** Source of the hooks of commands and skills that the current run uses. */
  readonly runOverrides: RunOverrides;
};

/** Creates the hooks of a session and connects them to its changes. */
export function createSessionHooks(core: Core, deps: SessionHooksDeps): SessionHooks {
  const { session, permissions, mcp, runOverrides, guard } = deps;
  const { settings, live, cwd } = core;
  const { opened, publishedTranscript } = session;
  const emit = (event: AgentEvent) => void core.bus.emit(event);
  const { setAgentRunner, ...modelRunners } = createHookModelRunners(core, mcp);
  const hookVariables = createHookEnvStore(
    {
      cwd: () => live.current().cwd,
      variables: settings.variables,
      checkProgram: guard.check,
      getProjectVariables: () => settings.current().projectVariables ?? [],
    },
    (text) => emit({ type: 'notice', level: 'warn', topic: 'hook', text }),
  );
  const hooks = createHooks({
    listHooks: () =>
      settings.current().disableAllHooks === true
        ? []
        : [
            ...collectConfiguredHooks(settings.loaded()),
            ...runOverrides.hooks(),
            ...core.extensions.current().plugins.flatMap(collectPluginHooks),
            ...(core.options.host?.hooks ?? []),
          ],
    getCommonFields: () => ({
      session_id: opened.id,
      transcript_path: publishedTranscript.path,
      cwd: live.current().cwd,
      permission_mode: live.current().mode,
    }),
    waitForTranscript: publishedTranscript.caughtUp,
    matchesRule: permissions.matchesRule,
    emit,
    ...createHookProcessRunners({
      cwd,
      getVariables: settings.variables,
      getTimeoutMs: () => settings.limits().hookTimeoutMs,
      checkProgram: guard.check,
    }),
    ...modelRunners,
    withEnvFile: hookVariables.runWithEnvFile,
  });
  subscribeSessionChangeHooks(core, hooks);
  hooks.onAsyncResult(({ text, delivery, title }) => {
    core.inbox.add(text);
    if (delivery === 'next turn') return;
    const id = `hook_${core.newId().slice(0, 8)}`;
    for (const event of createFinishedBackgroundEvents(id, title, text)) emit(event);
  });
  const startOptions = { source: opened.isResumed ? 'resume' : 'startup', setup: core.options.setup } as const;
  return {
    ...hooks,
    getVariables: hookVariables.getAll,
    setAgentRunner,
    sessionStart: createSessionStartHooks(hooks, startOptions, createStartHandler(core, session)),
    watchedFiles: createFileChangedHooks(hooks, () => cwd),
  };
}

/**
 * Creates the events of a background task that has already finished. An idle agent continues when background work ends;
 * listeners that list background work take it up with its start, so each end has one.
 */
function createFinishedBackgroundEvents(id: string, title: string, text: string): readonly AgentEvent[] {
  const task = { type: 'background', id, callId: '', kind: 'shell', title } as const;
  return [
    { ...task, state: 'started' },
    { ...task, state: 'completed', words: text },
  ];
}

/** Creates the handler of what SessionStart hooks request: reloaded skills, a session title. */
function createStartHandler({ live, extensions }: Core, { transcript }: Session) {
  return async ({ reloadSkills, sessionTitle }: HookVerdict): Promise<void> => {
    if (reloadSkills) await extensions.reload();
    const title = sessionTitle?.trim().slice(0, TITLE_CHARS) ?? '';
    if (title === '' || live.current().title !== undefined) return;
    live.update({ title });
    await transcript.append({ type: 'title', title, by: 'hook' });
  };
}

const TITLE_CHARS = 200;
