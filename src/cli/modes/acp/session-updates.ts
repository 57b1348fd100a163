import type { SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk/unstable';
import type { DiffHunk, Display } from '../../../contracts/display.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { CommandInfo } from '../../../contracts/frontend/command.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import { isJsonObject, type JsonValue } from '../../../contracts/json.ts';
import type { AssistantBlock, Message, ToolResultBlock, UserBlock } from '../../../contracts/message.ts';
import { isSystemReminder } from '../../../lib/text/reminder.ts';
import { listCallLocations, listProposedEdits } from '../../../tools/touched-files.ts';

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

/** Creates the update that lists the commands of a session. */
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
    content: convertProposedEditToAcp(block.name, block.input),
    locations: [...listCallLocations({ tool: block.name, input: block.input })],
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

const TOOL_KINDS: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  Edit: 'edit',
  MultiEdit: 'edit',
  ApplyPatch: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Grep: 'search',
  Glob: 'search',
  Bash: 'execute',
  BashOutput: 'execute',
  KillShell: 'execute',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  Task: 'think',
  ExitPlanMode: 'switch_mode',
};

/** Returns the ACP kind of a tool, by which the editor chooses an icon. */
export function getAcpToolKind(tool: string): ToolKind {
  return TOOL_KINDS[tool] ?? 'other';
}

/** Returns true for tools that run a command in the foreground. */
export function isCommandTool(tool: string): boolean {
  return tool === 'Bash';
}

/** Returns the change an edit call proposes, as far as its input shows. */
export function convertProposedEditToAcp(tool: string, input: JsonValue): ToolCallContent[] {
  const [location] = listCallLocations({ tool, input });
  if (getAcpToolKind(tool) !== 'edit' || location === undefined || !isJsonObject(input)) return [];
  return listProposedEdits(input).map(({ before = null, after }) => ({
    type: 'diff',
    path: location.path,
    oldText: before,
    newText: after,
  }));
}

/** Converts a diff display to one content item per hunk; returns `undefined` for other displays. */
export function convertDiffToAcp(display: Display | undefined): ToolCallContent[] | undefined {
  if (display?.kind !== 'diff') return undefined;
  const { path, created } = display;
  return display.hunks.map((hunk) => ({
    type: 'diff',
    path: hunk.path ?? path,
    oldText: created ? null : joinLines(hunk, 'del'),
    newText: joinLines(hunk, 'add'),
  }));
}

/** Returns the result of a call: a diff for file changes, otherwise the text the model got. */
function createAcpResultContent(result: ToolResultBlock, display: Display | undefined): ToolCallContent[] {
  const diff = convertDiffToAcp(display);
  if (diff !== undefined) return diff;
  const parts = typeof result.content === 'string' ? [{ type: 'text' as const, text: result.content }] : result.content;
  return parts.flatMap((part): ToolCallContent[] => {
    if (part.type === 'text') return [{ type: 'content', content: { type: 'text', text: part.text } }];
    if (part.type === 'document') return [];
    const { data, media_type: mimeType } = part.source;
    return [{ type: 'content', content: { type: 'image', data, mimeType } }];
  });
}

function joinLines(hunk: DiffHunk, side: 'add' | 'del'): string {
  return hunk.lines
    .filter(({ kind }) => kind === 'same' || kind === side)
    .map(({ text }) => `${text}\n`)
    .join('');
}
