import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
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
import { messageOf } from '../../lib/errors.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import { type Ask, elicit } from '../elicit.ts';
import { createSampler, type Sample, type SamplingRule } from '../sampling/sampler.ts';
import type { ActiveCall } from './active-calls.ts';

export type ListKind = 'tools' | 'prompts' | 'resources';

export type OurSide = {
  readonly server: string;
  readonly version: string;
  readonly roots: () => readonly string[];
  /** Aborted when the server is gone. */
  readonly closed: AbortSignal;
  /** Asks the person outside any call. */
  readonly ask: Ask | undefined;
  readonly sample: Sample | undefined;
  readonly samplingRule: SamplingRule;
  readonly onListChanged: (kind: ListKind) => void;
  /** A resource that was read before is another one now. */
  readonly onResourceChanged: (uri: string) => void;
  /** A question of the server was answered with no, by nobody's wish: to be read behind its name. */
  readonly onDeclined: (words: string) => void;
  /** The model has answered something for the server: to be read behind its name. */
  readonly onSampled: (words: string) => void;
  /** What a person was sent to an address for is done there. */
  readonly onVisited: (id: string) => void;
};

const NOTE_CHARS = 200;
/** Wishes of a server that wait for their answer as tasks. */
const MOST_TASKS = 20;
/** Questions that may wait for their answer at the same time. */
const MOST_OPEN = 5;
const MOST_VISITS = 100;
/** A person need not read of every no. */
const MOST_TOLD = 5;
const LONGEST_KEPT_MS = 3_600_000;

/** Our side of the protocol: what a server may ask, and what it may tell. */
export function ourSide(side: OurSide, newest: () => ActiveCall | undefined): Client {
  const { server, version, ask, sample, onListChanged, onDeclined, onSampled, onVisited } = side;
  const tasks = new InMemoryTaskStore();
  const asked = { elicitation: { create: {} }, ...(sample === undefined ? {} : { sampling: { createMessage: {} } }) };
  const capabilities = {
    roots: { listChanged: true },
    elicitation: { form: {}, url: {} },
    ...(sample === undefined ? {} : { sampling: { tools: {} } }),
    tasks: { list: {}, cancel: {}, requests: asked },
  };
  const client = new Client({ name: 'ouro', version }, { capabilities, taskStore: tasks });
  const answer = createSampler({ server, sample, rule: side.samplingRule, onSampled });

  side.closed.addEventListener('abort', () => tasks.cleanup(), { once: true });

  let open = 0;
  let declined = 0;
  let visits: readonly string[] = [];

  /** In the name of the call at work; while a person or a model is asked, its server is not late. */
  async function inCall<Answer>(work: (ask: Ask | undefined) => Promise<Answer>): Promise<Answer> {
    if (open >= MOST_OPEN) throw new McpError(ErrorCode.InvalidRequest, 'Too many questions wait already.');
    const call = newest();
    open += 1;
    try {
      return await (call === undefined ? work(ask) : call.whilePaused(() => work(call.ask)));
    } finally {
      open -= 1;
    }
  }

  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: side.roots().map(rootOf) }));
  client.setRequestHandler(ElicitRequestSchema, ({ params }, extra) =>
    asTaskWhereWanted(params.task, extra, { tasks, closed: side.closed }, (signal) =>
      inCall(async (own) => {
        if (params.mode === 'url') visits = [...visits, params.elicitationId].slice(-MOST_VISITS);
        const { result, reason } = await elicit(server, params, own, signal);
        declined += reason === undefined ? 0 : 1;
        if (reason !== undefined && declined <= MOST_TOLD)
          onDeclined(`wanted to know something and was told no: ${untrustedLine(reason, NOTE_CHARS)}`);
        return result;
      }),
    ),
  );
  if (sample !== undefined)
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }, extra) =>
      asTaskWhereWanted(params.task, extra, { tasks, closed: side.closed }, (signal) =>
        inCall((own) => answer(params, own, signal)),
      ),
    );
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    if (visits.includes(params.elicitationId)) onVisited(params.elicitationId);
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => side.onResourceChanged(params.uri));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => onListChanged('tools'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => onListChanged('prompts'));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onListChanged('resources'));
  return client;
}

const rootOf = (root: string) => ({ uri: pathToFileURL(root).href, name: basename(root) });

type Extra = RequestHandlerExtra<ClientRequest, ClientNotification>;

/** Answers at once with a task where the server wants that, and does the work behind it. */
async function asTaskWhereWanted<Answer extends Result>(
  wanted: TaskMetadata | undefined,
  { signal, taskStore }: Extra,
  { tasks, closed }: { readonly tasks: InMemoryTaskStore; readonly closed: AbortSignal },
  work: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | CreateTaskResult> {
  if (wanted === undefined || taskStore === undefined) return work(signal);
  const open = tasks.getAllTasks().filter(({ status }) => status === 'working' || status === 'input_required');
  if (open.length >= MOST_TASKS) throw new McpError(ErrorCode.InternalError, 'Too many questions wait already.');
  const task = await taskStore.createTask({ ttl: Math.min(wanted.ttl ?? LONGEST_KEPT_MS, LONGEST_KEPT_MS) });
  const { taskId } = task;
  // The request is answered with the task; from here on only the end of the connection takes it back.
  void work(closed)
    .then(
      (result) => taskStore.storeTaskResult(taskId, 'completed', result),
      (thrown) => taskStore.updateTaskStatus(taskId, 'failed', messageOf(thrown)),
    )
    // It was cancelled meanwhile, or the server is gone: nobody waits for it any more.
    .catch(() => undefined);
  return { task };
}
