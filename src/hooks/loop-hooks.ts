import type { Feature, LoopHooks } from '../contracts/feature.ts';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { joinTextBlocks, type Message } from '../contracts/message.ts';
import type { BeforeCall } from '../contracts/query.ts';
import type { CallRequest, UserAnswer, UserQuestion } from '../contracts/tool.ts';
import { copyAsJson, omitUndefined } from '../lib/json.ts';
import type { HookDispatcher } from './create-hooks.ts';

/** Creates the loop's hook calls; `stopEvent` and its fields differ between the main conversation and a sub-agent. */
export function createLoopHooks(
  hooks: HookDispatcher,
  stopEvent: 'Stop' | 'SubagentStop',
  stopFields: JsonObject = {},
): LoopHooks {
  return {
    async beforeCall(request, signal): Promise<BeforeCall> {
      if (!hooks.has('PreToolUse')) return {};
      const fields = { tool_name: request.tool, tool_input: request.input, tool_use_id: request.callId };
      const verdict = await hooks.fire('PreToolUse', fields, signal);
      const { permission } = verdict;
      return {
        ...(verdict.updatedInput === undefined ? {} : { input: { ...request.input, ...verdict.updatedInput } }),
        ...omitUndefined({ stop: verdict.stop, deny: verdict.blocked }),
        ...(permission?.decision === 'deny' ? { deny: permission.reason || `${permission.by} denies this call.` } : {}),
        ...(permission?.decision === 'ask'
          ? { ask: `A hook requires approval: ${permission.reason || `${permission.by} requires your approval.`}` }
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
      const result = copyAsJson({ response: outcome.structured ?? outcome.content });
      const resultFields =
        outcome.isError === true
          ? { error: String(result.response), is_interrupt: signal.aborted }
          : { tool_response: result.response };
      const verdict = await hooks.fire(event, { ...fields, ...resultFields }, signal);
      return {
        ...(verdict.context === undefined ? {} : { context: verdict.context }),
        ...(verdict.updatedToolOutput === undefined
          ? {}
          : { outcome: { ...outcome, content: stringify(verdict.updatedToolOutput) } }),
        ...omitUndefined({ block: verdict.blocked, stop: verdict.stop }),
      };
    },
    async onStop({ messages, stopHookActive }, signal) {
      if (!hooks.has(stopEvent)) return { kind: 'pass' };
      const fields = {
        stop_hook_active: stopHookActive,
        last_assistant_message: getLastReply(messages),
        ...stopFields,
      };
      const verdict = await hooks.fire(stopEvent, fields, signal);
      if (verdict.stop !== undefined) return { kind: 'prevent', words: verdict.stop };
      return verdict.blocked === undefined ? { kind: 'pass' } : { kind: 'reject', words: verdict.blocked };
    },
    async onPrompt(prompt, signal) {
      if (!hooks.has('UserPromptSubmit')) return { kind: 'go' };
      const verdict = await hooks.fire('UserPromptSubmit', { prompt }, signal);
      const reason = verdict.blocked ?? verdict.stop;
      if (reason !== undefined) return { kind: 'block', words: reason };
      return verdict.context === undefined ? { kind: 'go' } : { kind: 'go', context: verdict.context };
    },
    async onApproval({ tool, input }, signal) {
      if (!hooks.has('PermissionRequest')) return undefined;
      const verdict = await hooks.fire('PermissionRequest', { tool_name: tool, tool_input: input }, signal);
      const { permission, blocked } = verdict;
      if (blocked !== undefined) return { behavior: 'deny', by: 'hook', message: blocked };
      if (permission?.decision === 'deny') return { behavior: 'deny', by: 'hook', message: permission.reason };
      if (permission?.decision !== 'allow') return undefined;
      return {
        behavior: 'allow',
        ...(verdict.updatedInput === undefined ? {} : { updatedInput: { ...input, ...verdict.updatedInput } }),
      };
    },
    onQuestion: async (question, ask, signal) =>
      question.kind === 'elicitation' ? askElicitationHooks(hooks, question, ask, signal) : ask(),
    async beforeCompact({ trigger, focus }, signal) {
      if (!hooks.has('PreCompact')) return { ok: true };
      const fields = { trigger: trigger === 'manual' ? 'manual' : 'auto', custom_instructions: focus ?? '' };
      const verdict = await hooks.fire('PreCompact', fields, signal);
      const why = verdict.blocked ?? verdict.stop;
      if (why !== undefined) return { ok: false, why };
      return verdict.context === undefined ? { ok: true } : { ok: true, focus: verdict.context };
    },
  };
}

/** Asks Elicitation hooks to answer the question of a server first; ElicitationResult hooks can change the answer. */
async function askElicitationHooks(
  hooks: HookDispatcher,
  { server, message, wants }: Extract<UserQuestion, { kind: 'elicitation' }>,
  ask: () => Promise<UserAnswer | undefined>,
  signal: AbortSignal,
): Promise<UserAnswer | undefined> {
  const idField = wants.mode === 'url' ? { elicitation_id: wants.id } : {};
  const fields = { mcp_server_name: server, mode: wants.mode, ...idField };
  const requestFields = wants.mode === 'url' ? { url: wants.url } : { requested_schema: wants.schema };
  const before = hooks.has('Elicitation')
    ? await hooks.fire('Elicitation', { ...fields, message, ...requestFields }, signal)
    : undefined;
  const answer: UserAnswer | undefined =
    before?.elicited === undefined
      ? before?.blocked === undefined
        ? await ask()
        : { kind: 'elicitation', action: 'decline' }
      : { kind: 'elicitation', ...before.elicited };
  if (answer?.kind !== 'elicitation' || !hooks.has('ElicitationResult')) return answer;
  const { action, content = {} } = answer;
  const after = await hooks.fire('ElicitationResult', { ...fields, action, content }, signal);
  if (after.blocked !== undefined) return { kind: 'elicitation', action: 'decline' };
  return after.elicited === undefined ? answer : { kind: 'elicitation', ...after.elicited };
}

function stringify(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function getLastReply(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'assistant');
  return last?.role === 'assistant' ? joinTextBlocks(last.blocks, '\n') : '';
}

/** Creates the feature of the hooks; `onDenial` is told of the calls that they deny. */
export function createHooksFeature(
  { onPrompt, beforeCall, ...hooks }: LoopHooks,
  onDenial: (request: CallRequest, reason: string) => void,
): Feature {
  return {
    name: 'hooks',
    // The prompt of an automatic turn was typed by nobody, so there is nothing to refuse.
    onPrompt: async (prompt, signal, origin) => (origin === 'background' ? { kind: 'go' } : onPrompt(prompt, signal)),
    async beforeCall(request, signal) {
      const verdict = await beforeCall(request, signal);
      const reason = verdict.deny ?? verdict.stop;
      if (reason !== undefined) onDenial(request, reason);
      return verdict;
    },
    ...hooks,
  };
}
