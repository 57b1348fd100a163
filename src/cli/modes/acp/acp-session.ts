import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  RequestError,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type { Prompt } from '../../../contracts/agent.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { UserBlock } from '../../../contracts/message.ts';
import type { Terminal } from '../../../contracts/terminal-reason.ts';
import { exhaustive } from '../../../lib/errors.ts';
import { createGarbageCollectionListener } from '../collect-garbage.ts';
import { type ResolvedUserInput, resolveUserInput } from '../resolve-user-input.ts';
import { createAcpQuestionRelay } from './editor-questions.ts';
import { parseEditorPrompt } from './prompt-content.ts';
import {
  convertEventToAcp,
  convertMessagesToAcp,
  createAcpCommandsUpdate,
  createAcpTextUpdate,
  createAcpUsageUpdate,
} from './session-updates.ts';
import { createAcpTerminalUpdates } from './terminal-updates.ts';

/** A conversation driven by an editor. */
export type AcpSession = {
  readonly conversation: Conversation;
  prompt(blocks: readonly ContentBlock[]): Promise<StopReason>;
  cancel(): void;
  /** Sends the messages of a resumed session. */
  replay(): Promise<void>;
  /** Sends the slash commands of a session that was just opened. */
  sendCommands(): Promise<void>;
  /** Sends text that is not from the model. */
  sendText(text: string): Promise<void>;
};

/** Connects a conversation with an editor. */
export function createAcpSession(
  conversation: Conversation,
  client: AgentContext,
  capabilities: ClientCapabilities,
): AcpSession {
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
    prompt: async (blocks) => toStopReason(await run(blocks)),
    cancel() {
      agent.clearAllQueues();
      agent.abort('user');
    },
    async replay() {
      for (const update of convertMessagesToAcp(agent.state().messages)) await sendUpdate(update);
    },
    sendCommands: () => sendUpdate(createAcpCommandsUpdate(conversation.commands())),
    sendText: (text) => sendUpdate(createAcpTextUpdate(text)),
  };
}

/** Only the text of the prompt is parsed for commands and mentions, not its attachments. */
async function resolveEditorPrompt(
  conversation: Conversation,
  prompt: readonly ContentBlock[],
): Promise<ResolvedUserInput> {
  const { text, images, attached } = parseEditorPrompt(prompt);
  if (text.trim() === '' && images.length === 0 && attached.length === 0)
    throw RequestError.invalidParams(undefined, 'the prompt is empty');
  if (images.length === 0 && attached.length === 0) return resolveUserInput(conversation, text);
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
