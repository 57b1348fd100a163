import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  RequestError,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { UserBlock } from '../../contracts/message.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { type Understood, understand } from '../faces/understand.ts';
import { readEditorPrompt } from './content.ts';
import { createQuestionRelay } from './questions.ts';
import { createShownTerminals } from './shown-terminals.ts';
import { commandsUpdate, replayOf, said, updatesOf, usageUpdate } from './updates.ts';

/** One conversation as an editor drives it. */
export type EditorSession = {
  readonly conversation: Conversation;
  prompt(blocks: readonly ContentBlock[]): Promise<StopReason>;
  cancel(): void;
  /** Tells the editor what was said before it came. */
  replay(): Promise<void>;
  /** The commands of a session that was just opened. */
  announce(): Promise<void>;
  /** Says something that is no answer of the model. */
  say(words: string): Promise<void>;
};

export function createEditorSession(
  conversation: Conversation,
  client: AgentContext,
  abilities: ClientCapabilities,
): EditorSession {
  const { agent } = conversation;
  const { sessionId } = agent;
  const asTerminals = createShownTerminals(abilities, () => conversation.info().cwd);
  const relay = createQuestionRelay(agent, { client, sessionId, abilities });
  let running: Promise<Terminal> | undefined;
  let lastEnd: Terminal = { reason: 'completed' };

  const tell = (update: ReturnType<typeof said>) => client.notify('session/update', { sessionId, update });

  agent.subscribe(async (event) => {
    // The editor must know a call before it is asked about it.
    for (const update of asTerminals(event, updatesOf(event))) await tell(update);
    relay(event);
    if (event.type !== 'agent_end') return;
    lastEnd = event.terminal;
    // Nobody waits for the answer of a run that began by itself.
    if (running === undefined) await tell(usageUpdate(conversation));
  });

  async function run(blocks: readonly ContentBlock[]): Promise<Terminal> {
    const understood = await understandPrompt(conversation, blocks);
    if (understood.kind === 'answer') {
      await tell(said(understood.words));
      return { reason: 'completed' };
    }
    if (running !== undefined) {
      agent.steer(understood.prompt);
      return running;
    }
    running = runAll([understood.prompt]).finally(() => {
      running = undefined;
    });
    return running;
  }

  /** Words join the run that has begun by itself; those that came too late to be steered in begin one of their own. */
  async function runAll(prompts: readonly Prompt[]): Promise<Terminal> {
    const isBusy = agent.state().status !== 'idle';
    if (isBusy) for (const words of prompts) agent.steer(words);
    const prompted = isBusy ? undefined : await agent.prompt(prompts);
    await agent.waitForIdle();
    const terminal = prompted ?? lastEnd;
    await tell(usageUpdate(conversation));
    const late = agent.clearAllQueues().map(({ message }) => message.blocks);
    return late.length === 0 ? terminal : runAll(late);
  }

  return {
    conversation,
    prompt: async (blocks) => stopReasonOf(await run(blocks)),
    cancel() {
      agent.clearAllQueues();
      agent.abort('user');
    },
    async replay() {
      for (const update of replayOf(agent.state().messages)) await tell(update);
    },
    announce: () => tell(commandsUpdate(conversation.commands())),
    say: (words) => tell(said(words)),
  };
}

/** Commands and mentions are looked for in what was written, never in what came along. */
async function understandPrompt(conversation: Conversation, prompt: readonly ContentBlock[]): Promise<Understood> {
  const { words, images, attached } = readEditorPrompt(prompt);
  if (words.trim() === '' && images.length === 0 && attached.length === 0)
    throw RequestError.invalidParams(undefined, 'the prompt is empty');
  if (images.length === 0 && attached.length === 0) return understand(conversation, words);
  const expanded = await conversation.expandPrompt(words, images);
  const blocks: readonly UserBlock[] = typeof expanded === 'string' ? [{ type: 'text', text: expanded }] : expanded;
  return { kind: 'prompt', prompt: [...blocks.filter(saysSomething), ...attached] };
}

function saysSomething(block: UserBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

/** How a run ended, in the editor's words; a failure is an error of the request. */
function stopReasonOf(terminal: Terminal): StopReason {
  switch (terminal.reason) {
    case 'completed':
    case 'stop_hook_prevented':
    case 'hook_stopped':
      return 'end_turn';
    case 'max_turns':
    case 'budget_exhausted':
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
