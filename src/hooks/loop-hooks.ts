import type { LoopHooks } from '../contracts/hook.ts';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import type { Message } from '../contracts/message.ts';
import type { BeforeCall } from '../contracts/query.ts';
import { asJson } from '../lib/as-json.ts';
import type { HookFire } from './create-hooks.ts';

/** `Stop` for the main conversation, `SubagentStop` for a sub-agent, with whose stop it is; all else is the same for both. */
export function loopHooks(hooks: HookFire, stop: 'Stop' | 'SubagentStop', whose: JsonObject = {}): LoopHooks {
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
        ...whose,
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

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lastWords(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'assistant');
  return last?.role === 'assistant'
    ? last.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
    : '';
}
