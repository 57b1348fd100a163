import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { Message } from '../../../src/contracts/message.ts';
import { query } from '../../../src/engine/query.ts';
import type { ModelConfig } from '../../../src/model/registry/model-config.ts';
import { createModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { createUsageMeter } from '../../../src/model/usage-meter.ts';
import { calls, says, text, thinking, toolUse } from '../../support/api/reply.ts';
import { type ApiServer, startServer } from '../../support/api/server.ts';
import { drain } from '../../support/loop/drain.ts';
import { buildHistory, scripted, userSays } from '../../support/loop/scripted.ts';
import { PROTOCOLS, type Protocol } from './protocols.ts';

/** The configurations of many places as one. */
function together(configs: readonly ModelConfig[]): ModelConfig {
  const merge = (pick: (config: ModelConfig) => object | undefined) => Object.assign({}, ...configs.map(pick));
  return {
    ...merge((config) => config),
    providers: merge(({ providers }) => providers),
    clouds: { variables: merge(({ clouds }) => clouds?.variables), keys: merge(({ clouds }) => clouds?.keys) },
  };
}

/** A reply that thinks and calls two tools, and one that answers: what each place has of its own is in the history. */
function turnsOf({ name }: Protocol, visit: 'first' | 'last') {
  const ids = ['one', 'two'].map((nth) => `${name.toLowerCase().replaceAll(/\W/g, '')}_${visit}_${nth}`);
  const asked = ids.map((id) => toolUse('Echo', { of: name }, id));
  const usage = { input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 0 };
  return [calls(thinking(`${name} thinks.`), text('Looking.'), ...asked), says(`${name} is done.`)].map((turn) => ({
    ...turn,
    usage: { ...turn.usage, ...usage },
  }));
}

test('a conversation through every provider and back is accepted everywhere, and its cost adds up', async () => {
  const servers: ApiServer[] = [];
  for (const protocol of PROTOCOLS) {
    servers.push(
      await startServer({ turns: [...turnsOf(protocol, 'first'), ...turnsOf(protocol, 'last')] }, protocol.dialect),
    );
  }
  const configs = PROTOCOLS.map((protocol, at) => protocol.config(servers[at]?.url ?? ''));
  const all = together(configs);
  const known = createModelRegistry({ ...all, model: configs[0]?.model ?? '' });
  if (!known.ok) throw new Error(known.problem);
  const meter = createUsageMeter(known.infoOf);
  let history: readonly Message[] = [];
  const ends: string[] = [];
  const order = [...configs, ...configs.toReversed()];
  for (const [at, { model }] of order.entries()) {
    const choice = createModelRegistry({ ...all, model });
    if (!choice.ok) throw new Error(choice.problem);
    const asked = [...history, userSays(`Leg ${at}`)];
    const config = { chain: [{ model: choice.model }] as const, effort: 'auto' as const };
    const deps = scripted([], {
      model: choice.port,
      modelInfo: choice.infoOf,
      config,
      newId: () => crypto.randomUUID(),
    });
    const { events, result } = await drain(query(asked, deps, new AbortController().signal));
    ends.push(result.reason);
    for (const event of events satisfies readonly AgentEvent[]) meter.onEvent(event);
    history = buildHistory(asked, events);
  }
  expect(servers.flatMap((server) => server.requests().flatMap(({ violation }) => violation ?? []))).toEqual([]);
  expect(ends).toEqual(order.map(() => 'completed'));
  expect(servers.map((server) => server.requests().length)).toEqual(PROTOCOLS.map(() => 4));
  // Four replies of one model at each of five places, each of 1,000 tokens in and 100 out for 3 and 15 dollars a million;
  // the one that stays in its region costs a tenth more.
  const claude = meter.createReport().models.filter(({ model }) => model.includes('claude'));
  const cost = claude.reduce((sum, { costUsd = Number.NaN }) => sum + costUsd, 0);
  expect(claude).toHaveLength(5);
  expect(cost).toBeCloseTo((4 + 1.1) * 4 * (0.003 + 0.0015), 10);
  expect(meter.createReport().total).toMatchObject({ inputTokens: 36_000, outputTokens: 3600 });
  await Promise.all(servers.map((server) => server.close()));
});
