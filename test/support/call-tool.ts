import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { JsonValue } from '../../src/contracts/json.ts';
import type { CallContext, Tool, ToolOutcome } from '../../src/contracts/tool.ts';

/** Validates the input as the loop does and makes the call; questions are unanswered unless the test answers them. */
export async function callTool(tool: Tool, input: JsonValue, context: Partial<CallContext> = {}): Promise<ToolOutcome> {
  const prepared = tool.prepare(input);
  if (!prepared.ok) throw new Error(prepared.problem);
  return prepared.call.call({
    callId: randomUUID(),
    cwd: tmpdir(),
    signal: new AbortController().signal,
    report: () => undefined,
    ask: async () => undefined,
    ...context,
  });
}
