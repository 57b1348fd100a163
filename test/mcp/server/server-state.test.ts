import { expect, test } from 'vitest';
import type { Connection } from '../../../src/mcp/server/connection.ts';
import { EMPTY_CATALOG } from '../../../src/mcp/server/server-catalog.ts';
import { IDLE, nextState, type ServerEvent, type ServerState } from '../../../src/mcp/server/server-state.ts';

const never = async () => {
  throw new Error('Nobody asks.');
};
const connection: Connection = {
  info: undefined,
  instructions: undefined,
  ending: () => undefined,
  has: () => false,
  tools: never,
  prompts: never,
  resources: never,
  templates: never,
  call: never,
  prompt: never,
  read: never,
  complete: never,
  close: async () => undefined,
};
const START: ServerEvent = { type: 'start' };
const connected = (atMs: number): ServerEvent => ({ type: 'connected', connection, catalog: EMPTY_CATALOG, atMs });
const lost = (atMs: number): ServerEvent => ({ type: 'lost', why: 'it fell', atMs });
const FAILED: ServerEvent = { type: 'failed', why: 'no licence' };

/** The phases a server goes through, and what people are told on the way. */
function live(events: readonly ServerEvent[]) {
  let state: ServerState = IDLE;
  const phases: string[] = [];
  const told: string[] = [];
  for (const event of events) {
    const step = nextState(state, event, { name: 'shop', backoffMs: 10 });
    state = step.state;
    phases.push(state.phase.at === 'starting' ? `starting after ${state.phase.afterMs}` : state.phase.at);
    if (step.news !== undefined) told.push(step.news.words);
  }
  return { phases, told };
}

test('a server that never came up is not started again', () => {
  expect(live([START, FAILED])).toEqual({
    phases: ['starting after 0', 'failed'],
    told: ['is not connected: no licence'],
  });
});

test('a lost one is started again with longer waits, a bounded number of times', () => {
  const fails = Array.from({ length: 6 }, () => FAILED);
  const waits = [10, 10, 20, 40, 80, 160].map((ms) => `starting after ${ms}`);
  expect(live([START, connected(0), lost(5), ...fails])).toEqual({
    phases: ['starting after 0', 'connected', ...waits, 'failed'],
    told: ['was lost: it fell. It is started again.', 'is not connected: no licence'],
  });
});

test('one that held for long has all its tries again', () => {
  const falls = Array.from({ length: 8 }, (_, n) => [connected(n * 100_000), lost(n * 100_000 + 90_000)]).flat();
  expect(live([START, ...falls]).phases.at(-1)).toBe('starting after 10');
  const quick = Array.from({ length: 6 }, (_, n) => [connected(n), lost(n)]).flat();
  expect(live([START, ...quick]).phases.at(-1)).toBe('failed');
});

test('the end of a connection that is not there any more changes nothing', () => {
  const { phases, told } = live([START, { type: 'switched-off' }, lost(1)]);
  expect([phases, told]).toEqual([['starting after 0', 'off', 'off'], []]);
});
