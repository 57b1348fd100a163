import { ToolFailure } from '../../contracts/tool.ts';
import type { HookRunners } from '../../hooks/act.ts';
import { formatCount } from '../../lib/text/format.ts';
import { agentMeant, NO_USAGE, type SubAgent } from '../../session/sub-agents/roster.ts';
import type { SendMessageParts } from '../../tools/send-message/send-message.ts';
import type { CallOwners } from '../../tools/task/call-owners.ts';
import { createFrontAgents } from '../../tools/task/front-agents.ts';
import { type AgentOrder, type AgentReport, movedWords, type TaskParts, taskStatement } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import { type AgentRuns, createAgentRuns } from './agent-runs.ts';

export type SubAgents = TaskParts &
  SendMessageParts &
  Pick<AgentRuns, 'messages' | 'close'> & {
    /** Looks around for a hook and answers its question. */
    readonly answerHook: HookRunners['askAgent'];
    /** All of the session, the oldest first. */
    readonly all: () => readonly SubAgent[];
    /** Those nobody waits for. */
    readonly running: () => readonly { readonly id: string; readonly title: string; readonly startedAtMs: number }[];
    /** Lets the one of this call, or else all the conversation waits for, go on without it; false when there is none. */
    readonly moveToBackground: (callId?: string) => boolean;
    /** Ends one that is at work; false when there is none of that id. */
    readonly stop: (id: string) => boolean;
    /** By its id or name. */
    readonly find: (wanted: string) => SubAgent | undefined;
    /** A person speaks to it; answers with what becomes of that. */
    readonly tell: (id: string, words: string) => string;
  };

type Needs = Parameters<typeof createAgentRuns>[1] & {
  /** Told to the model with its next turn. */
  readonly addNews: (words: string) => void;
};

/** Runs sub-agents: each its own loop and messages, with at most the parent's permissions, gone when the parent is. */
export function createSubAgents(core: Core, { addNews, ...needs }: Needs): SubAgents {
  const { owners, deps } = needs;
  const runs = createAgentRuns(core, needs);
  const background = createBackground(core, runs, { addNews, ...needs });
  const front = createFrontAgents();
  const kinds = () => core.extensions.now().agents;
  const meant = (wanted: string, callId: string) => agentMeant(runs.roster(), wanted, owners.ownerOf(callId));

  const fresh = (order: AgentOrder) => freshAgent(core, owners, order);

  /** Who must not be started must not go on either. */
  async function refuseGoingOn({ kind, title }: SubAgent, callId: string, signal: AbortSignal): Promise<void> {
    const tool = taskStatement.name;
    const input = { subagent_type: kind, description: title };
    const call = { callId, tool, title, input, cwd: core.live.now().cwd, isReadOnly: true };
    const verdict = await deps.gate(core.bus.port())(call, {}, signal);
    if (verdict.behavior === 'deny') throw new ToolFailure(verdict.message);
  }

  async function wanted(order: AgentOrder, signal: AbortSignal): Promise<SubAgent> {
    if (order.resume === undefined) return fresh(order);
    const found = meant(order.resume, order.callId);
    if (found === undefined) throw new ToolFailure(unknownWords(order.resume, runs));
    await refuseGoingOn(found, order.callId, signal);
    const now = runs.roster().get(found.id) ?? found;
    if (now.state === 'working') throw new ToolFailure(`${now.id} is at work. SendMessage reaches it.`);
    return now;
  }

  const runOf = ({ prompt, callId, report }: AgentOrder) => ({ words: prompt, byCall: callId, report });
  const cut = runs.takeCut();
  if (cut.length > 0)
    addNews(
      `At work when this session was left: ${cut.map(labelOf).join(', ')}. SendMessage goes on with what is still wanted of it.`,
    );

  return {
    types: kinds,
    async answerHook({ prompt, model }, signal) {
      const order = { callId: '', type: 'Explore', description: 'A hook asks', prompt, model, isolation: undefined };
      const run = { words: prompt, byCall: '', report: () => undefined, isOfHook: true } as const;
      const { held, report } = runs.start(fresh({ ...order, report: run.report }), run);
      const { text, failed } = await whileWanted(held, report, signal);
      return failed ? undefined : text;
    },
    async run(order, signal) {
      const agent = await wanted(order, signal);
      const { held, report } = runs.start(agent, runOf(order));
      const { callId } = order;
      const isOfConversation = owners.ownerOf(callId) === undefined;
      const moved = (late: Promise<AgentReport>) => background.watch({ ...agent, callId }, late);
      const end = await front.wait({ callId, isOfConversation, stop: held.stop, report, moved }, signal);
      return end === 'moved' ? movedReport(agent) : end;
    },
    async runInBackground(order, signal) {
      return background.begin(await wanted(order, signal), runOf(order));
    },
    async send({ callId, to, words }, signal) {
      const found = meant(to, callId);
      if (found === undefined) throw new ToolFailure(unknownWords(to, runs));
      if (found.state !== 'working') await refuseGoingOn(found, callId, signal);
      return background.tell(found.id, words, callId);
    },
    find: (name) => agentMeant(runs.roster(), name, undefined),
    tell: (id, words) => background.tell(id, words, ''),
    all: () => [...runs.roster().values()],
    running: background.running,
    moveToBackground: front.move,
    messages: runs.messages,
    close: runs.close,
    stop(id) {
      const held = runs.held(id);
      held?.stop();
      return held !== undefined;
    },
  };
}

