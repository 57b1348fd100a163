import { formatMoney } from '../../lib/text/format.ts';
import { choosePort, usualSmallModel } from '../../model/choose/choose-port.ts';
import { placeOf } from '../../model/choose/model-name.ts';
import type { Offer, OfferedModel } from '../../model/choose/offered.ts';
import type { PortConfig } from '../../model/choose/port-config.ts';
import { costUsd } from '../../model/pricing.ts';
import type { Finding } from './doctor.ts';

/** Longer than a model on one's own machine needs to be loaded. */
const PATIENCE_MS = 60_000;
/** The fewest that every place takes. */
const TOKENS = 16;

/** Asks the cheapest model of each place for one word, all at once, and says what works, how fast, and what it cost. */
export async function liveCheck(config: PortConfig, { models }: Offer): Promise<readonly Finding[]> {
  const places = Map.groupBy(models, ({ info: { id } }) => (id.includes('/') ? id.split('/')[0] : 'anthropic'));
  const silent = Object.entries(config.providers ?? {}).flatMap(([name, { baseUrl }]): Finding[] => {
    const detail = `${baseUrl} lists no models. Is it started, and is that its address with its version?`;
    return baseUrl === undefined || places.has(name) ? [] : [{ name: `live ${name}`, state: 'bad', detail }];
  });
  if (places.size === 0 && silent.length === 0)
    return [
      {
        name: 'live',
        state: 'warn',
        detail: 'No place can be asked: none has a key, and no model server answers here.',
      },
    ];
  return [...(await Promise.all([...places].map(([, offered]) => checkPlace(config, offered)))), ...silent];
}

async function checkPlace(config: PortConfig, offered: readonly OfferedModel[]): Promise<Finding> {
  const [first] = offered;
  if (first === undefined) throw new Error('A place without a model was to be checked.');
  const usual = usualSmallModel(placeOf(config, first.info.id), config.claudeAt);
  const { info, place } = offered.find((one) => one.info.id === usual) ?? cheapest(offered) ?? first;
  const name = `live ${place}`;
  const choice = choosePort({ ...config, model: info.id, retry: { limits: () => ({ maxRetries: 0 }) } });
  if (!choice.ok) return { name, state: 'bad', detail: choice.problem };
  await choice.lookUp(info.id);
  const begun = performance.now();
  const request = {
    model: info.id,
    maxOutputTokens: TOKENS,
    system: [{ name: 'side', text: 'Answer with one word.' }],
    tools: [],
    messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Say yes.' }] }],
    breakpoints: [],
    effort: 'off',
  } as const;
  const options = { restartable: () => false, overloadLimit: 1, maxRetries: 0 };
  const stream = choice.port.stream(request, options, AbortSignal.timeout(PATIENCE_MS));
  let next = await stream.next();
  while (next.done !== true) next = await stream.next();
  const ms = Math.round(performance.now() - begun);
  const outcome = next.value;
  if (!outcome.ok) return { name, state: 'bad', detail: `${info.id}: ${outcome.failure.message}` };
  const { usage } = outcome;
  const cost = costUsd(usage, choice.infoOf(info.id).price);
  const read = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const money = cost === undefined ? 'at a price nobody knows' : `for ${formatMoney(cost)}`;
  return {
    name,
    state: 'ok',
    detail: `${info.id} answered in ${ms} ms: ${read} tokens read, ${usage.outputTokens} written, ${money}`,
  };
}

function cheapest(offered: readonly OfferedModel[]): OfferedModel | undefined {
  const priced = offered.filter(({ info }) => info.price !== undefined);
  return priced.toSorted((a, b) => (a.info.price?.output ?? 0) - (b.info.price?.output ?? 0))[0];
}
