import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Tool, ToolOutcome } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';

/** Time a stopped command has to return its partial output. */
const ABORT_GRACE_MS = 20;

/**
 * Creates the function that runs a command typed after `!`, without a permission question. Command and output are added
 * to the conversation; a stop of the agent stops the command.
 */
export function createUserCommandRunner(deps: {
  readonly agent: Agent;
  readonly bash: () => Tool | undefined;
  readonly cwd: () => string;
  readonly emit: (event: AgentEvent) => Promise<void>;
  readonly newId: () => string;
}): (command: string) => Promise<void> {
  async function run(command: string, signal: AbortSignal): Promise<void> {
    const callId = createTypedCallId(deps.newId);
    const prepared = deps.bash()?.prepare({ command });
    if (prepared?.ok !== true) {
      const text = prepared?.problem ?? 'The Bash tool is not available.';
      await deps.emit({ type: 'notice', level: 'error', topic: 'shell', text });
      return;
    }
    const startedAt = Date.now();
    await deps.emit({ type: 'tool_start', callId, tool: 'Bash', title: command, input: { command }, messageId: '' });
    const call = prepared.call.call({
      callId,
      cwd: deps.cwd(),
      signal,
      report: (progress) => void deps.emit({ type: 'tool_update', callId, progress }),
      ask: async () => undefined,
    });
    const finished = await resolveUndefinedOnAbort(
      call.catch((thrown: unknown): ToolOutcome => ({ content: getErrorMessage(thrown), isError: true })),
      signal,
      ABORT_GRACE_MS,
    );
    const outcome = finished ?? { content: 'Stopped by the user; it may have taken effect in part.', isError: true };
    const output = typeof outcome.content === 'string' ? outcome.content : '';
    await deps.emit({
      type: 'tool_end',
      callId,
      tool: 'Bash',
      result: { type: 'tool_result', tool_use_id: callId, content: outcome.content },
      status: signal.aborted ? 'interrupted' : outcome.isError === true ? 'failed' : 'done',
      durationMs: Date.now() - startedAt,
      ...(outcome.display === undefined ? {} : { display: outcome.display }),
    });
    const text = `The user ran this themselves:\n$ ${command}\n${output}`;
    await deps.agent.append({
      role: 'user',
      id: deps.newId(),
      origin: 'shell',
      blocks: [{ type: 'text', text: text }],
    });
  }

  return async (command) => {
    const isAgentIdle = () => deps.agent.state().status === 'idle';
    // A run that has ended may still be delivering its last events.
    if (isAgentIdle()) await deps.agent.waitForIdle();
    if (isAgentIdle()) {
      return deps.agent.runExclusive('running_tools', (signal) => run(command, signal));
    }
    const abort = new AbortController();
    const unsubscribe = deps.agent.subscribe((event) => {
      if (event.type === 'status' && event.status === 'stopping') abort.abort();
    });
    await run(command, abort.signal).finally(unsubscribe);
  };
}

const TYPED_CALL_PREFIX = 'typed-';

/** Creates the id of a call that the user made and no model. */
export function createTypedCallId(newId: () => string): string {
  return `${TYPED_CALL_PREFIX}${newId()}`;
}

/** Returns whether the user and no model made a call. */
export function isTypedCall(callId: string): boolean {
  return callId.startsWith(TYPED_CALL_PREFIX);
}
