import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type { Prompt } from '../../../contracts/agent.ts';
import type { Display } from '../../../contracts/display.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import { joinTextBlocks, type ToolResultBlock, type UserBlock } from '../../../contracts/message.ts';
import type { Terminal } from '../../../contracts/terminal-reason.ts';
import { exhaustive } from '../../../lib/errors.ts';
import { createGarbageCollectionListener } from '../collect-garbage.ts';
import { type ResolvedUserInput, runCommandOrExpandPrompt } from '../resolve-user-input.ts';
import { createAcpQuestionRelay } from './editor-questions.ts';
import { parseAcpPromptContent } from './prompt-content.ts';
import {
  convertEventToAcp,
  convertMessagesToAcp,
  createAcpCommandsUpdate,
  createAcpTextUpdate,
  createAcpUsageUpdate,
  isCommandTool,
} from './session-updates.ts';

/** A conversation driven by an editor. */
export type AcpSession = ReturnType<typeof createAcpSession>;

/** Connects a conversation with an editor. */
export function createAcpSession(conversation: Conversation, client: AgentContext, capabilities: ClientCapabilities) {
  const { agent } = conversation;
  const { sessionId } = agent;
  const addTerminals = createAcpTerminalUpdates(capabilities, () => conversation.info().cwd);
  const relayQuestion = createAcpQuestionRelay(agent, { client, sessionId, capabilities });
  let currentRun: Promise<Terminal> | undefined;
  let lastEnd: Terminal = { reason: 'completed' };

  const sendUpdate = (update: ReturnType<typeof createAcpTextUpdate>) =>
    client.notify('session/update', { sessionId, update });

  agent.subscribe(createGarbageCollectionListener());
  agent.subscribe(async (event) => {
    // The editor must know a tool call before the permission request for it.
    for (const update of addTerminals(event, convertEventToAcp(event))) await sendUpdate(update);
    relayQuestion(event);
    if (event.type !== 'agent_end') return;
    lastEnd = event.terminal;
    // A run the agent started itself has no prompt request that reports its usage.
    if (currentRun === undefined) await sendUpdate(createAcpUsageUpdate(conversation));
  });

  async function run(blocks: readonly ContentBlock[]): Promise<Terminal> {
    const input = await resolveEditorPrompt(conversation, blocks);
    if (input.kind === 'answer') {
      await sendUpdate(createAcpTextUpdate(input.text));
      return { reason: 'completed' };
    }
    if (currentRun !== undefined) {
      agent.steer(input.prompt);
      return currentRun;
    }
    currentRun = runAll([input.prompt]).finally(() => {
      currentRun = undefined;
    });
    return currentRun;
  }

  /** Prompts are steered into a run the agent started itself; prompts that came too late start another run. */
  async function runAll(prompts: readonly Prompt[]): Promise<Terminal> {
    const isBusy = agent.state().status !== 'idle';
    if (isBusy) for (const prompt of prompts) agent.steer(prompt);
    const prompted = isBusy ? undefined : await agent.prompt(prompts);
    await agent.waitForIdle();
    const terminal = prompted ?? lastEnd;
    await sendUpdate(createAcpUsageUpdate(conversation));
    const late = agent.clearAllQueues().map(({ message }) => message.blocks);
    return late.length === 0 ? terminal : runAll(late);
  }

  return {
    conversation,
    prompt: async (blocks: readonly ContentBlock[]): Promise<StopReason> => toStopReason(await run(blocks)),
    /** Delivers a prompt into the running prompt request; returns false if there is none. */
    async steer(blocks: readonly ContentBlock[]): Promise<boolean> {
      if (currentRun === undefined) return false;
      const input = await resolveEditorPrompt(conversation, blocks);
      if (input.kind === 'answer') await sendUpdate(createAcpTextUpdate(input.text));
      // The run may have ended meanwhile.
      else if (currentRun === undefined) return false;
      else agent.steer(input.prompt);
      return true;
    },
    cancel() {
      agent.clearAllQueues();
      agent.abort('user');
    },
    /** Sends the messages of a resumed session. */
    async replay() {
      for (const update of convertMessagesToAcp(agent.state().messages)) await sendUpdate(update);
    },
    /** Sends the slash commands of a session that was just opened. */
    sendCommands: () => sendUpdate(createAcpCommandsUpdate(conversation.commands())),
    /** Sends text that is not from the model. */
    sendText: (text: string) => sendUpdate(createAcpTextUpdate(text)),
  };
}

/** Only the text of the prompt is parsed for commands and mentions, not its attachments. */
async function resolveEditorPrompt(
  conversation: Conversation,
  prompt: readonly ContentBlock[],
): Promise<ResolvedUserInput> {
  const { text, images, attached } = parseAcpPromptContent(prompt);
  if (text.trim() === '' && images.length === 0 && attached.length === 0)
    throw RequestError.invalidParams(undefined, 'the prompt is empty');
  if (images.length === 0 && attached.length === 0) return runCommandOrExpandPrompt(conversation, text);
  const expanded = await conversation.expandPrompt(text, images);
  const blocks: readonly UserBlock[] = typeof expanded === 'string' ? [{ type: 'text', text: expanded }] : expanded;
  return { kind: 'prompt', prompt: [...blocks.filter(hasContent), ...attached] };
}

