import type { ModelInfo, ModelPrice } from '../contracts/model.ts';
import { modelInfo } from './catalog.ts';
import { type Cloud, claudeId, splitRegion } from './claude-name.ts';
import { type CloudSettings, vertexRegion } from './clouds/cloud-settings.ts';

/** The same model as Anthropic's own, without what the cloud lacks, and at the price of where it runs. */
export function cloudModelInfo(cloud: Cloud, model: string, settings: CloudSettings): ModelInfo {
  const id = `${cloud}/${model}`;
  const { clearsResultsAt, price, ...info } = modelInfo(claudeId(model));
  const isOfAws = cloud === 'bedrock' || cloud === 'mantle';
  return {
    ...info,
    id,
    label: id,
    webSearch: info.webSearch && !isOfAws,
    ...(price && { price: isRegional(cloud, model, settings) ? dearer(price) : price }),
    ...(clearsResultsAt !== undefined && cloud === 'foundry' && { clearsResultsAt }),
  };
}

/** From 4.5 on, a model that stays in its region costs a tenth more than one that may run anywhere. */
function isRegional(cloud: Cloud, model: string, settings: CloudSettings): boolean {
  const [, major = 0, minor = 0] = /^claude-[a-z]+-(\d+)(?:-(\d)(?!\d))?/.exec(claudeId(model))?.map(Number) ?? [];
  if (major < 4 || (major === 4 && minor < 5)) return false;
  if (cloud === 'bedrock') return !/(?:^|[/:])global\./.test(splitRegion(model).model);
  return cloud === 'vertex' && vertexRegion(settings, model) !== 'global';
}

const REGIONAL = 1.1;
/** People read it: no more digits than a price has. */
const more = (rate: number) => Math.round(rate * REGIONAL * 1e6) / 1e6;

function dearer({ asOf, long, ...rates }: ModelPrice): ModelPrice {
  const scaled = <Rates extends Omit<ModelPrice, 'asOf' | 'long'>>(given: Rates) => ({
    ...given,
    input: more(given.input),
    output: more(given.output),
    cacheRead: more(given.cacheRead),
    cacheWrite: more(given.cacheWrite),
  });
  return { ...scaled(rates), ...(long && { long: scaled(long) }), asOf };
}
