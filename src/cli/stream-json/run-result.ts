import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation, UsageReport } from '../../contracts/frontend/conversation.ts';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock, StopReason, Usage, UserOrigin } from '../../contracts/message.ts';
import type { Terminal } from '../../contracts/terminal-reason.ts';
import { encodeUsage } from '../../contracts/wire-format.ts';

/** The totals of a run, collected from its events for the result line. */
export type RunResultCollector = ReturnType<typeof createRunResultCollector>;

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Creates the record of a run that starts now. */
export function createRunResultCollector(conversation: Conversation, now: () => number) {
  const deniedBefore = conversation.info().permissionDenials.length;
  const startedAtMs = now();
  let answer = NO_ANSWER;
  let turns = 0;
  let isAnswerComplete = false;
  let stopReason: StopReason | undefined;
  let firstTokenMs: number | undefined;
  let apiMs = 0;
  let usage = NO_USAGE;

  /** Creates the result line. `commandText` replaces the answer when a slash command answered without the model. */
  function createResultLine(terminal: Terminal, commandText?: string): JsonObject {
    const report = conversation.usage();
    const info = conversation.info();
    const verdict = createVerdict(terminal, commandText ?? answer.text);
    return {
      type: 'result',
      ...verdict,
      duration_ms: now() - startedAtMs,
      duration_api_ms: apiMs,
      ...(firstTokenMs === undefined ? {} : { ttft_ms: firstTokenMs }),
      num_turns: turns,
      stop_reason: stopReason ?? null,
      total_cost_usd: report.costUsd,
      ...(report.isComplete ? {} : { cost_is_incomplete: true }),
      usage: encodeUsage(usage),
      modelUsage: describeModelUsage(report),
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
    handleEvent(event: AgentEvent) {
      answer = updateAnswer(answer, event);
      switch (event.type) {
        case 'turn_end':
          apiMs += event.durationMs;
          firstTokenMs ??= event.firstTokenMs;
          stopReason = event.stopReason ?? stopReason;
          if (event.usage !== undefined) usage = addUsage(usage, event.usage);
          return;
        case 'message_end':
          if (event.message.role === 'assistant') {
            turns += 1;
            isAnswerComplete = event.message.blocks.every(isFinal);
          }
          return;
        default:
      }
    },
    createResultLine,
    /** Text of an answer that broke off, without the text before earlier tool calls. */
    getPartialAnswer: (): string => answer.pieces,
    /** Tells whether the last reply has its end and no calls, also if the run was ended afterwards. */
    hasCompleteAnswer: (): boolean => isAnswerComplete,
  };
}

const isFinal = (block: AssistantBlock): boolean =>
  block.type !== 'tool_use' && !(block.type === 'text' && block.cut === true);

/** Creates the result line of a run that could not start. */
export function createStartFailureResult(error: string, newId: () => string): JsonObject {
  return {
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    errors: [error],
    duration_ms: 0,
    duration_api_ms: 0,
    num_turns: 0,
    stop_reason: null,
    total_cost_usd: 0,
    usage: encodeUsage(NO_USAGE),
    modelUsage: {},
    permission_denials: [],
    session_id: newId(),
    uuid: newId(),
  };
}

/** Must agree with the exit code of the same terminal reason. */
function createVerdict(terminal: Terminal, text: string): JsonObject {
  const message = terminal.words ?? `The run ended: ${terminal.reason}.`;
  switch (terminal.reason) {
    case 'completed':
      return {
        subtype: 'success',
        is_error: false,
        result: terminal.structuredOutput === undefined ? text : formatStructured(terminal.structuredOutput, text),
      };
    case 'stop_hook_prevented':
    case 'hook_stopped':
      return { subtype: 'success', is_error: false, result: text === '' ? message : text, stop_notice: message };
    case 'max_turns':
      return { subtype: 'error_max_turns', is_error: true, errors: [message] };
    case 'budget_exhausted':
      return { subtype: 'error_max_budget_usd', is_error: true, errors: [message] };
    case 'structured_output_failed':
      return { subtype: 'error_max_structured_output_retries', is_error: true, errors: [message] };
    case 'aborted_streaming':
    case 'aborted_tools':
    case 'model_error':
    case 'loop_detected':
      return { subtype: 'error_during_execution', is_error: true, errors: [message] };
    case 'max_output_tokens':
      return { subtype: 'success', is_error: true, result: text === '' ? message : text, errors: [message] };
    default: {
      const retryAfterMs = terminal.failure?.retryAfterMs ?? terminal.failure?.resetsAfterMs;
      // Hosts expect an API error as subtype `success` with `is_error`, and the message in `result`.
      return {
        subtype: 'success',
        is_error: true,
        result: message,
        errors: [message],
        ...(terminal.failure === undefined ? {} : { api_error_kind: terminal.failure.kind }),
        ...(terminal.failure?.status === undefined ? {} : { api_error_status: terminal.failure.status }),
        ...(terminal.failure?.isForeign === true ? { api_error_foreign: true } : {}),
        ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.round(retryAfterMs) }),
      };
    }
  }
}

/** Converts the usage per model to the field names of the SDK. */
export function describeModelUsage(report: UsageReport): JsonObject {
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

function formatStructured(structured: JsonValue, text: string): string {
  return text === '' ? JSON.stringify(structured) : text;
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    webSearches: (a.webSearches ?? 0) + (b.webSearches ?? 0),
  };
}

/** The answer of a run while its replies arrive. */
type Answer = {
  /** Text of the last complete reply, joined with the replies it continues after the output limit. */
  readonly text: string;
  /** Text of the replies that the current reply continues. */
  readonly pieces: string;
  /** Text of the reply that is still streaming. */
  readonly current: string;
};

/** The answer before the first reply. */
const NO_ANSWER: Answer = { text: '', pieces: '', current: '' };

/** Updates the answer with an event. The text of a reply counts once its message is complete. */
function updateAnswer(answer: Answer, event: AgentEvent): Answer {
  switch (event.type) {
    case 'message_start':
      return event.role === 'assistant' ? { ...answer, current: '' } : answer;
    case 'tombstone':
      return { ...answer, current: '' };
    case 'block_end':
      return event.block.type === 'text' ? { ...answer, current: answer.current + event.block.text } : answer;
    case 'message_end': {
      const { message } = event;
      if (message.role === 'user') return CONTINUING_ORIGINS.has(message.origin) ? answer : { ...answer, pieces: '' };
      const joined = answer.pieces + answer.current;
      return message.role === 'assistant' ? { text: joined, pieces: joined, current: '' } : answer;
    }
    default:
      return answer;
  }
}

/** Generated user messages after which the next reply continues the same answer. */
const CONTINUING_ORIGINS: ReadonlySet<UserOrigin> = new Set(['resume', 'interrupt']);