/** One that has done nothing yet, as deep as who asks for it and one more. */
function freshAgent(
  core: Core,
  owners: CallOwners,
  { callId, type, description, name, model, effort, isolation }: AgentOrder,
): SubAgent {
  const parent = owners.ownerOf(callId);
  const depth = parent === undefined ? 1 : owners.depthOf(parent) + 1;
  const id = `agent_${core.newId().slice(0, 8)}`;
  const facts = { id, kind: type, title: description, name, callId, parent, depth, model, effort, isolation };
  return {
    ...facts,
    state: 'working',
    startedAtMs: core.now(),
    calls: 0,
    tokens: 0,
    usage: NO_USAGE,
    line: '',
    text: '',
  };
}

/** Nobody waits any longer: it ends. */
function whileWanted(held: { stop(): void }, report: Promise<AgentReport>, signal: AbortSignal): Promise<AgentReport> {
  if (signal.aborted) held.stop();
  signal.addEventListener('abort', held.stop);
  return report.finally(() => signal.removeEventListener('abort', held.stop));
}

/** What is known of it so far is told with its end. */
function movedReport({ id, calls, tokens, usage }: SubAgent): AgentReport {
  return { id, text: movedWords(id), calls, tokens, usage, durationMs: 0, failed: false, isMoved: true };
}

function labelOf({ id, title, name }: SubAgent): string {
  return `${id} (${name === undefined ? '' : `${name}: `}${title})`;
}

const MOST_NAMED = 10;

function unknownWords(wanted: string, runs: AgentRuns): string {
  const known = [...runs.roster().values()].slice(-MOST_NAMED).map(labelOf);
  return known.length === 0
    ? `There is no sub-agent ${wanted}: none was started in this session.`
    : `There is no sub-agent ${wanted} of yours. The last ${formatCount(known.length, 'sub-agent')}: ${known.join(', ')}.`;
}

/** Sub-agents nobody waits for: their end is told with the model's next turn. */
function createBackground(
  { bus, now }: Core,
  runs: AgentRuns,
  { addNews, hooks, session }: Pick<Needs, 'addNews' | 'hooks' | 'session'>,
) {
  const running = new Map<string, { readonly title: string; readonly startedAtMs: number }>();

  function ended({ id, callId, title, name = id }: SubAgent, { text }: AgentReport): void {
    running.delete(id);
    const last = runs.roster().get(id)?.state;
    const state = last === 'completed' || last === 'stopped' ? last : 'failed';
    const words = `Sub-agent ${id} (${title}) ${ENDS[state]}`;
    addNews(`${words}:\n${text}`);
    void bus.tell({ type: 'background', id, callId, kind: 'agent', title, state, words: `${words}.` });
    const team = { teammate_name: name, team_name: session.transcript.sessionId };
    if (state === 'completed') hooks.fireInBackground('TeammateIdle', team);
  }

  function watch(agent: SubAgent, report: Promise<AgentReport>): void {
    const { id, callId, title } = agent;
    running.set(id, { title, startedAtMs: now() });
    void bus.tell({ type: 'background', id, callId, kind: 'agent', title, state: 'started' });
    void report.then((end) => ended(agent, end)); // It never fails: its end is a report.
  }

  function begin(agent: SubAgent, run: Parameters<AgentRuns['start']>[1]): string {
    watch(agent, runs.start(agent, run).report);
    return agent.id;
  }

  return {
    begin,
    watch,
    tell(id: string, words: string, byCall: string): string {
      const agent = runs.roster().get(id);
      const held = runs.held(id);
      if (agent === undefined) return `There is no sub-agent ${id}.`;
      held?.tell(words);
      if (held !== undefined) return `${labelOf(agent)} is at work and hears it after its present turn.`;
      begin(agent, { words, byCall, report: () => undefined });
      return `${labelOf(agent)} goes on in the background. You are told when it has finished.`;
    },
    running: () => [...running].map(([id, one]) => ({ id, ...one })),
  };
}

const ENDS = { completed: 'has finished', failed: 'has failed', stopped: 'was stopped' } as const;
