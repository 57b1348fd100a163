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
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';

type TaskCall = {
  readonly name: string;
  readonly arguments: JsonObject;
  /** Called with the status message of the task, or its status, on each change. */
  readonly onStatus: (status: string) => void;
};

/** Time the server is asked to keep the result. */
const TASK_TTL_MS = 3_600_000;
const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 5_000;

/** Calls a tool as a task and waits for its result; an aborted call cancels the task. */
export async function callMcpToolAsTask(
  client: Client,
  { name, arguments: input, onStatus }: TaskCall,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<CallToolResult> {
  const { signal } = options;
  const request = { method: 'tools/call', params: { name, arguments: input } };
  const answer = await client.request(request, z.looseObject({}), { ...options, task: { ttl: TASK_TTL_MS } });
  const created = CreateTaskResultSchema.safeParse(answer).data?.task;
  // Some servers answer with the result at once.
  if (created === undefined) return CallToolResultSchema.parse(answer);
  const { taskId } = created;
  const params = { taskId };
  try {
    let task: Task = created;
    let lastState = '';
    while (!FINAL_STATUSES.includes(task.status)) {
      const status = task.statusMessage ?? task.status;
      const state = `${task.lastUpdatedAt} ${status}`;
      if (state !== lastState) onStatus(status);
      lastState = state;
      await resolveUndefinedOnAbort(new Promise((resolve) => setTimeout(resolve, getPollMs(task))), signal);
      signal.throwIfAborted();
      task = await client.request({ method: 'tasks/get', params }, GetTaskResultSchema, options);
    }
    // For `input_required` the server sends its question while this request is pending.
    return await client.request({ method: 'tasks/result', params }, CallToolResultSchema, options);
  } catch (thrown) {
    if (signal.aborted) cancelTask(client, taskId);
    throw thrown;
  }
}

/** Statuses that end the polling. */
const FINAL_STATUSES: readonly Task['status'][] = ['completed', 'failed', 'cancelled', 'input_required'];

function getPollMs({ pollInterval = DEFAULT_POLL_MS }: Task): number {
  return Math.min(Math.max(pollInterval, MIN_POLL_MS), MAX_POLL_MS);
}

const CANCEL_TIMEOUT_MS = 5_000;

/** Cancels a task without waiting for the server's answer. */
function cancelTask(client: Client, taskId: string): void {
  const request = { method: 'tasks/cancel', params: { taskId } };
  void client.request(request, z.looseObject({}), { timeout: CANCEL_TIMEOUT_MS }).catch(() => undefined);
}
