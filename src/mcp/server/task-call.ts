import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  CreateTaskResultSchema,
  GetTaskResultSchema,
  type Task,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import { untilAborted } from '../../lib/abort.ts';

type TaskCall = {
  readonly name: string;
  readonly arguments: JsonObject;
  /** The task moved on: its state, in its own words where it has some. */
  readonly onStatus: (words: string) => void;
};

/** How long a server is asked to keep what came of it. */
const KEPT_MS = 3_600_000;
const USUAL_WAIT_MS = 1_000;
const SHORTEST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Calls a tool that answers with a task, and waits for what comes of it. Given up, the task is cancelled. */
export async function callAsTask(
  client: Client,
  { name, arguments: input, onStatus }: TaskCall,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<CallToolResult> {
  const { signal } = options;
  const request = { method: 'tools/call', params: { name, arguments: input } };
  const answer = await client.request(request, z.looseObject({}), { ...options, task: { ttl: KEPT_MS } });
  const begun = CreateTaskResultSchema.safeParse(answer).data?.task;
  // Some answer at once all the same.
  if (begun === undefined) return CallToolResultSchema.parse(answer);
  const { taskId } = begun;
  const params = { taskId };
  try {
    let task: Task = begun;
    let before = '';
    while (!READY.includes(task.status)) {
      const words = task.statusMessage ?? task.status;
      const state = `${task.lastUpdatedAt} ${words}`;
      if (state !== before) onStatus(words);
      before = state;
      await untilAborted(new Promise((resolve) => setTimeout(resolve, waitMs(task))), signal);
      signal.throwIfAborted();
      task = await client.request({ method: 'tasks/get', params }, GetTaskResultSchema, options);
    }
    // Where it wants something to be answered, that is asked while its result is waited for.
    return await client.request({ method: 'tasks/result', params }, CallToolResultSchema, options);
  } catch (thrown) {
    if (signal.aborted) cancel(client, taskId);
    throw thrown;
  }
}

const READY: readonly Task['status'][] = ['completed', 'failed', 'cancelled', 'input_required'];

function waitMs({ pollInterval = USUAL_WAIT_MS }: Task): number {
  return Math.min(Math.max(pollInterval, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
}

const CANCEL_MS = 5_000;

/** Nobody waits for it: whoever gave it up has gone on. */
function cancel(client: Client, taskId: string): void {
  const asked = { method: 'tasks/cancel', params: { taskId } };
  void client.request(asked, z.looseObject({}), { timeout: CANCEL_MS }).catch(() => undefined);
}
