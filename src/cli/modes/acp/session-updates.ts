import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { CommandInfo } from '../../../contracts/frontend/command.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { AssistantBlock, Message, UserBlock } from '../../../contracts/message.ts';
import { isSystemReminder } from '../../../lib/text/reminder.ts';
import { createAcpResultContent, createProposedDiff, getAcpCallLocations, getAcpToolKind } from './tool-content.ts';

/** Converts an event to ACP session updates; most events have none. */
export function convertEventToAcp(event: AgentEvent): readonly SessionUpdate[] {
  switch (event.type) {
    case 'message_update':
      if (event.kind === 'input') return [];
      return [event.kind === 'text' ? createAcpTextUpdate(event.delta) : createThoughtUpdate(event.delta)];
    case 'block_end':
      return event.block.type === 'tool_use' ? [createToolCall(event.block)] : [];
    case 'subagent':
      return convertEventToAcp(event.event).flatMap((update) => nestUnderCall(update, event.callId));
    case 'tool_start':
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: event.callId,
          status: 'in_progress',
          title: event.title,
          kind: getAcpToolKind(event.tool),
        },
      ];
    case 'tool_update':
      if (event.progress.kind !== 'output') return [];
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: event.callId,
          content: [{ type: 'content', content: { type: 'text', text: event.progress.tail.join('\n') } }],
        },
      ];
    case 'tool_end': {
      const ended = createToolResult(event.result, event.display);
      return event.display?.kind === 'todo' ? [ended, createPlan(event.display.todos)] : [ended];
    }
    case 'tombstone':
      // Text that was sent cannot be removed, only marked as discarded.
      return [createAcpTextUpdate(`\n\n_${event.why}_\n\n`)];
    case 'mode':
      return [{ sessionUpdate: 'current_mode_update', currentModeId: event.mode }];
    case 'notice':
      // A notice about a background task explains why the agent starts a run itself.
      return event.level === 'info' && event.topic !== 'background' ? [] : [createThoughtUpdate(`${event.text}\n`)];
    default:
      return [];
  }
}

/** Marks tool calls of a sub-agent with the call that started it; its text is not sent. */
function nestUnderCall(update: SessionUpdate, parent: string): readonly SessionUpdate[] {
  if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return [];
  const outer = update._meta?.parentToolCallId;
  // With nested sub-agents the innermost call wins.
  const parentToolCallId = typeof outer === 'string' ? outer : parent;
  return [
    { ...update, _meta: { ...update._meta, parentToolCallId, claudeCode: { parentToolUseId: parentToolCallId } } },
  ];
}

/** Converts the messages of a stored session to updates. */
export function convertMessagesToAcp(messages: readonly Message[]): readonly SessionUpdate[] {
  return messages.flatMap((message) => {
    if (message.role === 'assistant') return message.blocks.flatMap(replayBlock);
    if (message.role !== 'user') return [];
    const isTyped = message.origin === 'prompt' || message.origin === 'steer' || message.origin === 'follow_up';
    return message.blocks.flatMap((block): readonly SessionUpdate[] => {
      if (block.type === 'tool_result') return [createToolResult(block, undefined)];
      return isTyped && block.type === 'text' && !isSystemReminder(block.text) ? [createUserUpdate(block)] : [];
    });
  });
}

export function createAcpCommandsUpdate(commands: readonly CommandInfo[]): SessionUpdate {
  return {
    sessionUpdate: 'available_commands_update',
    availableCommands: commands.map(({ name, description, argumentHint }) => ({
      name,
      description,
      ...(argumentHint === undefined ? {} : { input: { hint: argumentHint } }),
    })),
  };
}

/** Creates the update of the context usage and the cost of the session. */
export function createAcpUsageUpdate(conversation: Conversation): SessionUpdate {
  const { contextTokens, modelInfo } = conversation.info();
  const { costUsd, isComplete } = conversation.usage();
  const isKnown = isComplete || costUsd > 0;
  const cost = isKnown ? { cost: { amount: costUsd, currency: 'USD' } } : {};
  return { sessionUpdate: 'usage_update', used: contextTokens, size: modelInfo.contextWindow, ...cost };
}

/** Creates a chunk of agent text. */
export const createAcpTextUpdate = (text: string): SessionUpdate => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
});

const createThoughtUpdate = (text: string): SessionUpdate => ({
  sessionUpdate: 'agent_thought_chunk',
  content: { type: 'text', text },
});

const createUserUpdate = ({ text }: Extract<UserBlock, { type: 'text' }>): SessionUpdate => ({
  sessionUpdate: 'user_message_chunk',
  content: { type: 'text', text },
});

function replayBlock(block: AssistantBlock): readonly SessionUpdate[] {
  if (block.type === 'text') return [createAcpTextUpdate(block.text)];
  if (block.type === 'thinking') return [createThoughtUpdate(block.thinking)];
  return block.type === 'tool_use' ? [createToolCall(block)] : [];
}

function createToolCall(block: Extract<AssistantBlock, { type: 'tool_use' }>): SessionUpdate {
  return {
    sessionUpdate: 'tool_call',
    toolCallId: block.id,
    title: block.name,
    name: block.name,
    kind: getAcpToolKind(block.name),
    status: 'pending',
    content: createProposedDiff(block.name, block.input),
    locations: getAcpCallLocations(block.input),
    rawInput: block.input,
  };
}

type ToolEnd = Extract<AgentEvent, { type: 'tool_end' }>;

function createToolResult(result: ToolEnd['result'], display: ToolEnd['display']): SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: result.tool_use_id,
    status: result.is_error === true ? 'failed' : 'completed',
    content: createAcpResultContent(result, display),
  };
}

function createPlan(
  todos: readonly { readonly content: string; readonly status: 'pending' | 'in_progress' | 'completed' }[],
) {
  return {
    sessionUpdate: 'plan' as const,
    entries: todos.map(({ content, status }) => ({ content, status, priority: 'medium' as const })),
  };
}
