import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import type { AgentEvent } from '../../contracts/event.ts';
import type { CommandInfo } from '../../contracts/face/command.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { AssistantBlock, Message, UserBlock } from '../../contracts/message.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';
import { locationsOf, proposedContent, resultContent, toolKindOf } from './tool-content.ts';

/** What an editor is sent for an event; for most events nothing. */
export function updatesOf(event: AgentEvent): readonly SessionUpdate[] {
  switch (event.type) {
    case 'message_update':
      if (event.kind === 'input') return [];
      return [event.kind === 'text' ? said(event.delta) : thought(event.delta)];
    case 'block_end':
      return event.block.type === 'tool_use' ? [announced(event.block)] : [];
    case 'subagent':
      return updatesOf(event.event).flatMap((update) => nested(update, event.callId));
    case 'tool_start':
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: event.callId,
          status: 'in_progress',
          title: event.title,
          kind: toolKindOf(event.tool),
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
      const ended = toolEnded(event.result, event.display);
      return event.display?.kind === 'todo' ? [ended, planOf(event.display.todos)] : [ended];
    }
    case 'tombstone':
      // What was shown cannot be taken back, only disowned.
      return [said(`\n\n_${event.why}_\n\n`)];
    case 'mode':
      return [{ sessionUpdate: 'current_mode_update', currentModeId: event.mode }];
    case 'notice':
      // What ended in the background is why a run begins that nobody asked for.
      return event.level === 'info' && event.topic !== 'background' ? [] : [thought(`${event.text}\n`)];
    default:
      return [];
  }
}

/** A call of a sub-agent, marked as one of the call that started it; its words stay its own. */
function nested(update: SessionUpdate, parent: string): readonly SessionUpdate[] {
  if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return [];
  const outer = update._meta?.parentToolCallId;
  // Of several levels the nearest one counts.
  const parentToolCallId = typeof outer === 'string' ? outer : parent;
  return [
    { ...update, _meta: { ...update._meta, parentToolCallId, claudeCode: { parentToolUseId: parentToolCallId } } },
  ];
}

/** The updates of a stored conversation, for an editor that opens it. */
export function replayOf(messages: readonly Message[]): readonly SessionUpdate[] {
  return messages.flatMap((message) => {
    if (message.role === 'assistant') return message.blocks.flatMap(replayedBlock);
    if (message.role !== 'user') return [];
    const typed = message.origin === 'prompt' || message.origin === 'steer' || message.origin === 'follow_up';
    return message.blocks.flatMap((block): readonly SessionUpdate[] => {
      if (block.type === 'tool_result') return [toolEnded(block, undefined)];
      return typed && block.type === 'text' && !isReminder(block.text) ? [userSaid(block)] : [];
    });
  });
}

export function commandsUpdate(commands: readonly CommandInfo[]): SessionUpdate {
  return {
    sessionUpdate: 'available_commands_update',
    availableCommands: commands.map(({ name, description, argumentHint }) => ({
      name,
      description,
      ...(argumentHint === undefined ? {} : { input: { hint: argumentHint } }),
    })),
  };
}

/** How full the window is, and what the session has cost. */
export function usageUpdate(conversation: Conversation): SessionUpdate {
  const { contextTokens, modelInfo } = conversation.info();
  const cost = { amount: conversation.usage().costUsd, currency: 'USD' };
  return { sessionUpdate: 'usage_update', used: contextTokens, size: modelInfo.contextWindow, cost };
}

export const said = (text: string): SessionUpdate => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
});

const thought = (text: string): SessionUpdate => ({
  sessionUpdate: 'agent_thought_chunk',
  content: { type: 'text', text },
});

const userSaid = ({ text }: Extract<UserBlock, { type: 'text' }>): SessionUpdate => ({
  sessionUpdate: 'user_message_chunk',
  content: { type: 'text', text },
});

function replayedBlock(block: AssistantBlock): readonly SessionUpdate[] {
  if (block.type === 'text') return [said(block.text)];
  if (block.type === 'thinking') return [thought(block.thinking)];
  return block.type === 'tool_use' ? [announced(block)] : [];
}

function announced(block: Extract<AssistantBlock, { type: 'tool_use' }>): SessionUpdate {
  return {
    sessionUpdate: 'tool_call',
    toolCallId: block.id,
    title: block.name,
    name: block.name,
    kind: toolKindOf(block.name),
    status: 'pending',
    content: proposedContent(block.name, block.input),
    locations: locationsOf(block.input),
    rawInput: block.input,
  };
}

type ToolEnd = Extract<AgentEvent, { type: 'tool_end' }>;

function toolEnded(result: ToolEnd['result'], display: ToolEnd['display']): SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: result.tool_use_id,
    status: result.is_error === true ? 'failed' : 'completed',
    content: resultContent(result, display),
  };
}

function planOf(
  todos: readonly { readonly content: string; readonly status: 'pending' | 'in_progress' | 'completed' }[],
) {
  return {
    sessionUpdate: 'plan' as const,
    entries: todos.map(({ content, status }) => ({ content, status, priority: 'medium' as const })),
  };
}
