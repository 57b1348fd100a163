import { once } from 'node:events';
import { createServer } from 'node:http';
import type { WorkerFlags } from '../../cli/args/fleet-flags.ts';
import { UsageError } from '../../cli/args/usage-error.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { redactSecrets } from '../../lib/text/redact-secrets.ts';
import {
  addWorkerEvent,
  createWorkerEventRecord,
  formatWorkerEvent,
  formatWorkerMetrics,
  NO_WORKER_TOTALS,
  type WorkerEvent,
  type WorkerTotals,
} from '../worker/worker-events.ts';

/** The log of a worker, and its health endpoint if it has one. */
export type WorkerObserver = { readonly onEvent: (event: WorkerEvent) => void; readonly close: () => Promise<void> };

type Output = Readonly<Record<'stdout' | 'stderr', { readonly write: (text: string) => void }>>;

/** Creates the observer that the flags of a worker ask for. */
export async function createWorkerObserver({ log, health }: WorkerFlags, io: Output): Promise<WorkerObserver> {
  let totals = NO_WORKER_TOTALS;
  const server = health === undefined ? undefined : await serveHealth(health, () => totals);
  if (server !== undefined && log !== 'json') io.stderr.write(`Health and metrics: ${server.url}/health, /metrics\n`);
  return {
    onEvent(event) {
      totals = addWorkerEvent(totals, event);
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
    throw new UsageError(`Port ${port} cannot be used: ${getErrorMessage(thrown)}. Choose another one for --health.`);
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
