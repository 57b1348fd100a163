import { expect, test } from 'vitest';
import { overloaded } from '../support/api/faults.ts';
import { type ApiTurn, says, status } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject } from '../support/temp-project.ts';

/** The models asked at each prompt, and what was told, where the first model stays away. */
async function asked(refusal: ApiTurn, prompts: number) {
  await using project = await createTempProject();
  await using server = await startApiServer({
    turns: ({ body }) => (String(body.model).includes('opus') ? refusal : says('fine')),
  });
  const made = await composed(project, server.url, { model: 'opus', fallbackModels: ['haiku'] });
  try {
    for (let at = 0; at < prompts; at += 1) await made.conversation.agent.prompt('go');
    const reported = made.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    await made.conversation.setModel('opus-5');
    await made.conversation.agent.prompt('go');
    return { models: server.requests().map(({ body }) => String(body.model).split('-')[1]), reported };
  } finally {
    await made.close();
  }
}

test('a fallback model stays in use for a while instead of failing at each prompt, and is reported once', async () => {
  const { models, reported } = await asked(overloaded(), 3);
  expect(models.slice(0, 6)).toEqual(['opus', 'opus', 'opus', 'haiku', 'haiku', 'haiku']);
  const notices = reported.filter((text) => text.includes('is tried again'));
  expect(notices).toEqual([
    'Using claude-haiku-5-5 for 5 minutes; then claude-opus-5-5 is tried again. Use /model to change.',
  ]);
  // Another model was chosen: it is asked first.
  expect(models[6]).toBe('opus');
});

longTest('when the first model does not exist, the fallback stays in use', async () => {
  const { models, reported } = await asked(status(404), 2);
  expect(models.slice(0, 3)).toEqual(['opus', 'haiku', 'haiku']);
  expect(reported).toContain('Using claude-haiku-5-5 instead of claude-opus-5-5. Use /model to change.');
});
