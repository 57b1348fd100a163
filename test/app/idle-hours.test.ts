import { afterEach, expect, test, vi } from 'vitest';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempProject } from '../support/temp-project.ts';

afterEach(() => {
  vi.useRealTimers();
});

const HOURS_MS = 8 * 3_600_000;

test('eight idle hours leave no timers or files, and the next prompt is answered', async () => {
  await using project = await createTempProject({ 'CLAUDE.md': 'Be kind.' });
  await using server = await startApiServer({ turns: () => says('Fine.') });
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const at = await composed(project, server.url, { frontend: 'screen' });
  await at.conversation.agent.prompt('good night');
  await at.conversation.agent.waitForIdle();
  // The small model is asked for a name of the conversation.
  await vi.waitFor(() => expect(server.all()).toHaveLength(2));
  await vi.advanceTimersByTimeAsync(60_000);
  const [timers, reported, asked] = [vi.getTimerCount(), at.events.length, server.all().length];
  await vi.advanceTimersByTimeAsync(HOURS_MS);
  expect([at.events.length, server.all().length]).toEqual([reported, asked]);
  // A connection that was kept for a while may have been closed meanwhile; nothing new waits.
  expect(vi.getTimerCount()).toBeLessThanOrEqual(timers);
  expect(await at.conversation.agent.prompt('good morning')).toMatchObject({ reason: 'completed' });
  expect(server.requests().map(({ violation }) => violation)).toEqual([undefined, undefined]);
  await at.close();
});
