import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import {
  getErrorMessage,
  getErrorPhrase,
  getSignalExitCode,
  type ProcessIo,
  parseFlagValues,
  readSettings,
  redactSecrets,
  runForOutput,
  type Shutdown,
  SUBCOMMANDS,
  type SubcommandInput,
  UsageError,
  type WorkerFlags,
  writePrivateFile,
} from '@ouro-cli/ouro/commands';
import { describeMissingSandbox, findTaskSandboxProblem } from '../worker/task-sandbox.ts';
import {
  addEventToWorkerTotals,
  createWorkerEventRecord,
  formatWorkerEvent,
  formatWorkerMetrics,
  NO_WORKER_TOTALS,
  type WorkerEvent,
  type WorkerTotals,
} from '../worker/worker-events.ts';
import { getWorkerPolicyPath, readWorkerPolicy, type WorkerPolicy } from '../worker/worker-policy.ts';
import { BATCH_EXIT_CODES, getDefaultTaskSlots } from './batch-run-command.ts';
import { formatBatchCount } from './format-batch.ts';
import { openTaskQueue, runWithQueueErrorReport } from './open-task-queue.ts';
import { runWorkerInProcess } from './run-worker-in-process.ts';

/** Runs `ouro worker [init | doctor]`: works on tasks from a queue, under the policy of this machine. */
export async function runWorkerCommand({
  args: [action, ...extraArgs],
  flags: rawFlags,
  io,
  shutdown,
}: SubcommandInput): Promise<number> {
  const flags = parseFlagValues(SUBCOMMANDS.worker.flags, rawFlags);
  if (extraArgs.length > 0) throw new UsageError('Usage: ouro worker [init | doctor]');
  switch (action) {
    case undefined:
      return runWithQueueErrorReport(io, () => runWorkerUntilStopped(flags, io, shutdown));
    case 'init':
      return writeSampleWorkerPolicy(io);
    case 'doctor':
      return runWorkerDoctorCommand(flags, io);
    default:
      throw new UsageError(`Unknown command "ouro worker ${action}". Use one of: init, doctor.`);
  }
}

/** Runs `ouro worker`: works on tasks until stopped, or until the queue is empty. */
export async function runWorkerUntilStopped(flags: WorkerFlags, io: ProcessIo, shutdown: Shutdown): Promise<number> {
  if (flags.once === true && flags.untilEmpty === true)
    throw new UsageError('--once and --until-empty contradict each other. Choose one.');
  const abortController = new AbortController();
  shutdown.attachWork({ graceMs: 15_000, abort: () => abortController.abort() });
  const policy = await readWorkerPolicy(io.environment.ouroHome);
  const sandboxProblem = await findMissingSandbox(policy, io);
  // A worker without its sandbox would fail every task of the queue.
  if (sandboxProblem !== undefined) {
    io.stderr.write(`This worker does not start: ${sandboxProblem}.\n`);
    return BATCH_EXIT_CODES.waits;
  }
  const fleet = await openTaskQueue(io, flags.queue);
  const observer = await createWorkerObserver(flags, io).catch(async (thrown: unknown) => {
    await fleet.store.close();
    throw thrown;
  });
  try {
    const ended = await runWorkerInProcess(fleet, policy, io, {
      slots: flags.jobs ?? getDefaultTaskSlots(),
      until: flags.once === true ? 'once' : flags.untilEmpty === true ? 'empty' : 'stopped',
      whenPaused: 'waits',
      signal: abortController.signal,
      onEvent: observer.onEvent,
    });
    if (ended.kind === 'stopped') return getSignalExitCode(shutdown.reason());
    if (ended.kind === 'waits') return ended.for === 'money' ? BATCH_EXIT_CODES.money : BATCH_EXIT_CODES.waits;
    return ended.kind === 'left' ? BATCH_EXIT_CODES.waits : BATCH_EXIT_CODES.done;
  } finally {
    await observer.close();
    await fleet.store.close();
  }
}

/** Returns why the sandbox that the policy requires is not available; `undefined` if it is, or if none is required. */
async function findMissingSandbox(policy: WorkerPolicy, { environment }: ProcessIo): Promise<string | undefined> {
  if (policy.sandbox !== true) return undefined;
  const problem = await findTaskSandboxProblem({
    environment,
    policy,
    readSettings: (run) => readSettings(run, environment, false),
  });
  return problem === undefined ? undefined : describeMissingSandbox(problem);
}

/** A restrictive policy: a task may do nothing that is not listed. */
const SAMPLE_POLICY = {
  mode: 'acceptEdits',
  repositories: ['https://github.com/your-organisation/*'],
  tools: ['Bash(npm test:*)'],
  verify: ['npm test'],
  env: [],
  sandbox: true,
  network: false,
  freeMegabytes: 500,
};

/** Runs `ouro worker init`: writes a sample policy. */
export async function writeSampleWorkerPolicy({ environment, stdout, stderr }: ProcessIo): Promise<number> {
  const file = getWorkerPolicyPath(environment.ouroHome);
  if (existsSync(file)) {
    stderr.write(`${file} already exists; nothing was changed.\n`);
    return 1;
  }
  await writePrivateFile(file, `${JSON.stringify(SAMPLE_POLICY, null, 2)}\n`);
  stdout.write(`${file}\nThis policy limits what tasks may do on this machine. Add your repositories to it.\n`);
  return 0;
}

