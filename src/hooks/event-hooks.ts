import type { AgentListener } from '../contracts/agent.ts';
import type { Feature } from '../contracts/feature.ts';
import { isJsonObject } from '../contracts/json.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { createLazy } from '../lib/memoize.ts';
import type { Hooks } from './create-hooks.ts';
import { createMessageDisplayHooks } from './message-display.ts';

/** Limit for the SessionStart hooks after a compaction, whose context is awaited. */
const COMPACT_HOOK_TIMEOUT_MS = 30_000;

/** Creates the feature that fires hooks for agent events: notifications, failed turns, compactions. */
export function createEventHooks({ options, bus, inbox }: SessionCore, hooks: Hooks): Feature {
  const warnOnce = createLazy(() =>
    bus.emit({ type: 'notice', level: 'warn', topic: 'hook', text: UNUSED_REPLACEMENT }),
  );
  const display = createMessageDisplayHooks(hooks, () => void warnOnce());
  const onEvent: AgentListener = async (event) => {
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
        const lastStep = Array.isArray(trace) ? trace.at(-1) : undefined;
        const reason = isJsonObject(lastStep) ? String(lastStep.text ?? '') : '';
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
        // In print mode the process exits now, so it does not wait for input.
        if (reason === 'completed' && options.frontend !== 'print') {
          hooks.fireInBackground('Notification', {
            notification_type: 'idle_prompt',
            message: 'ouro is waiting for your input.',
          });
        } else if (failure !== undefined) {
          hooks.fireInBackground('StopFailure', { error: failure.kind, message: words ?? failure.message, reason });
        }
        return;
      }
      case 'compacted': {
        // 0 tokens means cleared or undone, not compacted.
        if (event.postTokens === 0) return;
        hooks.fireInBackground('PostCompact', { trigger: event.boundary.trigger, tokens: event.postTokens });
        const { context } = await hooks.fire(
          'SessionStart',
          { source: 'compact' },
          AbortSignal.timeout(COMPACT_HOOK_TIMEOUT_MS),
        );
        if (context !== undefined) inbox.add(context);
        return;
      }
      default:
    }
  };
  return { name: 'event hooks', onEvent };
}

const UNUSED_REPLACEMENT =
  'A MessageDisplay hook returned displayContent, which ouro does not support. Messages are shown unchanged.';
