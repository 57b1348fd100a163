import type { AgentPort } from '../../agent/agent-deps.ts';
import { composeAgent } from '../../agent/compose-agent.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent, QueuedMessage } from '../../contracts/event.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { Message } from '../../contracts/message.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal-reason.ts';
import type { Core } from '../core.ts';

/** The history of a sub-agent: the messages of earlier runs, and its queued messages. */
export type SubAgentHistory = { readonly messages: readonly Message[]; readonly queued: readonly QueuedMessage[] };

/** The features of a run, and the dependencies of its loop. */
type RunnerInput = SubAgentHistory & {
  readonly features: readonly Feature[];
  readonly deps: (port: AgentPort) => QueryDeps;
};

/** A sub-agent that runs or is about to run. */
export type SubAgentRunner = {
  /** Aborted when the sub-agent is stopped. */
  readonly signal: AbortSignal;
  stop(): void;
  messages(): readonly Message[];
  /** Queues a message for the end of its current turn; before the first turn, for its start. */
  queueMessage(text: string): void;
  /** Runs it with a prompt. Resolves when no work is left. */
  run(prompt: string, input: RunnerInput): Promise<Terminal>;
};

/** Creates an agent like that of the conversation; its questions go to the conversation. */
export function createSubAgentRunner(
  core: Core,
  sessionId: string,
  onEvent: (event: AgentEvent) => Promise<void>,
): SubAgentRunner {
  const end = new AbortController();
  let agent: Agent | undefined;
  let pending: readonly string[] = [];
  return {
    signal: end.signal,
    stop: () => end.abort('user'),
    messages: () => agent?.state().messages ?? [],
    queueMessage(text) {
      if (agent === undefined) pending = [...pending, text];
      else agent.steer(text);
    },
    async run(prompt, { messages, queued, features, deps }) {
      const { model, effort, mode, cwd } = core.live.current();
      const created = composeAgent(features, {
        scope: 'calls',
        sessionId,
        messages,
        queued,
        listeners: [onEvent],
        deps,
        describe: () => ({ model, effort, mode, cwd }),
        newId: core.newId,
        now: core.now,
      });
      agent = created;
      for (const text of pending) created.steer(text);
      pending = [];
      if (end.signal.aborted) return { reason: 'aborted_streaming' };
      end.signal.addEventListener('abort', () => created.abort('user'));
      await created.prompt(prompt);
      // A message that arrived at the very end has started another run.
      await created.waitForIdle();
      return created.state().lastError ?? { reason: 'completed' };
    },
  };
}
