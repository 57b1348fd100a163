import type { Agent } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Tool } from '../contracts/tool.ts';

/** Runs a line the person typed after `!`: no question, they are the one who answers it. Both sides stay in the conversation. */
export function createShellLines(parts: {
  readonly agent: Agent;
  readonly bash: () => Tool | undefined;
  readonly cwd: () => string;
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly newId: () => string;
}): (command: string) => Promise<void> {
  return async (command) => {
    const callId = `typed-${parts.newId()}`;
    const prepared = parts.bash()?.prepare({ command });
    if (prepared?.ok !== true) {
      await parts.tell({ type: 'notice', level: 'error', topic: 'shell', text: 'There is no shell here.' });
      return;
    }
    const startedAt = Date.now();
    await parts.tell({ type: 'tool_start', callId, tool: 'Bash', title: command, input: { command }, messageId: '' });
    const outcome = await prepared.call.call({
      callId,
      cwd: parts.cwd(),
      signal: new AbortController().signal,
      report: (progress) => void parts.tell({ type: 'tool_update', callId, progress }),
      ask: async () => undefined,
    });
    const text = typeof outcome.content === 'string' ? outcome.content : '';
    await parts.tell({
      type: 'tool_end',
      callId,
      tool: 'Bash',
      result: { type: 'tool_result', tool_use_id: callId, content: outcome.content },
      status: outcome.isError === true ? 'failed' : 'done',
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
  };
}
