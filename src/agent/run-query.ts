import type { Joining } from '../contracts/agent.ts';
import type { QueuedMessage } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { QueryConfig } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { query } from '../engine/query.ts';
import { untilAborted } from '../lib/abort.ts';
import { messageOf } from '../lib/errors.ts';
import type { AgentStore } from './agent-state.ts';
import type { AgentParts, AgentPort } from './parts.ts';
import { consultPromptHook } from './prompts.ts';

type Run = {
  readonly store: AgentStore;
  readonly parts: AgentParts;
  readonly port: AgentPort;
  readonly fresh: readonly Joining[];
  readonly delivered: readonly QueuedMessage[];
  readonly signal: AbortSignal;
};

/** One query, from the prompt hook to the last listener: whatever happens, it ends with `agent_end`. */
export async function runQuery(run: Run): Promise<Terminal> {
  const { store, parts } = run;
  const { now, tell } = store;
  const startedAt = parts.now();
  const delivered = [...run.delivered];
  await tell({ type: 'agent_start' });
  let terminal = await caught(run, async () => {
    for (const item of run.delivered) await tell({ type: 'queue', item, state: 'delivered' });
    // What was delivered just now was the first poll.
    return (await admit(run)) ?? once(run, delivered, { skipFirstPoll: run.delivered.length > 0 });
  });
  for (;;) {
    for (const item of delivered.splice(0)) await tell({ type: 'queue', item, state: 'completed' });
    for (const message of takeLate(store)) await tell({ type: 'message_end', message });
    if (now().late.length > 0) continue;
    // Nothing is awaited from this look to the end, so no message can come in between.
    if (terminal.reason !== 'completed' || terminal.isFinal || run.signal.aborted || now().queue.length === 0) break;
    const waiting = now().queue.length;
    terminal = await caught(run, () => onceMore(run, delivered));
    // A loop that takes nothing of what waits would never end.
    if (delivered.length === 0 && now().queue.length >= waiting) break;
  }
  await tell({ type: 'agent_end', terminal, durationMs: parts.now() - startedAt });
  return terminal;
}

/** The messages that came during the query; they are no longer late. */
export function takeLate({ now, change }: AgentStore): readonly Message[] {
  const { late } = now();
  change({ ...now(), late: [] });
  return late;
}

async function caught({ store: { tell } }: Run, work: () => Promise<Terminal>): Promise<Terminal> {
  try {
    return await work();
  } catch (thrown) {
    const words = messageOf(thrown);
    const text = `ouro ran into a fault of its own: ${words}`;
    await tell({ type: 'notice', level: 'error', topic: 'model_error', text });
    return { reason: 'model_error', words };
  }
}

/** The prompt hook first, then the messages join: on disk before any request. A refusal ends the run without one. */
async function admit({ fresh, parts, store: { tell }, signal }: Run): Promise<Terminal | undefined> {
  for (const message of fresh) {
    if (message.role === 'custom') {
      await tell({ type: 'message_end', message });
      continue;
    }
    const verdict = await untilAborted(consultPromptHook(parts.onPrompt, message, signal), signal);
    if (verdict?.kind === 'block') {
      await tell({ type: 'notice', level: 'warn', topic: 'prompt_hook', text: verdict.words });
      return { reason: 'hook_stopped', words: verdict.words };
    }
    await tell({ type: 'message_end', message: verdict?.message ?? message });
  }
  return undefined;
}

/** A message that slipped in after the loop's last look starts it once more. */
async function onceMore(run: Run, delivered: QueuedMessage[]): Promise<Terminal> {
  const { queues } = run.port;
  const { tell } = run.store;
  await queues.settle?.(run.signal);
  const hasSteering = queues.hasSteering();
  const late = hasSteering ? [] : queues.takeFollowUps();
  // All that waited was refused.
  if (!hasSteering && late.length === 0) return { reason: 'completed' };
  for (const item of late) {
    delivered.push(item);
    await tell({ type: 'queue', item, state: 'delivered' });
    await tell({ type: 'message_end', message: item.message });
  }
  return once(run, delivered, { skipFirstPoll: false });
}

async function once(
  { parts, port, store: { now, tell }, signal }: Run,
  delivered: QueuedMessage[],
  first: Pick<QueryConfig, 'skipFirstPoll'>,
): Promise<Terminal> {
  const deps = parts.deps(port);
  const { stripped, failedCompactions } = now();
  const config = { ...deps.config, ...first, stripped, failedCompactions };
  const events = query(now().messages, { ...deps, config }, signal);
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    if (step.value.type === 'queue' && step.value.state === 'delivered') delivered.push(step.value.item);
    await tell(step.value);
  }
}
