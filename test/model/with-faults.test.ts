import { expect, test } from 'vitest';
import { withFaults } from '../../src/model/with-faults.ts';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import { says, scripted } from '../support/loop/scripted.ts';

test('planned requests fail, the others reach the port', async () => {
  const { model, requests } = scripted([says('one'), says('two')]);
  const port = withFaults(model, ['overloaded', undefined, 'invalid']);
  const agent = createAgent({ model: { port, maxRetries: 1 }, maxRetryDelayMs: 1 });
  expect(await agent.prompt('hi')).toMatchObject({ reason: 'completed', text: 'one' });
  expect(await agent.prompt('again')).toMatchObject({ reason: 'api_error', failure: { kind: 'invalid' } });
  expect(requests()).toHaveLength(1);
});

test('a plan can be a function of the request number', async () => {
  const asked: number[] = [];
  const port = withFaults(scripted([says('one')]).model, (request) => {
    asked.push(request);
    return request < 3 ? 'unknown_tool' : undefined;
  });
  expect(await createAgent({ model: port }).prompt('hi')).toMatchObject({ reason: 'completed', text: 'one' });
  expect(asked).toEqual([1, 2, 3]);
});
