import type { AgentPort, PromptVerdict } from '../../../agent/parts.ts';
import type { AgentListener } from '../../../contracts/agent.ts';
import type { RunOptions } from '../../../contracts/face/run-options.ts';
import type { Hook } from '../../../contracts/hook.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contracts/json.ts';
import type { Message } from '../../../contracts/message.ts';
import type { PermissionAnswer } from '../../../contracts/permission.ts';
import type { BeforeCall, QueryDeps } from '../../../contracts/query.ts';
import type { HookRunners } from '../../../hooks/act.ts';
import type { HookFire, Hooks } from '../../../hooks/create-hooks.ts';
import { makeHooks } from '../../../hooks/make-hooks.ts';
import { createOpeningHook, type OpeningHook } from '../../../hooks/opening-hook.ts';
import { asJson } from '../../../lib/as-json.ts';
import type { Core } from '../../core.ts';
import type { McpServers } from '../../mcp/servers.ts';
import type { AskingPort } from '../../permissions/gate.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { Session } from '../../session/session.ts';
import { fireChanges } from './hook-moments.ts';
import { createHookRunners } from './hook-runners.ts';

/** The hooks of settings and of the host, and those that open the session. */
export type SessionHooks = Hooks & {
  readonly opening: OpeningHook;
  /** Who answers for hooks that ask a sub-agent. */
  readonly answerWith: (ask: HookRunners['askAgent']) => void;
};

type Needs = {
  readonly session: Session;
  readonly permissions: Pick<Permissions, 'fitsRule'>;
  readonly mcp: Pick<McpServers, 'tools' | 'ready'>;
  readonly wishes: { readonly hooks: () => readonly Hook[] };
};

export function createSessionHooks(core: Core, { session, permissions, mcp, wishes }: Needs): SessionHooks {
  const { opened, transcript } = session;
  const { answerWith, ...runners } = createHookRunners(core, mcp);
  const hooks = makeHooks({
    ...runners,
    carried: wishes.hooks,
    loaded: core.settings.loaded,
    hostHooks: core.options.host?.hooks ?? [],
    session: { id: opened.id, path: transcript.path ?? '' },
    live: core.live.now,
    cwd: core.cwd,
    variables: core.settings.variables,
    timeoutMs: () => core.settings.limits().hookTimeoutMs,
    fitsRule: permissions.fitsRule,
    tell: (event) => void core.bus.tell(event),
  });
  fireChanges(core, hooks);
  return { ...hooks, answerWith, opening: createOpeningHook(hooks, opened.isResumed ? 'resume' : 'startup') };
}

/** The loop's questions, answered by hooks. */
export type LoopHooks = Pick<QueryDeps, 'beforeCall' | 'afterCall' | 'onStop'> & {
  readonly onPrompt: (words: string, signal: AbortSignal) => Promise<PromptVerdict>;
};

/** `Stop` for the main conversation, `SubagentStop` for a sub-agent; everything else is the same for both. */
export function loopHooks(hooks: HookFire, stop: 'Stop' | 'SubagentStop', agentType?: string): LoopHooks {
  return {
    async beforeCall(request, signal): Promise<BeforeCall> {
      if (!hooks.has('PreToolUse')) return {};
      const fields = { tool_name: request.tool, tool_input: request.input, tool_use_id: request.callId };
      const verdict = await hooks.fire('PreToolUse', fields, signal);
      const { permission } = verdict;
      return {
        ...(verdict.updatedInput === undefined ? {} : { input: { ...request.input, ...verdict.updatedInput } }),
        ...(verdict.stop === undefined ? {} : { stop: verdict.stop }),
        ...(verdict.blocked === undefined ? {} : { deny: verdict.blocked }),
        ...(permission?.decision === 'deny'
          ? { deny: permission.reason || `${permission.by} refuses this call.` }
          : {}),
        ...(permission?.decision === 'ask'
          ? { ask: permission.reason || `${permission.by} wants you to be asked.` }
          : {}),
        ...(permission?.decision === 'allow' ? { allow: permission.by } : {}),
        ...(verdict.context === undefined ? {} : { context: verdict.context }),
      };
    },
    async afterCall(request, outcome, durationMs, signal) {
      const event = outcome.isError === true ? 'PostToolUseFailure' : 'PostToolUse';
      if (!hooks.has(event)) return {};
      const fields = {
        tool_name: request.tool,
        tool_input: request.input,
        tool_use_id: request.callId,
        duration_ms: durationMs,
      };
      const answer = asJson({ response: outcome.structured ?? outcome.content });
      const said =
        outcome.isError === true
          ? { error: String(answer.response), is_interrupt: signal.aborted }
          : { tool_response: answer.response };
      const verdict = await hooks.fire(event, { ...fields, ...said }, signal);
      return {
        ...(verdict.context === undefined ? {} : { context: verdict.context }),
        ...(verdict.updatedToolOutput === undefined
          ? {}
          : { outcome: { ...outcome, content: textOf(verdict.updatedToolOutput) } }),
        ...(verdict.blocked === undefined ? {} : { block: verdict.blocked }),
        ...(verdict.stop === undefined ? {} : { stop: verdict.stop }),
      };
    },
    async onStop({ messages, stopHookActive }, signal) {
      if (!hooks.has(stop)) return { kind: 'pass' };
      const fields = {
        stop_hook_active: stopHookActive,
        last_assistant_message: lastWords(messages),
        ...(agentType === undefined ? {} : { agent_type: agentType }),
      };
      const verdict = await hooks.fire(stop, fields, signal);
      if (verdict.stop !== undefined) return { kind: 'prevent', words: verdict.stop };
      return verdict.blocked === undefined ? { kind: 'pass' } : { kind: 'object', words: verdict.blocked };
    },
    async onPrompt(prompt, signal) {
      if (!hooks.has('UserPromptSubmit')) return { kind: 'go' };
      const verdict = await hooks.fire('UserPromptSubmit', { prompt }, signal);
      const objection = verdict.blocked ?? verdict.stop;
      if (objection !== undefined) return { kind: 'block', words: objection };
      return verdict.context === undefined ? { kind: 'go' } : { kind: 'go', context: verdict.context };
    },
  };
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lastWords(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'assistant');
  return last?.role === 'assistant'
    ? last.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
    : '';
}

type Gate = QueryDeps['gate'];

/** After a compaction its context is waited for, with a limit. */
const COMPACTED_MS = 30_000;

/** Fires the events that nobody waits for: notifications, failed turns, compactions. */
export function hookNews(hooks: Hooks, addContext: (words: string) => void, face: RunOptions['face']): AgentListener {
  return async (event) => {
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
