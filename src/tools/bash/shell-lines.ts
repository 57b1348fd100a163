import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Tool, ToolOutcome } from '../../contracts/tool.ts';
import { untilAborted } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';

/** How long a stopped command may take to hand over what it has. */
const ABORT_GRACE_MS = 20;

/** Runs a line the person typed after `!`: no question, they are the one who answers it. Both sides stay in the conversation, and a stop reaches it. */
export function createShellLines(parts: {
  readonly agent: Agent;
  readonly bash: () => Tool | undefined;
  readonly cwd: () => string;
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly newId: () => string;
}): (command: string) => Promise<void> {
  async function run(command: string, signal: AbortSignal): Promise<void> {
    const callId = `typed-${parts.newId()}`;
    const prepared = parts.bash()?.prepare({ command });
    if (prepared?.ok !== true) {
      await parts.tell({ type: 'notice', level: 'error', topic: 'shell', text: 'There is no shell here.' });
      return;
    }
    const startedAt = Date.now();
    await parts.tell({ type: 'tool_start', callId, tool: 'Bash', title: command, input: { command }, messageId: '' });
    const call = prepared.call.call({
      callId,
      cwd: parts.cwd(),
      signal,
      report: (progress) => void parts.tell({ type: 'tool_update', callId, progress }),
      ask: async () => undefined,
    });
    const ended = await untilAborted(
      call.catch((thrown: unknown): ToolOutcome => ({ content: messageOf(thrown), isError: true })),
      signal,
      ABORT_GRACE_MS,
    );
    const outcome = ended ?? { content: 'Stopped by the user; it may have taken effect in part.', isError: true };
    const text = typeof outcome.content === 'string' ? outcome.content : '';
    await parts.tell({
      type: 'tool_end',
      callId,
      tool: 'Bash',
      result: { type: 'tool_result', tool_use_id: callId, content: outcome.content },
      status: signal.aborted ? 'interrupted' : outcome.isError === true ? 'failed' : 'done',
      durationMs: Date.now() - startedAt,
      ...(outcome.display === undefined ? {} : { display: outcome.display }),
    });
    const words = `The user ran this themselves:\n$ ${command}\n${text}`;
    await parts.agent.append({
      role: 'user',
      id: parts.newId(),
      origin: 'shell',
      blocks: [{ type: 'text', text: words }],
    });
  }

  return async (command) => {
    const isIdle = () => parts.agent.state().status === 'idle';
    // A run that has told its end may still be telling it to others.
    if (isIdle()) await parts.agent.waitForIdle();
    if (isIdle()) {
      return parts.agent.between('running_tools', (signal) => run(command, signal));
    }
    const stopping = new AbortController();
    const leave = parts.agent.subscribe((event) => {
      if (event.type === 'status' && event.status === 'stopping') stopping.abort();
    });
    await run(command, stopping.signal).finally(leave);
  };
}
