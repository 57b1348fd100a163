import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ClientNotification,
  type ClientRequest,
  CreateMessageRequestSchema,
  type CreateTaskResult,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  type Result,
  type TaskMetadata,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonValue } from '../../contracts/json.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { describeFolderByUri } from '../../lib/files/file-uri.ts';
import { copyAsJson } from '../../lib/json.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import { startTimeLimit, type TimeLimit } from '../../lib/time-limit.ts';
import { type AskUser, elicit } from '../elicit.ts';
import { createSamplingHandler, type McpSamplingVerdictLookup, type RunSamplingRequest } from '../sampling.ts';

/** A kind of list a server can change. */
export type McpListKind = 'tools' | 'prompts' | 'resources';

/** The client's identity, its answers to a server's requests, and the listeners for notifications. */
export type McpClientOptions = {
  readonly server: string;
  readonly version: string;
  readonly getRoots: () => readonly string[];
  /** Aborted when the connection is closed. */
  readonly closeSignal: AbortSignal;
  /** File that configures the server; absent for flags and hosts. */
  readonly file?: string | undefined;
  /** Asks the user outside any call. */
  readonly ask: AskUser | undefined;
  readonly sample: RunSamplingRequest | undefined;
  readonly getSamplingVerdict: McpSamplingVerdictLookup;
  readonly onListChanged: (kind: McpListKind) => void;
  /** Called when a resource that was read before has changed. */
  readonly onResourceChanged: (uri: string) => void;
  /** Called with a message, to follow the server's name, when a question was declined without the user's decision. */
  readonly onDeclined: (message: string) => void;
  /** Called with a message, to follow the server's name, when the model has answered a request. */
  readonly onSampled: (message: string) => void;
  /** Called when the user has finished what an address was opened for. */
  readonly onVisited: (id: string) => void;
  /** Called with the notifications that MCP does not define. */
  readonly onNotification?: (method: string, params: JsonValue) => void;
};

const NOTE_CHARS = 200;
/** Requests of a server that may be pending as tasks. */
const MAX_TASKS = 20;
/** Questions of a server that may be pending at the same time. */
const MAX_OPEN_QUESTIONS = 5;
const MAX_VISITS = 100;
/** Declined questions reported to the user per connection. */
const MAX_DECLINED_NOTICES = 5;
const MAX_TASK_TTL_MS = 3_600_000;

/** Creates the SDK client with the capabilities ouro offers to servers: roots, elicitation, sampling and tasks. */
export function createMcpClient(options: McpClientOptions, getNewestCall: () => ActiveMcpCall | undefined): Client {
  const { server, file, version, ask, sample, onListChanged, onDeclined, onSampled, onVisited } = options;
  const tasks = new InMemoryTaskStore();
  const taskRequests = {
    elicitation: { create: {} },
    ...(sample === undefined ? {} : { sampling: { createMessage: {} } }),
  };
  const capabilities = {
    roots: { listChanged: true },
    elicitation: { form: {}, url: {} },
    ...(sample === undefined ? {} : { sampling: { tools: {} } }),
    tasks: { list: {}, cancel: {}, requests: taskRequests },
  };
  const client = new Client({ name: 'ouro', version }, { capabilities, taskStore: tasks });
  const answer = createSamplingHandler({
    source: { server, file },
    sample,
    rule: options.getSamplingVerdict,
    onSampled,
  });

  options.closeSignal.addEventListener('abort', () => tasks.cleanup(), { once: true });

  let openQuestions = 0;
  let declinedCount = 0;
  let visitIds: readonly string[] = [];

  /** Asks on behalf of the newest call and pauses its time limits meanwhile. */
  async function runInCall<Answer>(work: (ask: AskUser | undefined) => Promise<Answer>): Promise<Answer> {
    if (openQuestions >= MAX_OPEN_QUESTIONS)
      throw new McpError(ErrorCode.InvalidRequest, 'Too many requests are pending.');
    const call = getNewestCall();
    openQuestions += 1;
    try {
      return await (call === undefined ? work(ask) : call.whilePaused(() => work(call.ask)));
    } finally {
      openQuestions -= 1;
    }
  }

  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: options.getRoots().map(describeFolderByUri) }));
  client.setRequestHandler(ElicitRequestSchema, ({ params }, extra) =>
    runAsTaskIfRequested(params.task, extra, { tasks, closed: options.closeSignal }, (signal) =>
      runInCall(async (callAsk) => {
        if (params.mode === 'url') visitIds = [...visitIds, params.elicitationId].slice(-MAX_VISITS);
        const { result, reason } = await elicit({ server, file }, params, callAsk, signal);
        declinedCount += reason === undefined ? 0 : 1;
        if (reason !== undefined && declinedCount <= MAX_DECLINED_NOTICES)
          onDeclined(`asked a question that was declined: ${sanitizeUntrustedLine(reason, NOTE_CHARS)}`);
        return result;
      }),
    ),
  );
  if (sample !== undefined)
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }, extra) =>
      runAsTaskIfRequested(params.task, extra, { tasks, closed: options.closeSignal }, (signal) =>
        runInCall((callAsk) => answer(params, callAsk, signal)),
      ),
    );
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    if (visitIds.includes(params.elicitationId)) onVisited(params.elicitationId);
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
    options.onResourceChanged(params.uri),
  );
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => onListChanged('tools'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => onListChanged('prompts'));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onListChanged('resources'));
  const { onNotification } = options;
  if (onNotification !== undefined)
    client.fallbackNotificationHandler = async ({ method, params }) => onNotification(method, copyAsJson(params ?? {}));
  return client;
}

