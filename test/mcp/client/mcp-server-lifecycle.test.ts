import { expect, test } from 'vitest';
import { EMPTY_MCP_SERVER_CATALOG } from '../../../src/mcp/client/mcp-server-catalog.ts';
import type { McpServerConnection } from '../../../src/mcp/client/mcp-server-connection.ts';
import {
  IDLE_MCP_SERVER,
  type McpServerEvent,
  type McpServerLifecycle,
  reduceMcpServerLifecycle,
} from '../../../src/mcp/client/mcp-server-lifecycle.ts';

const never = async () => {
  throw new Error('Nobody asks.');
};
const connection: McpServerConnection = {
  info: undefined,
  instructions: undefined,
  getCloseReason: () => undefined,
  hasCapability: () => false,
  listTools: never,
  listPrompts: never,
  listResources: never,
  listResourceTemplates: never,
  callTool: never,
  getPrompt: never,
  readResource: never,
  complete: never,
  close: async () => undefined,
};
const START: McpServerEvent = { type: 'start' };
const connected = (atMs: number): McpServerEvent => ({
  type: 'connected',
  connection,
  catalog: EMPTY_MCP_SERVER_CATALOG,
  atMs,
});
const lost = (atMs: number): McpServerEvent => ({ type: 'lost', problem: 'it fell', atMs });
const FAILED: McpServerEvent = { type: 'failed', problem: 'no licence' };

/** The phases a server goes through, and what people are told on the way. */
function live(events: readonly McpServerEvent[]) {
  let state: McpServerLifecycle = IDLE_MCP_SERVER;
  const phases: string[] = [];
  const reported: string[] = [];
  for (const event of events) {
    const step = reduceMcpServerLifecycle(state, event, { name: 'shop', backoffMs: 10 });
    state = step.state;
    phases.push(state.phase.status === 'starting' ? `starting after ${state.phase.afterMs}` : state.phase.status);
    if (step.notice !== undefined) reported.push(step.notice.message);
  }
  return { phases, reported };
}

test('a server that never started is not restarted', () => {
  expect(live([START, FAILED])).toEqual({
    phases: ['starting after 0', 'failed'],
    reported: ['is not connected: no licence'],
  });
});

test('a lost server is restarted with growing delays, a bounded number of times', () => {
  const fails = Array.from({ length: 6 }, () => FAILED);
  const waits = [10, 10, 20, 40, 80, 160].map((ms) => `starting after ${ms}`);
  expect(live([START, connected(0), lost(5), ...fails])).toEqual({
    phases: ['starting after 0', 'connected', ...waits, 'failed'],
    reported: ['disconnected: it fell. It is being restarted.', 'is not connected: no licence'],
  });
});

test('a server that ran for long has all its attempts again', () => {
  const falls = Array.from({ length: 8 }, (_, n) => [connected(n * 100_000), lost(n * 100_000 + 90_000)]).flat();
  expect(live([START, ...falls]).phases.at(-1)).toBe('starting after 10');
  const quick = Array.from({ length: 6 }, (_, n) => [connected(n), lost(n)]).flat();
  expect(live([START, ...quick]).phases.at(-1)).toBe('failed');
});

test('the end of an old connection changes nothing', () => {
  const { phases, reported } = live([START, { type: 'switched-off' }, lost(1)]);
  expect([phases, reported]).toEqual([['starting after 0', 'off', 'off'], []]);
});
