import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation, UsageReport } from '../../contracts/face/conversation.ts';
import { wireUsage } from '../../contracts/face/wire.ts';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { StopReason, Usage } from '../../contracts/message.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import { NO_ANSWER, nextAnswer } from './answer.ts';

/** What a run leaves behind for its result line: gathered from events, read once at the end. */
export type RunRecord = {
  hear(event: AgentEvent): void;
  /** `words` stand for the answer when no model was asked. */
  result(terminal: Terminal, words?: string): JsonObject;
  /** What stands of an answer that broke off: nothing of what was said before earlier calls. */
  unfinished(): string;
};

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function createRunRecord(conversation: Conversation, now: () => number): RunRecord {
  const deniedBefore = conversation.info().permissionDenials.length;
  const startedAtMs = now();
  let answer = NO_ANSWER;
  let turns = 0;
  let stopReason: StopReason | undefined;
  let firstTokenMs: number | undefined;
  let apiMs = 0;
  let usage = NO_USAGE;

  function result(terminal: Terminal, words?: string): JsonObject {
    const report = conversation.usage();
    const info = conversation.info();
    const verdict = verdictOf(terminal, words ?? answer.text);
    return {
      type: 'result',
      ...verdict,
      duration_ms: now() - startedAtMs,
      duration_api_ms: apiMs,
      ...(firstTokenMs === undefined ? {} : { ttft_ms: firstTokenMs }),
      num_turns: turns,
      stop_reason: stopReason ?? null,
      total_cost_usd: report.costUsd,
      usage: wireUsage(usage),
      modelUsage: modelUsage(report),
      permission_denials: info.permissionDenials.slice(deniedBefore).map((denial) => ({
        tool_name: denial.tool,
        tool_use_id: denial.callId,
        tool_input: denial.input,
        reason: denial.reason,
      })),
      ...(terminal.structuredOutput === undefined ? {} : { structured_output: terminal.structuredOutput }),
      terminal_reason: terminal.reason,
      session_id: info.sessionId,
    };
  }

  return {
    hear(event) {
      answer = nextAnswer(answer, event);
      switch (event.type) {
        case 'turn_end':
          apiMs += event.durationMs;
          firstTokenMs ??= event.firstTokenMs;
          stopReason = event.stopReason ?? stopReason;
          if (event.usage !== undefined) usage = add(usage, event.usage);
          return;
        case 'message_end':
          if (event.message.role === 'assistant') turns += 1;
          return;
        default:
      }
    },
    result,
    unfinished: () => answer.pieces,
  };
}

/** The result of a run that could not begin. */
export function neverBegan(words: string, newId: () => string): JsonObject {
  return {
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    errors: [words],
    duration_ms: 0,
    duration_api_ms: 0,
    num_turns: 0,
    stop_reason: null,
    total_cost_usd: 0,
    usage: wireUsage(NO_USAGE),
    modelUsage: {},
    permission_denials: [],
    session_id: newId(),
    uuid: newId(),
  };
}

/** Subtype, `is_error`, terminal reason and exit code tell one story. */
function verdictOf(terminal: Terminal, text: string): JsonObject {
  const words = terminal.words ?? `The run ended: ${terminal.reason}.`;
  switch (terminal.reason) {
    case 'completed':
      return {
        subtype: 'success',
        is_error: false,
        result: terminal.structuredOutput === undefined ? text : resultText(terminal.structuredOutput, text),
      };
    case 'stop_hook_prevented':
    case 'hook_stopped':
      return { subtype: 'success', is_error: false, result: text === '' ? words : text, stop_notice: words };
    case 'max_turns':
      return { subtype: 'error_max_turns', is_error: true, errors: [words] };
    case 'budget_exhausted':
      return { subtype: 'error_max_budget_usd', is_error: true, errors: [words] };
    case 'structured_output_failed':
      return { subtype: 'error_max_structured_output_retries', is_error: true, errors: [words] };
    case 'aborted_streaming':
    case 'aborted_tools':
    case 'model_error':
      return { subtype: 'error_during_execution', is_error: true, errors: [words] };
    case 'max_output_tokens':
      return { subtype: 'success', is_error: true, result: text === '' ? words : text, errors: [words] };
    default: {
      const retryAfterMs = terminal.failure?.retryAfterMs ?? terminal.failure?.resetsAfterMs;
      // Hosts read an API error as a success that is an error; the words are in `result`.
      return {
        subtype: 'success',
        is_error: true,
        result: words,
        errors: [words],
        ...(terminal.failure?.status === undefined ? {} : { api_error_status: terminal.failure.status }),
        ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.round(retryAfterMs) }),
      };
    }
  }
}

/** What each model took, in the names hosts know. */
export function modelUsage(report: UsageReport): JsonObject {
  return Object.fromEntries(
    report.models.map(({ model, usage, costUsd, contextWindow, maxOutputTokens }) => [
      model,
      {
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        cacheReadInputTokens: usage.cacheReadTokens,
        cacheCreationInputTokens: usage.cacheWriteTokens,
        webSearchRequests: usage.webSearches ?? 0,
        costUSD: costUsd ?? 0,
        contextWindow,
        maxOutputTokens,
      },
    ]),
  );
}

function resultText(structured: JsonValue, text: string): string {
  return text === '' ? JSON.stringify(structured) : text;
}

function add(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    webSearches: (a.webSearches ?? 0) + (b.webSearches ?? 0),
  };
}
