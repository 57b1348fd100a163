import type { Display } from '../../../../src/contracts/display.ts';
import type { AgentEvent } from '../../../../src/contracts/event.ts';
import type { JsonObject } from '../../../../src/contracts/json.ts';
import type { UserMessage } from '../../../../src/contracts/message.ts';
import type { ModelFailure } from '../../../../src/contracts/model.ts';
import type { PermissionRequest } from '../../../../src/contracts/permission.ts';
import type { TerminalReason } from '../../../../src/contracts/terminal-reason.ts';
import type { ToolProgress, UserQuestion } from '../../../../src/contracts/tool.ts';

/** Short names for what an agent tells. */
export const begins = (): AgentEvent => ({ type: 'agent_start' });

export const asked = (text: string, id = `u-${text}`): AgentEvent => ({
  type: 'message_end',
  message: { role: 'user', id, origin: 'prompt', blocks: [{ type: 'text', text }] },
});

export const grows = (delta: string, messageId = 'm1', index = 0): AgentEvent => ({
  type: 'message_update',
  messageId,
  index,
  kind: 'text',
  delta,
});

export const opens = (kind: 'text' | 'thinking' | 'tool_use', name?: string): AgentEvent => ({
  type: 'block_start',
  messageId: 'm1',
  index: 0,
  kind,
  ...(name === undefined ? {} : { name }),
});

export const said = (text: string, messageId = 'm1', index = 0): AgentEvent => ({
  type: 'block_end',
  messageId,
  index,
  model: 'sonnet-5',
  block: { type: 'text', text },
});

export const starts = (
  callId: string,
  tool: string,
  title: string,
  input: JsonObject = {},
): Extract<AgentEvent, { type: 'tool_start' }> => ({
  type: 'tool_start',
  callId,
  tool,
  title,
  input,
  messageId: 'm1',
});

export const reports = (callId: string, progress: ToolProgress): AgentEvent => ({
  type: 'tool_update',
  callId,
  progress,
});

export const ends = (
  callId: string,
  tool: string,
  more: {
    readonly status?: 'done' | 'failed' | 'denied' | 'interrupted';
    readonly text?: string;
    readonly display?: Display;
    readonly durationMs?: number;
  } = {},
): AgentEvent => ({
  type: 'tool_end',
  callId,
  tool,
  result: { type: 'tool_result', tool_use_id: callId, content: more.text ?? '' },
  status: more.status ?? 'done',
  durationMs: more.durationMs ?? 0,
  ...(more.display === undefined ? {} : { display: more.display }),
});

export const over = (
  reason: TerminalReason = 'completed',
  failure?: ModelFailure,
): Extract<AgentEvent, { type: 'agent_end' }> => ({
  type: 'agent_end',
  terminal: { reason, ...(failure === undefined ? {} : { failure }) },
  durationMs: 0,
});

export const queued = (
  id: string,
  lane: 'next' | 'after',
  text: string,
  more: Partial<UserMessage> = {},
): AgentEvent => ({
  type: 'queue',
  state: 'queued',
  item: { id, lane, message: { role: 'user', id, origin: 'steer', blocks: [{ type: 'text', text }], ...more } },
});

export const fails = (attempt: number, delayMs: number, failure: ModelFailure): AgentEvent => ({
  type: 'retry',
  attempt,
  limit: 10,
  delayMs,
  failure,
});

/** A question about a call; `kind` and the input make the difference. */
export function permission(
  callId: string,
  toolName: string,
  facts: Partial<PermissionRequest['facts']>,
  more: Partial<PermissionRequest> = {},
): AgentEvent {
  return {
    type: 'permission_request',
    request: {
      id: `ask-${callId}`,
      callId,
      toolName,
      title: toolName,
      facts: { tool: toolName, input: {}, kind: 'other', ...facts },
      reasons: [],
      targets: [],
      suggestions: [],
      trace: [],
      danger: 'none',
      concealed: 'none',
      ...more,
    },
  };
}

export const asks = (callId: string, question: UserQuestion): AgentEvent => ({
  type: 'question',
  id: `ask-${callId}`,
  callId,
  question,
});
