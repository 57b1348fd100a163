import { assembleAgent } from '../../../src/agent/agent.ts';
import type { AgentDeps, AgentPort } from '../../../src/agent/agent-deps.ts';
import type { Agent } from '../../../src/contracts/agent.ts';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { type Overrides, type ScriptedDeps, type ScriptedReply, scripted } from './scripted.ts';

export type ScriptedAgent = {
  readonly agent: Agent;
  readonly port: () => AgentPort;
  readonly deps: ScriptedDeps;
  /** Everything told so far. */
  readonly events: AgentEvent[];
  readonly listenerFaults: unknown[];
  /** Resolves with the first event that fits, now or later. */
  readonly seen: (fits: (event: AgentEvent) => boolean) => Promise<AgentEvent>;
};

/** The real agent and the real loop around a scripted model. */
export function scriptedAgent(
  replies: readonly ScriptedReply[],
  overrides: Overrides = {},
  parts: Partial<AgentDeps> = {},
): ScriptedAgent {
  const deps = scripted(replies, overrides);
  const events: AgentEvent[] = [];
  const listenerFaults: unknown[] = [];
  let waiting: readonly { fits: (event: AgentEvent) => boolean; resolve: (event: AgentEvent) => void }[] = [];
  let ids = 0;
  let lent: AgentPort | undefined;
  const record = (event: AgentEvent) => {
    events.push(event);
    const met = waiting.filter(({ fits }) => fits(event));
    waiting = waiting.filter((one) => !met.includes(one));
    for (const { resolve } of met) resolve(event);
  };
  const newId = () => {
    ids += 1;
    return `id${ids}`;
  };
  const agent = assembleAgent({
    sessionId: 'session-1',
    messages: [],
    deps: (port) => ({ ...deps, queues: port.queues, ask: port.ask, newId }),
    describe: () => ({ model: 'model-a', effort: 'off', mode: 'default', cwd: '/' }),
    attach: (port) => {
      lent = port;
    },
    onListenerError: (thrown) => listenerFaults.push(thrown),
    newId,
    now: () => 0,
    ...parts,
    listeners: [...(parts.listeners ?? []), record],
  });
  const seen: ScriptedAgent['seen'] = (fits) => {
    const already = events.find(fits);
    if (already !== undefined) return Promise.resolve(already);
    return new Promise((resolve) => {
      waiting = [...waiting, { fits, resolve }];
    });
  };
  const port = () => {
    if (lent === undefined) throw new Error('The agent has lent no port yet.');
    return lent;
  };
  return { agent, port, deps, events, listenerFaults, seen };
}