type Extra = RequestHandlerExtra<ClientRequest, ClientNotification>;

/** Answers at once with a task when the server asks for one, and does the work in the background. */
async function runAsTaskIfRequested<Answer extends Result>(
  requested: TaskMetadata | undefined,
  { signal, taskStore }: Extra,
  { tasks, closed }: { readonly tasks: InMemoryTaskStore; readonly closed: AbortSignal },
  work: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | CreateTaskResult> {
  if (requested === undefined || taskStore === undefined) return work(signal);
  const open = tasks.getAllTasks().filter(({ status }) => status === 'working' || status === 'input_required');
  if (open.length >= MAX_TASKS) throw new McpError(ErrorCode.InternalError, 'Too many requests are pending.');
  const task = await taskStore.createTask({ ttl: Math.min(requested.ttl ?? MAX_TASK_TTL_MS, MAX_TASK_TTL_MS) });
  const { taskId } = task;
  // Not the request's signal: the request is answered now, so only the end of the connection cancels the work.
  void work(closed)
    .then(
      (result) => taskStore.storeTaskResult(taskId, 'completed', result),
      (thrown) => taskStore.updateTaskStatus(taskId, 'failed', getErrorMessage(thrown)),
    )
    // The task was cancelled or the server has ended.
    .catch(() => undefined);
  return { task };
}

/** A running call: its silence limit, and the way a question of its server reaches the user. */
export type ActiveMcpCall = {
  readonly ask: AskUser;
  /** Aborted with `silent` after too long without a message, with `endless` after too long with only progress. */
  readonly timeoutSignal: AbortSignal;
  recordActivity(): void;
  /** Runs work the server waits for; that time does not count. */
  whilePaused<Answer>(work: () => Promise<Answer>): Promise<Answer>;
  end(): void;
};

/** A call that only reports progress is aborted after this multiple of the silence limit. */
const MAX_SILENCE_MULTIPLE = 24;

/** Creates the list of one server's running calls; a question of the server belongs to the newest of them. */
export function createActiveMcpCalls(limitMs: () => number) {
  let active: readonly ActiveMcpCall[] = [];

  function begin(ask: AskUser): ActiveMcpCall {
    const controller = new AbortController();
    let silenceLimit: TimeLimit | undefined;
    let pauses = 0;
    let totalLimit: TimeLimit | undefined;

    /** Restarts the limit for calls that only report progress. */
    function restartTotalLimit(): void {
      totalLimit?.stop();
      if (pauses === 0)
        totalLimit = startTimeLimit(limitMs() * MAX_SILENCE_MULTIPLE, () => controller.abort('endless'));
    }

    function recordActivity(): void {
      silenceLimit?.stop();
      if (pauses === 0) silenceLimit = startTimeLimit(limitMs(), () => controller.abort('silent'));
    }

    const call: ActiveMcpCall = {
      ask,
      timeoutSignal: controller.signal,
      recordActivity: recordActivity,
      async whilePaused(work) {
        pauses += 1;
        silenceLimit?.stop();
        totalLimit?.stop();
        try {
          return await work();
        } finally {
          pauses -= 1;
          recordActivity();
          restartTotalLimit();
        }
      },
      end() {
        pauses += 1;
        silenceLimit?.stop();
        totalLimit?.stop();
        active = active.filter((other) => other !== call);
      },
    };
    active = [...active, call];
    recordActivity();
    restartTotalLimit();
    return call;
  }

  return { begin, newest: () => active.at(-1) };
}
