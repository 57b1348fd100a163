import type { AgentEvent, QueuedMessage } from '../contracts/event.ts';
import type { Message, UserMessage } from '../contracts/message.ts';
import type { QueryConfig, Stripped } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { query } from '../engine/query.ts';
import { untilAborted } from '../lib/abort.ts';
import { messageOf } from '../lib/errors.ts';
import type { AgentParts, AgentPort } from './parts.ts';

type Run = {
  readonly fresh: readonly UserMessage[];
  readonly delivered: readonly QueuedMessage[];
  readonly parts: AgentParts;
  readonly port: AgentPort;
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly read: () => readonly Message[];
  readonly stripped: () => Stripped;
  /** What was said beside the query and joins behind it. */
  readonly takeLate: () => readonly Message[];
  readonly signal: AbortSignal;
};

/** One prompt from the hook that hears it first to the last listener: whatever happens, it ends with `agent_end`. */
export async function runQuery(run: Run): Promise<Terminal> {
  const { parts, tell } = run;
  const startedAt = parts.now();
  const delivered = [...run.delivered];
  let terminal: Terminal = { reason: 'model_error', words: 'The query ended without a reason.' };
  await tell({ type: 'agent_start' });
  try {
    for (const item of run.delivered) await tell({ type: 'queue', item, state: 'delivered' });
    terminal = (await admit(run)) ?? (await repeat(run, delivered));
  } catch (thrown) {
    terminal = { reason: 'model_error', words: messageOf(thrown) };
    await tell({
      type: 'notice',
      level: 'error',
      topic: 'model_error',
      text: `ouro ran into a fault of its own: ${messageOf(thrown)}`,
    });
  } finally {
    for (const item of delivered) await tell({ type: 'queue', item, state: 'completed' });
    for (let late = run.takeLate(); late.length > 0; late = run.takeLate()) {
      for (const message of late) await tell({ type: 'message_end', message });
    }
    await tell({ type: 'agent_end', terminal, durationMs: parts.now() - startedAt });
  }
  return terminal;
}

/** The prompt hook first, then the messages join: on disk before any request. A refusal ends the run without one. */
async function admit({ fresh, parts, tell, signal }: Run): Promise<Terminal | undefined> {
  for (const message of fresh) {
    const verdict = await untilAborted(heard(parts, message, signal), signal);
    if (verdict?.kind === 'block') {
      await tell({ type: 'notice', level: 'warn', topic: 'prompt_hook', text: verdict.words });
      return { reason: 'hook_stopped', words: verdict.words };
    }
    const context = verdict?.context;
    const blocks =
      context === undefined ? message.blocks : [...message.blocks, { type: 'text' as const, text: context }];
    await tell({ type: 'message_end', message: { ...message, blocks } });
  }
  return undefined;
}

async function heard(parts: AgentParts, message: UserMessage, signal: AbortSignal) {
  const words = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  try {
    return await parts.onPrompt?.(words, signal);
  } catch (thrown) {
    return { kind: 'block' as const, words: `A hook that hears prompts broke: ${messageOf(thrown)}` };
  }
}

/** A message that slipped in after the loop's last look starts it once more. */
async function repeat(run: Run, delivered: QueuedMessage[]): Promise<Terminal> {
  // What was delivered just now was the first poll.
  let skipFirstPoll = run.delivered.length > 0;
  for (;;) {
    const terminal = await once(run, delivered, { skipFirstPoll });
    skipFirstPoll = false;
    if (terminal.reason !== 'completed' || run.signal.aborted || !run.port.queues.hasSteering()) return terminal;
  }
}

async function once(
  { parts, port, tell, read, stripped, signal }: Run,
  delivered: QueuedMessage[],
  first: Pick<QueryConfig, 'skipFirstPoll'>,
): Promise<Terminal> {
  const deps = parts.deps(port);
  const config = { ...deps.config, ...first, stripped: stripped() };
  const events = query(read(), { ...deps, config }, signal);
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    if (step.value.type === 'queue' && step.value.state === 'delivered') delivered.push(step.value.item);
    await tell(step.value);
  }
}
