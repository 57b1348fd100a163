import type { Prompt } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import type { OutputChoice } from '../args/invocation.ts';
import { heldToForm } from '../faces/answer-form.ts';
import { throughLimits } from '../faces/through-limits.ts';
import type { HostIds } from './host-ids.ts';
import type { HostLines, HostLinesPort } from './host-lines.ts';
import type { NextPrompts } from './next-prompts.ts';

export type HostRunPort = HostLinesPort & {
  /** Whether the host wants to hear what could be said next. */
  readonly offersNext: boolean;
  /** The program is about to leave: nothing new begins. */
  readonly isEnding: () => boolean;
  /** The form every answer must have. */
  readonly answerSchema?: JsonObject;
};

/** A run that is on. From its end until its result is written it takes no more words. */
type Running = { readonly done: Promise<void>; readonly takesWords: boolean };

/** The runs of one conversation, one after the other. */
export function createHostRuns(
  conversation: Conversation,
  lines: HostLines,
  ids: HostIds,
  port: HostRunPort & Pick<OutputChoice, 'atLimit'> & { readonly next: NextPrompts },
) {
  const { agent } = conversation;
  let running: Running | undefined;
  let interrupted: readonly (() => void)[] = [];

  function start(prompts: readonly Prompt[]): void {
    lines.begin('running');
    running = { done: runToResult(agent.prompt(prompts)), takesWords: true };
  }

  async function runToResult(ended: Promise<Terminal>): Promise<void> {
    try {
      const terminal = await (port.atLimit === 'waits' ? throughLimits(ended, conversation) : ended);
      await agent.waitForIdle();
      end(heldToForm(terminal, port.answerSchema));
      if (port.offersNext && terminal.reason === 'completed') port.next.offer();
    } finally {
      running = undefined;
      const late = agent.clearAllQueues().map(({ message }) => message);
      for (const { id } of late) ids.expect(ids.theirs(id));
      if (late.length > 0 && !port.isEnding()) start(late.map(({ blocks }) => blocks));
    }
  }

  /** A run that began by itself, with news of the background, is written like one that was asked for. */
  function noticeOwn(): void {
    if (running !== undefined || agent.state().status === 'idle') return;
    lines.begin('running');
    const { promise: ended, resolve } = Promise.withResolvers<Terminal>();
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === 'agent_end') resolve(event.terminal);
    });
    running = { done: runToResult(ended.finally(unsubscribe)), takesWords: true };
  }

  function end(terminal: Terminal, words?: string): void {
    closeToWords();
    confirmInterrupts();
    lines.end(terminal, words);
  }

  function closeToWords(): void {
    if (running !== undefined) running = { ...running, takesWords: false };
  }

  function confirmInterrupts(): void {
    const due = interrupted;
    interrupted = [];
    for (const confirm of due) confirm();
  }

  return {
    start,
    end,
    isOn: () => running !== undefined,
    /** Resolves when nothing runs, or the run that is on will do. */
    async idleOr(willDo: (running: Running) => boolean): Promise<void> {
      while (running !== undefined && !willDo(running)) await running.done;
    },
    noticeOwn,
    onInterrupted(confirm: () => void): void {
      interrupted = [...interrupted, confirm];
    },
    noteEvent(event: AgentEvent): void {
      if (event.type === 'agent_start') noticeOwn();
      if (tellsOfInterrupt(event)) confirmInterrupts();
      if (event.type === 'agent_end') closeToWords();
    },
  };
}

/** From here on everything that is written speaks of the interrupt. */
function tellsOfInterrupt(event: AgentEvent): boolean {
  if (event.type === 'agent_end') return true;
  if (event.type !== 'message_end' || event.message.role !== 'user') return false;
  return event.message.blocks.some((block) => block.type === 'text' && block.text.startsWith('[Request interrupted'));
}