type CheckResult = { readonly what: string; readonly ok: boolean; readonly words: string };

/** Runs `ouro worker doctor`: checks that this machine can run tasks. */
export async function runWorkerDoctorCommand(flags: WorkerFlags, io: ProcessIo): Promise<number> {
  const results = [
    await runCheck('policy', async () => {
      await readWorkerPolicy(io.environment.ouroHome);
      const file = getWorkerPolicyPath(io.environment.ouroHome);
      return existsSync(file) ? file : 'none: tasks are not restricted ("ouro worker init" creates a policy)';
    }),
    await runCheck('sandbox', async () => {
      const policy = await readWorkerPolicy(io.environment.ouroHome);
      if (policy.sandbox !== true) return 'not required by the policy';
      const problem = await findMissingSandbox(policy, io);
      if (problem !== undefined) throw new Error(problem);
      return `on, ${policy.network === true ? 'with' : 'without'} network`;
    }),
    await runCheck('git', async () => (await runForOutput('git', ['--version'], { timeoutMs: 5_000 })).trim()),
    await runCheck('queue', async () => {
      const { store, reach, isPrivate } = await openTaskQueue(io, flags.queue);
      const batches = await store.listBatches();
      await store.close();
      const warning = isPrivate ? '' : '; WARNING: not encrypted, add ?sslmode=verify-full to the address';
      return `${reach === 'many' ? 'Postgres' : 'local'}, ${formatBatchCount(batches.length)}${warning}`;
    }),
    await runCheck('key', async () => {
      const names = Object.keys(io.environment.keys).filter((name) => name !== 'OURO_QUEUE');
      return names.length === 0 ? 'none set: tasks can use a local model, a stored key, or demo' : names.join(', ');
    }),
  ];
  if (flags.json === true) io.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else
    for (const { what, ok, words } of results)
      io.stdout.write(`${ok ? 'ok    ' : 'FAILED'}  ${what.padEnd(8)} ${words}\n`);
  return results.every(({ ok }) => ok) ? 0 : 1;
}

/** `what` and `words` are the keys of the JSON output. */
async function runCheck(what: string, check: () => Promise<string>): Promise<CheckResult> {
  try {
    return { what, ok: true, words: await check() };
  } catch (thrown) {
    return { what, ok: false, words: getErrorMessage(thrown).split('\n')[0] ?? '' };
  }
}

/** The log of a worker, and its health endpoint if it has one. */
type WorkerObserver = { readonly onEvent: (event: WorkerEvent) => void; readonly close: () => Promise<void> };

type Output = Readonly<Record<'stdout' | 'stderr', { readonly write: (text: string) => void }>>;

export async function createWorkerObserver({ log, health }: WorkerFlags, io: Output): Promise<WorkerObserver> {
  let totals = NO_WORKER_TOTALS;
  const server = health === undefined ? undefined : await serveHealth(health, () => totals);
  if (server !== undefined && log !== 'json') io.stderr.write(`Health and metrics: ${server.url}/health, /metrics\n`);
  return {
    onEvent(event) {
      totals = addEventToWorkerTotals(totals, event);
      const line = log === 'json' ? undefined : formatWorkerEvent(event);
      if (log === 'json') io.stdout.write(formatRecord(event, server?.url));
      else if (line !== undefined) io.stderr.write(`${line}\n`);
    },
    close: async () => server?.close(),
  };
}

function formatRecord(event: WorkerEvent, healthUrl: string | undefined): string {
  const level = event.kind === 'error' ? 'error' : 'info';
  const health = event.kind === 'started' && healthUrl !== undefined ? { healthUrl } : {};
  const record = { time: new Date().toISOString(), level, ...createWorkerEventRecord(event), ...health };
  return `${redactSecrets(JSON.stringify(record))}\n`;
}

const MAX_PORT = 65_535;

/** Serves the health and the metrics on loopback; port 0 picks a free one. */
async function serveHealth(port: number, getTotals: () => WorkerTotals) {
  if (port > MAX_PORT) throw new UsageError(`Option --health must be a port, at most ${MAX_PORT}.`);
  const server = createServer(({ method, url }, response) => {
    const totals = getTotals();
    const answer = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(method === 'HEAD' ? undefined : body);
    };
    if (method !== 'GET' && method !== 'HEAD') return answer(405, 'text/plain', 'Use GET.\n');
    const [path] = (url ?? '').split('?');
    if (path === '/metrics')
      return answer(200, 'text/plain; version=0.0.4; charset=utf-8', formatWorkerMetrics(totals));
    if (path !== '/health') return answer(404, 'text/plain', 'Use /health or /metrics.\n');
    const { isConnected, running, slots } = totals;
    const status = isConnected ? 'ok' : 'queue unavailable';
    return answer(isConnected ? 200 : 503, 'application/json', `${JSON.stringify({ status, running, slots })}\n`);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((thrown: unknown) => {
    throw new UsageError(`Port ${port} cannot be used: ${getErrorPhrase(thrown)}. Choose another one for --health.`);
  });
  const address = server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${actualPort}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
