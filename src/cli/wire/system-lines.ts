import type { AgentEvent } from '../../contracts/event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { errorName } from './synthetic.ts';

/** Everything that is neither a reply nor a result: what goes on around them. */
export function systemLines(event: AgentEvent, options: { readonly hookEvents: boolean }): readonly JsonObject[] {
  const line = lineOf(event, options);
  return line === undefined ? [] : [{ type: 'system', ...line }];
}

function lineOf(event: AgentEvent, options: { readonly hookEvents: boolean }): JsonObject | undefined {
  switch (event.type) {
    case 'retry':
      return {
        subtype: 'api_retry',
        attempt: event.attempt,
        max_retries: event.limit,
        retry_delay_ms: event.delayMs,
        error_status: event.failure.status ?? null,
        error: errorName(event.failure.kind),
      };
    case 'compacted': {
      const trigger = event.boundary.trigger === 'manual' ? 'manual' : 'auto';
      return { subtype: 'compact_boundary', compact_metadata: { trigger, pre_tokens: event.boundary.preTokens } };
    }
    case 'status': {
      const known = event.status === 'compacting' || event.status === 'requesting';
      return { subtype: 'status', status: known ? event.status : null, ouro_status: event.status };
    }
    case 'queue': {
      const { lane, message } = event.item;
      return { subtype: 'queue', state: event.state, lane, message_uuid: message.id };
    }
    case 'mode':
      return { subtype: 'status', status: null, permissionMode: event.mode };
    case 'transition':
      return { subtype: 'transition', reason: event.reason, turn: event.turn };
    case 'agent_end':
      return { subtype: 'transition', reason: event.terminal.reason, terminal: true };
    case 'recovery_start':
      return { subtype: 'recovery_start', recovery: event.recovery, cause: event.cause };
    case 'recovery_end': {
      const detail = event.detail === undefined ? {} : { detail: event.detail };
      return { subtype: 'recovery_end', recovery: event.recovery, outcome: event.outcome, ...detail };
    }
    case 'tombstone':
      return { subtype: 'tombstone', message_id: event.messageId, why: event.why };
    case 'notice': {
      const priority = event.level === 'error' ? 'immediate' : event.level === 'warn' ? 'high' : 'low';
      return { subtype: 'notification', key: event.topic ?? 'notice', text: event.text, priority, level: event.level };
    }
    case 'elicitation_complete':
      return { subtype: 'elicitation_complete', mcp_server_name: event.server, elicitation_id: event.id };
    case 'permission_decision':
      if (event.verdict !== 'deny') return undefined;
      return {
        subtype: 'permission_denied',
        tool_name: event.tool,
        tool_use_id: event.callId,
        tool_input: event.input,
        message: againstWords(event.trace),
        trace: event.trace,
      };
    case 'hook':
      if (!options.hookEvents) return undefined;
      return {
        subtype: `hook_${event.phase}`,
        hook_event: event.event,
        hook_name: event.name,
        ...hookDetail(event.detail),
      };
    default:
      return undefined;
  }
}

/** What a hook said, in the fields hosts know; how it ended in ours too. */
function hookDetail({ outcome, words, ...detail }: JsonObject): JsonObject {
  if (outcome === undefined) return detail;
  const known = outcome === 'passed' ? 'success' : 'error';
  return { ...detail, outcome: known, ouro_outcome: outcome, output: words ?? '', stdout: '', stderr: '' };
}

/** Every step that spoke against the call, in the order they were looked at. */
function againstWords(trace: JsonValue): string {
  const steps = Array.isArray(trace) ? trace : [];
  const words = steps.flatMap((step) => {
    if (typeof step === 'string') return [step];
    return isJsonObject(step) && typeof step.text === 'string' && step.verdict !== 'allow' ? [step.text] : [];
  });
  return words.length === 0 ? 'The call was denied.' : words.join(' ');
}
