import { assembleAgent } from '../../../agent/agent.ts';
import type { AgentParts } from '../../../agent/parts.ts';
import type { Agent } from '../../../contracts/agent.ts';
import type { AgentEvent, QueuedMessage } from '../../../contracts/event.ts';
import type { Message } from '../../../contracts/message.ts';
import type { Terminal } from '../../../contracts/terminal.ts';
import type { Core } from '../../core.ts';

/** A sub-agent while it works. */
export type HeldAgent = {
  /** Heard after its present turn, also before it has had one. */
  tell(words: string): void;
  /** Says the words to it, and resolves when nothing is left for it to do. */
  work(words: string, on: Earlier & Pick<AgentParts, 'deps'>): Promise<Terminal>;
  messages(): readonly Message[];
  stop(): void;
  readonly signal: AbortSignal;
};

/** What it has heard and said in earlier runs, and what still waits to be heard. */
export type Earlier = { readonly messages: readonly Message[]; readonly queued: readonly QueuedMessage[] };

type Needs = {
  readonly sessionId: string;
  readonly hear: (event: AgentEvent) => Promise<void>;
};

/** An agent like the conversation's own, whose questions are the conversation's. */
export function holdAgent(core: Core, { sessionId, hear }: Needs): HeldAgent {
  const end = new AbortController();
  let agent: Agent | undefined;
  let waiting: readonly string[] = [];
  return {
    signal: end.signal,
    stop: () => end.abort('user'),
    messages: () => agent?.state().messages ?? [],
    tell(words) {
      if (agent === undefined) waiting = [...waiting, words];
      else agent.steer(words);
    },
    async work(words, { messages, queued, deps }) {
      const { model, effort, mode, cwd } = core.live.now();
      const made = assembleAgent({
        sessionId,
        messages,
        queued,
        listeners: [hear],
        deps,
        describe: () => ({ model, effort, mode, cwd }),
        newId: core.newId,
        now: core.now,
      });
      agent = made;
      for (const said of waiting) made.steer(said);
      waiting = [];
      if (end.signal.aborted) return { reason: 'aborted_streaming' };
      end.signal.addEventListener('abort', () => made.abort('user'));
      await made.prompt(words);
      // What came at the very end has begun another run.
      await made.waitForIdle();
      return made.state().lastError ?? { reason: 'completed' };
    },
  };
}
