import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { FailureKind } from '../../contracts/model.ts';

/** Formats an event that is neither a message nor a result: retries, compaction, status, notices, hooks, … */
export function createStreamJsonSystemLines(
  event: AgentEvent,
  options: { readonly hookEvents: boolean },
): readonly JsonObject[] {
  const line = formatSystemEvent(event, options);
  return line === undefined ? [] : [{ type: 'system', ...line }];
}

function formatSystemEvent(event: AgentEvent, options: { readonly hookEvents: boolean }): JsonObject | undefined {
  switch (event.type) {
    case 'retry':
      return {
        subtype: 'api_retry',
        attempt: event.attempt,
        max_retries: event.limit,
        retry_delay_ms: event.delayMs,
        error_status: event.failure.status ?? null,
        error: getSdkErrorName(event.failure.kind),
      };
    case 'compacted': {
      const trigger = event.boundary.trigger === 'manual' ? 'manual' : 'auto';
      return { subtype: 'compact_boundary', compact_metadata: { trigger, pre_tokens: event.boundary.preTokens } };
    }
    case 'status': {
      const isSdkStatus = event.status === 'compacting' || event.status === 'requesting';
      return { subtype: 'status', status: isSdkStatus ? event.status : null, ouro_status: event.status };
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
        message: formatDenialReasons(event.trace),
        trace: event.trace,
      };
    case 'hook':
      if (!options.hookEvents) return undefined;
      return {
        subtype: `hook_${event.phase}`,
        hook_event: event.event,
        hook_name: event.name,
        ...formatHookDetail(event.detail),
      };
    default:
      return undefined;
  }
}

/** Converts a hook outcome to the fields of the SDK; `ouro_outcome` keeps the exact one. */
function formatHookDetail({ outcome, words, ...detail }: JsonObject): JsonObject {
  if (outcome === undefined) return detail;
  const sdkOutcome = outcome === 'passed' ? 'success' : 'error';
  return { ...detail, outcome: sdkOutcome, ouro_outcome: outcome, output: words ?? '', stdout: '', stderr: '' };
}

/** Joins the texts of all trace steps that did not allow the call, in order. */
function formatDenialReasons(trace: JsonValue): string {
  const steps = Array.isArray(trace) ? trace : [];
  const reasons = steps.flatMap((step) => {
    if (typeof step === 'string') return [step];
    return isJsonObject(step) && typeof step.text === 'string' && step.verdict !== 'allow' ? [step.text] : [];
  });
  return reasons.length === 0 ? 'The call was denied.' : reasons.join(' ');
}

/** Returns the SDK name of an API failure. */
export function getSdkErrorName(kind: FailureKind): string {
  switch (kind) {
    case 'auth':
      return 'authentication_failed';
    case 'no_credit':
      return 'billing_error';
    case 'rate_limited':
      return 'rate_limit';
    case 'not_found':
      return 'model_not_found';
    case 'invalid':
    case 'too_long':
    case 'media_too_large':
      return 'invalid_request';
    case 'overloaded':
    case 'server':
      return 'server_error';
    default:
      return 'unknown';
  }
}

/** Creates the `system/init` line, the first line of each run: model, tools, servers, commands and settings. */
export function createStreamJsonInitLine(conversation: Conversation): JsonObject {
  const info = conversation.info();
  return {
    type: 'system',
    subtype: 'init',
    cwd: info.cwd,
    session_id: info.sessionId,
    tools: info.tools,
    mcp_servers: info.mcpServers.map(({ name, status }) => ({ name, status })),
    model: info.model,
    permissionMode: info.mode,
    slash_commands: conversation.commands().map((command) => command.name),
    agents: info.agents,
    skills: info.skills,
    plugins: info.plugins,
    apiKeySource: info.apiKeySource,
    output_style: info.outputStyle,
    claude_code_version: '2.1.197',
    ouro_version: info.version,
  };
}
