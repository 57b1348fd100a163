import type { AgentPort } from '../../../agent/parts.ts';
import type { AgentListener } from '../../../contracts/agent.ts';
import type { RunOptions } from '../../../contracts/face/run-options.ts';
import type { Hook, HookVerdict } from '../../../contracts/hook.ts';
import { isJsonObject, type JsonObject } from '../../../contracts/json.ts';
import type { PermissionAnswer } from '../../../contracts/permission.ts';
import type { QueryDeps } from '../../../contracts/query.ts';
import type { HookRunners } from '../../../hooks/act.ts';
import { askWithHooks } from '../../../hooks/ask-with-hooks.ts';
import type { Hooks } from '../../../hooks/create-hooks.ts';
import { type MadeHooks, makeHooks } from '../../../hooks/make-hooks.ts';
import { createMessageDisplay } from '../../../hooks/message-display.ts';
import { createOpeningHook, type OpeningHook } from '../../../hooks/opening-hook.ts';
import { createWatchedFiles } from '../../../hooks/watched-files.ts';
import { once } from '../../../lib/once.ts';
import type { Core } from '../../core.ts';
import type { McpServers } from '../../mcp/servers.ts';
import type { AskingPort } from '../../permissions/gate.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { Session } from '../../session/session.ts';
import { hooksOfPlugin } from './carried-hooks.ts';
import { fireChanges } from './hook-moments.ts';
import { createHookRunners } from './hook-runners.ts';

/** The hooks of settings and of the host, and those that open the session. */
export type SessionHooks = MadeHooks & {
  readonly opening: OpeningHook;
  /** Looks for changes of files that hooks watch. */
  readonly lookAtWatched: () => Promise<void>;
  /** Who answers for hooks that ask a sub-agent. */
  readonly answerWith: (ask: HookRunners['askAgent']) => void;
};

type Needs = {
  readonly session: Session;
  readonly permissions: Pick<Permissions, 'fitsRule'>;
  readonly mcp: Pick<McpServers, 'tools' | 'ready' | 'askThrough'>;
  readonly wishes: { readonly hooks: () => readonly Hook[] };
};

export function createSessionHooks(core: Core, { session, permissions, mcp, wishes }: Needs): SessionHooks {
  const { opened, published } = session;
  const { answerWith, ...runners } = createHookRunners(core, mcp);
  const hooks = makeHooks({
    ...runners,
    carried: () => [...wishes.hooks(), ...core.extensions.now().plugins.flatMap(hooksOfPlugin)],
    loaded: core.settings.loaded,
    hostHooks: core.options.host?.hooks ?? [],
    session: { id: opened.id, path: published.path, caughtUp: published.caughtUp },
    live: core.live.now,
    cwd: core.cwd,
    variables: core.settings.variables,
    timeoutMs: () => core.settings.limits().hookTimeoutMs,
    fitsRule: permissions.fitsRule,
    tell: (event) => void core.bus.tell(event),
  });
  fireChanges(core, hooks);
  mcp.askThrough((ask) => askWithHooks(hooks, ask));
  const opening = { source: opened.isResumed ? 'resume' : 'startup', setup: core.options.setup } as const;
  return {
    ...hooks,
    answerWith,
    opening: createOpeningHook(hooks, opening, openedBy(core, session)),
    lookAtWatched: createWatchedFiles(hooks, () => core.cwd),
  };
}

/** What hooks at the beginning of a session ask for: skills they have brought, a name. */
function openedBy({ live, extensions }: Core, { transcript }: Pick<Session, 'transcript'>) {
  return async ({ reloadSkills, sessionTitle }: HookVerdict): Promise<void> => {
    if (reloadSkills) await extensions.reload();
    const title = sessionTitle?.trim().slice(0, TITLE_CHARS) ?? '';
    if (title === '' || live.now().title !== undefined) return;
    live.change({ title });
    await transcript.append({ type: 'title', title, by: 'hook' });
  };
}

const TITLE_CHARS = 200;

type Gate = QueryDeps['gate'];

/** After a compaction its context is waited for, with a limit. */
const COMPACTED_MS = 30_000;

/** Fires the events that nobody waits for: notifications, failed turns, compactions. */
export function hookNews(
  hooks: Hooks,
  addContext: (words: string) => void,
  { face, tell }: { readonly face: RunOptions['face']; readonly tell: (words: string) => void },
): AgentListener {
  const onOthers = () =>
    tell('A MessageDisplay hook wants other words shown. ouro shows what the model says as it is.');
  const display = createMessageDisplay(hooks, once(onOthers));
  return async (event) => {
    display(event);
    switch (event.type) {
      case 'permission_request': {
        const { toolName } = event.request;
        const message = `ouro needs your permission to use ${toolName}.`;
        hooks.fireInBackground('Notification', {
          notification_type: 'permission_prompt',
          message,
          tool_name: toolName,
        });
        return;
      }
      case 'permission_decision': {
        const { verdict, callId, tool, input, trace } = event;
        if (verdict !== 'deny') return;
        const last = Array.isArray(trace) ? trace.at(-1) : undefined;
        const reason = isJsonObject(last) ? String(last.text ?? '') : '';
        hooks.fireInBackground('PermissionDenied', { tool_name: tool, tool_input: input, tool_use_id: callId, reason });
        return;
      }
      case 'question':
        hooks.fireInBackground('Notification', {
          notification_type: 'question',
          message: 'ouro has a question for you.',
        });
        return;
      case 'agent_end': {
        const { reason, failure, words } = event.terminal;
        // A script that has its answer leaves: nobody is waited for.
        if (reason === 'completed' && face !== 'print') {
          hooks.fireInBackground('Notification', { notification_type: 'idle_prompt', message: 'ouro waits for you.' });
        } else if (failure !== undefined) {
          hooks.fireInBackground('StopFailure', { error: failure.kind, message: words ?? failure.message, reason });
        }
        return;
      }
      case 'compacted': {
        // Cleared, or taken back: no room was made, and whoever did it tells of it.
        if (event.postTokens === 0) return;
        hooks.fireInBackground('PostCompact', { trigger: event.boundary.trigger, tokens: event.postTokens });
        const { context } = await hooks.fire('SessionStart', { source: 'compact' }, AbortSignal.timeout(COMPACTED_MS));
        if (context !== undefined) addContext(context);
        return;
      }
      default:
    }
  };
}

/** A gate at which a hook may answer in the person's place, before they are asked. */
export function gateWithHooks(hooks: Hooks, port: AgentPort, gateFor: (asking: AskingPort) => Gate): Gate {
  return (request, hint, signal) => {
    const { tool, input } = request;
    const asking: AskingPort = { ...port, askHook: (_, asked) => answerOfHook(hooks, tool, input, asked) };
    return gateFor(hooks.has('PermissionRequest') ? asking : port)(request, hint, signal);
  };
}

async function answerOfHook(
  hooks: Hooks,
  tool: string,
  input: JsonObject,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  const verdict = await hooks.fire('PermissionRequest', { tool_name: tool, tool_input: input }, signal);
  const { permission, blocked } = verdict;
  if (blocked !== undefined) return { behavior: 'deny', message: blocked };
  if (permission?.decision === 'deny') return { behavior: 'deny', message: permission.reason };
  if (permission?.decision !== 'allow') return undefined;
  return {
    behavior: 'allow',
    ...(verdict.updatedInput === undefined ? {} : { updatedInput: { ...input, ...verdict.updatedInput } }),
  };
}