function hasContent(block: UserBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

/** Converts the end of a run to an ACP stop reason; throws a request error for a failure. */
function toStopReason(terminal: Terminal): StopReason {
  switch (terminal.reason) {
    case 'completed':
    case 'stop_hook_prevented':
    case 'hook_stopped':
      return 'end_turn';
    case 'max_turns':
    case 'budget_exhausted':
    case 'loop_detected':
      return 'max_turn_requests';
    case 'max_output_tokens':
      return 'max_tokens';
    case 'refusal':
      return 'refusal';
    case 'aborted_streaming':
    case 'aborted_tools':
      return 'cancelled';
    case 'prompt_too_long':
    case 'blocking_limit':
    case 'image_error':
    case 'api_error':
    case 'model_error':
    case 'structured_output_failed':
      throw new RequestError(-32603, terminal.words ?? `The run ended: ${terminal.reason}.`);
    default:
      return exhaustive(terminal.reason);
  }
}

/** Rewrites the updates of an event for an editor that shows commands in display-only terminals. */
type AcpTerminalUpdates = (event: AgentEvent, updates: readonly SessionUpdate[]) => readonly SessionUpdate[];

/** Output sent to a terminal: its last characters, its length, and false for `isWhole` after a gap. */
type TerminalState = { readonly end: string; readonly chars: number; readonly isWhole: boolean };

const EMPTY_TERMINAL: TerminalState = { end: '', chars: 0, isWhole: true };
/** Number of sent characters that are kept to find the new output. */
const MAX_END_CHARS = 2_000;
const GAP = '\n[…]\n';

/**
 * Creates terminal updates for editors that can show the output of a command that ouro runs itself. The output is sent
 * in `_meta`, by convention as `terminal_info`, `terminal_output` and `terminal_exit`. @internal
 */
export function createAcpTerminalUpdates({ _meta }: ClientCapabilities, cwd: () => string): AcpTerminalUpdates {
  if (_meta?.terminal_output !== true) return (_, updates) => updates;
  const terminals = new Map<string, TerminalState>();

  function appendOutput(id: string, data: string): readonly SessionUpdate[] {
    if (data === '') return [];
    const { end, chars, isWhole } = terminals.get(id) ?? EMPTY_TERMINAL;
    const hasGap = data.startsWith(GAP);
    terminals.set(id, {
      end: (end + data).slice(-MAX_END_CHARS),
      chars: chars + data.length,
      isWhole: isWhole && !hasGap,
    });
    return [
      addMeta({ sessionUpdate: 'tool_call_update', toolCallId: id }, { terminal_output: { terminal_id: id, data } }),
    ];
  }

  function addTerminal(event: AgentEvent, update: SessionUpdate): readonly SessionUpdate[] {
    if (update.sessionUpdate === 'tool_call') {
      const { toolCallId: id } = update;
      if (!isCommandTool(update.title)) return [update];
      terminals.set(id, EMPTY_TERMINAL);
      const shown = { ...update, content: [{ type: 'terminal' as const, terminalId: id }] };
      return [addMeta(shown, { terminal_info: { terminal_id: id, cwd: cwd() } })];
    }
    if (update.sessionUpdate !== 'tool_call_update') return [update];
    const { toolCallId: id } = update;
    const terminal = terminals.get(id);
    if (terminal === undefined) return [update];
    if (event.type === 'tool_update' && event.progress.kind === 'output')
      return copyMeta(update, appendOutput(id, findNewOutput(terminal.end, event.progress.tail.join('\n'))));
    if (event.type !== 'tool_end') return [update];
    const { content: _, ...ended } = update;
    const rest = copyMeta(
      update,
      appendOutput(id, findRemainingOutput(terminal, extractOutput(event.result, event.display))),
    );
    terminals.delete(id);
    const exit = { terminal_id: id, exit_code: getExitCode(event), signal: null };
    return [...rest, addMeta(ended, { terminal_exit: exit })];
  }

  return (event, updates) => {
    let inner = event;
    while (inner.type === 'subagent') inner = inner.event;
    return updates.flatMap((update) => addTerminal(inner, update));
  };
}

function addMeta<Update extends SessionUpdate>(update: Update, more: Readonly<Record<string, unknown>>): Update {
  return { ...update, _meta: { ...update._meta, ...more } };
}

/** Copies the `_meta` of an update, which names the parent call, to others. */
function copyMeta({ _meta: meta }: SessionUpdate, updates: readonly SessionUpdate[]): readonly SessionUpdate[] {
  return meta === undefined ? updates : updates.map((update) => ({ ...update, _meta: { ...meta, ...update._meta } }));
}

/** Returns the part of the last lines that was not sent yet; starts with a gap if output in between is unknown. */
function findNewOutput(before: string, tail: string): string {
  if (before === '') return tail;
  for (let length = Math.min(before.length, tail.length); length > 0; length -= 1)
    if (before.endsWith(tail.slice(0, length))) return tail.slice(length);
  return tail === '' ? '' : GAP + tail;
}

/** Returns the part of the complete output that was not sent yet. */
function findRemainingOutput({ end, chars, isWhole }: TerminalState, whole: string): string {
  if (isWhole && whole.slice(0, chars).endsWith(end)) return whole.slice(chars);
  const index = whole.lastIndexOf(end);
  return index === -1 ? findNewOutput(end, whole.slice(-MAX_END_CHARS)) : whole.slice(index + end.length);
}

function extractOutput({ content }: ToolResultBlock, display: Display | undefined): string {
  if (display?.kind === 'output') return display.output;
  if (typeof content === 'string') return content;
  return joinTextBlocks(content, '\n');
}

function getExitCode({ result, display }: Extract<AgentEvent, { type: 'tool_end' }>): number | null {
  if (display?.kind === 'output') return display.exitCode;
  return result.is_error === true ? 1 : 0;
}
