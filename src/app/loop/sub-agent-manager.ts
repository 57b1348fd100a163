import { ToolFailure } from '../../contracts/tool.ts';
import type { HookRunners } from '../../hooks/hook-actions.ts';
import { formatCount } from '../../lib/text/format.ts';
import { findSubAgent, NO_TOKEN_USAGE, type SubAgent } from '../../session/sub-agents.ts';
import type { SendMessageDeps } from '../../tools/send-message.ts';
import { createForegroundAgents } from '../../tools/task/foreground-agents.ts';
import type { SubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import {
  describeBackgroundedAgent,
  type SubAgentReport,
  type SubAgentTask,
  type TaskToolDeps,
  taskTraits,
} from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import { createSubAgentRuns, type SubAgentRun, type SubAgentRuns } from './sub-agent-runs.ts';

/** The sub-agents of a conversation: starting, messaging, listing and stopping them. */
export type SubAgentManager = TaskToolDeps &
  SendMessageDeps &
  Pick<SubAgentRuns, 'messages' | 'close'> & {
    /** Runs an Explore sub-agent for a hook and returns its answer. */
    readonly answerHook: HookRunners['askAgent'];
    /** Lists all sub-agents of the session, oldest first. */
    readonly list: () => readonly SubAgent[];
    /** Lists running background sub-agents. */
    readonly listRunning: () => readonly {
      readonly id: string;
      readonly title: string;
      readonly startedAtMs: number;
    }[];
    /** Moves this call's sub-agent, or all in the foreground, to the background; false if there is none. */
    readonly moveToBackground: (callId?: string) => boolean;
    /** Stops a running sub-agent. False when there is none with this id. */
    readonly stop: (id: string) => boolean;
    /** Finds a sub-agent by id or name. */
    readonly find: (wanted: string) => SubAgent | undefined;
    /** Sends a message of the user to a sub-agent. Returns what happens with it. */
    readonly sendMessage: (id: string, text: string) => string;
  };

type SubAgentDeps = Parameters<typeof createSubAgentRuns>[1];

/** Creates the sub-agents of a conversation: own loop and messages, at most the parent's permissions. */
export function createSubAgentManager(core: Core, runDeps: SubAgentDeps): SubAgentManager {
  const { owners, deps } = runDeps;
  const runs = createSubAgentRuns(core, runDeps);
  const background = createBackground(core, runs, runDeps);
  const foreground = createForegroundAgents();
  const kinds = () => core.extensions.current().agents;
  const findForCall = (wanted: string, callId: string) =>
    findSubAgent(runs.getRegistry(), wanted, owners.getOwner(callId));

  const createNew = (order: SubAgentTask) => createSubAgent(core, owners, order);

  /** Asks the permission gate before a resume, as for a start. Throws when it is denied. */
  async function requireResumePermission(
    { kind, title }: SubAgent,
    callId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const tool = taskTraits.name;
    const input = { subagent_type: kind, description: title };
    const call = { callId, tool, title, input, cwd: core.live.current().cwd, isReadOnly: true };
    const verdict = await deps.gate(core.bus.getPort())(call, {}, signal);
    if (verdict.behavior === 'deny') throw new ToolFailure(verdict.message);
  }

  async function resolveAgent(order: SubAgentTask, signal: AbortSignal): Promise<SubAgent> {
    if (order.resume === undefined) return createNew(order);
    const found = findForCall(order.resume, order.callId);
    if (found === undefined) throw new ToolFailure(describeUnknownAgent(order.resume, runs));
    await requireResumePermission(found, order.callId, signal);
    const current = runs.getRegistry().get(found.id) ?? found;
    if (current.state === 'working') throw new ToolFailure(`${current.id} is running. SendMessage reaches it.`);
    return current;
  }

  const createRun = ({ prompt, callId, report }: SubAgentTask): SubAgentRun => ({
    prompt: prompt,
    byCall: callId,
    report,
  });
  const interrupted = runs.takeInterrupted();
  if (interrupted.length > 0)
    core.inbox.add(
      `Running when the session ended: ${interrupted.map(formatLabel).join(', ')}. SendMessage continues one that is still needed.`,
    );

  return {
    listTypes: kinds,
    async answerHook({ prompt, model }, signal) {
      const order = { callId: '', type: 'Explore', description: 'A hook asks', prompt, model, isolation: undefined };
      const run: SubAgentRun = { prompt: prompt, byCall: '', report: () => undefined, isForHook: true };
      const { runner, report } = runs.start(createNew({ ...order, report: run.report }), run);
      const { text, failed } = await stopOnAbort(runner, report, signal);
      return failed ? undefined : text;
    },
    async runAgent(order, signal) {
      const agent = await resolveAgent(order, signal);
      const { runner, report } = runs.start(agent, createRun(order));
      const { callId } = order;
      const isTopLevel = owners.getOwner(callId) === undefined;
      const onMoved = (pending: Promise<SubAgentReport>) => background.watch({ ...agent, callId }, pending);
      const end = await foreground.wait({ callId, isTopLevel, stop: runner.stop, report, onMoved: onMoved }, signal);
      return end === 'moved' ? createMovedReport(agent) : end;
    },
    async runInBackground(order, signal) {
      return background.start(await resolveAgent(order, signal), createRun(order));
    },
    async send({ callId, to, text }, signal) {
      const found = findForCall(to, callId);
      if (found === undefined) throw new ToolFailure(describeUnknownAgent(to, runs));
      if (found.state !== 'working') await requireResumePermission(found, callId, signal);
      return background.sendMessage(found.id, text, callId);
    },
    find: (name) => findSubAgent(runs.getRegistry(), name, undefined),
    sendMessage: (id, text) => background.sendMessage(id, text, ''),
    list: () => [...runs.getRegistry().values()],
    listRunning: background.running,
    moveToBackground: foreground.moveToBackground,
    messages: runs.messages,
    close: runs.close,
    stop(id) {
      const held = runs.getRunner(id);
      held?.stop();
      return held !== undefined;
    },
  };
}

/** Creates a sub-agent that has not run yet, one level deeper than its parent. */
function createSubAgent(
  core: Core,
  owners: SubAgentCallRegistry,
  { callId, type, description, name, model, effort, isolation }: SubAgentTask,
): SubAgent {
  const parent = owners.getOwner(callId);
  const depth = parent === undefined ? 1 : owners.getDepth(parent) + 1;
  const id = `agent_${core.newId().slice(0, 8)}`;
  const facts = { id, kind: type, title: description, name, callId, parent, depth, model, effort, isolation };
  return {
    ...facts,
    state: 'working',
    startedAtMs: core.now(),
    calls: 0,
    tokens: 0,
    usage: NO_TOKEN_USAGE,
    line: '',
    text: '',
  };
}

/** Stops the sub-agent when the signal is aborted. */
function stopOnAbort(
  held: { stop(): void },
  report: Promise<SubAgentReport>,
  signal: AbortSignal,
): Promise<SubAgentReport> {
  if (signal.aborted) held.stop();
  signal.addEventListener('abort', held.stop);
  return report.finally(() => signal.removeEventListener('abort', held.stop));
}

/** Creates the report of a sub-agent that was moved to the background. The final report follows at its end. */
function createMovedReport({ id, calls, tokens, usage }: SubAgent): SubAgentReport {
  return { id, text: describeBackgroundedAgent(id), calls, tokens, usage, durationMs: 0, failed: false, isMoved: true };
}

function formatLabel({ id, title, name }: SubAgent): string {
  return `${id} (${name === undefined ? '' : `${name}: `}${title})`;
}

const MAX_LISTED = 10;

function describeUnknownAgent(wanted: string, runs: SubAgentRuns): string {
  const known = [...runs.getRegistry().values()].slice(-MAX_LISTED).map(formatLabel);
  return known.length === 0
    ? `There is no sub-agent ${wanted}: none was started in this session.`
    : `There is no sub-agent ${wanted} of yours. The last ${formatCount(known.length, 'sub-agent')}: ${known.join(', ')}.`;
}

/** Creates the background sub-agents. Their end is reported with the model's next turn. */
function createBackground({ bus, inbox, now }: Core, runs: SubAgentRuns, { hooks, session }: SubAgentDeps) {
  const running = new Map<string, { readonly title: string; readonly startedAtMs: number }>();

  function onEnd({ id, callId, title, name = id }: SubAgent, { text }: SubAgentReport): void {
    running.delete(id);
    const finalState = runs.getRegistry().get(id)?.state;
    const state = finalState === 'completed' || finalState === 'stopped' ? finalState : 'failed';
    const message = `Sub-agent ${id} (${title}) ${ENDS[state]}`;
    inbox.add(`${message}:\n${text}`);
    void bus.emit({ type: 'background', id, callId, kind: 'agent', title, state, words: `${message}.` });
    const team = { teammate_name: name, team_name: session.transcript.sessionId };
    if (state === 'completed') hooks.fireInBackground('TeammateIdle', team);
  }

  function watch(agent: SubAgent, report: Promise<SubAgentReport>): void {
    const { id, callId, title } = agent;
    running.set(id, { title, startedAtMs: now() });
    void bus.emit({ type: 'background', id, callId, kind: 'agent', title, state: 'started' });
    void report.then((end) => onEnd(agent, end)); // The report never rejects.
  }

  function start(agent: SubAgent, run: Parameters<SubAgentRuns['start']>[1]): string {
    watch(agent, runs.start(agent, run).report);
    return agent.id;
  }

  return {
    start,
    watch,
    sendMessage(id: string, text: string, byCall: string): string {
      const agent = runs.getRegistry().get(id);
      const held = runs.getRunner(id);
      if (agent === undefined) return `There is no sub-agent ${id}.`;
      held?.queueMessage(text);
      if (held !== undefined) return `${formatLabel(agent)} is running and receives it after its current turn.`;
      start(agent, { prompt: text, byCall, report: () => undefined });
      return `${formatLabel(agent)} continues in the background. You are told when it finishes.`;
    },
    running: () => [...running].map(([id, facts]) => ({ id, ...facts })),
  };
}

const ENDS = { completed: 'has finished', failed: 'has failed', stopped: 'was stopped' } as const;
