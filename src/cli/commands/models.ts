import { modelsHere, updateModels } from '../../app/start/models.ts';
import type { ModelPrice } from '../../contracts/model.ts';
import { messageOf } from '../../lib/errors.ts';
import { formatCount, formatTokens } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { padWidth, textWidth } from '../../lib/text/text-width.ts';
import type { CommandRequest } from '../args/subcommands.ts';

type Offer = Awaited<ReturnType<typeof modelsHere>>;
type Offered = Offer['models'][number];

/** `ouro models [words] | update`: what can be used here, with place, window, price and key. */
export async function run({ words, flags, io }: CommandRequest): Promise<number> {
  try {
    if (words[0] === 'update' && words.length === 1) {
      const { models, providers, leftOut, url } = await updateModels(io);
      const left = leftOut === 0 ? '' : ` What it says of ${leftOut} others could not be understood.`;
      io.stdout.write(
        `${formatCount(models, 'model')} of ${formatCount(providers, 'place')} read from ${url}.${left}\n`,
      );
      return 0;
    }
    const { models, closed } = await modelsHere(io);
    const found = models.filter((model) => isMeant(model, words));
    if (flags.json === true)
      io.stdout.write(`${JSON.stringify({ models: found.map(asJson), withoutKey: closed }, null, 2)}\n`);
    else
      io.stdout.write(
        sanitize(`${[...table(found), '', ...hints(found, closed, words)].join('\n').trim()}\n`, 'output'),
      );
    return 0;
  } catch (thrown) {
    io.stderr.write(`${messageOf(thrown)}\n`);
    return 1;
  }
}

/** Every word is somewhere in the name, the label or the place. */
function isMeant({ info, place }: Offered, words: readonly string[]): boolean {
  const text = `${info.id} ${info.label} ${place}`.toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}

function asJson({ info, place, key }: Offered) {
  const {
    id,
    label,
    contextWindow,
    maxOutputTokens,
    vision,
    takesTools = true,
    thinking,
    efforts,
    knowledge,
    price,
  } = info;
  return {
    model: id,
    label,
    place,
    key,
    contextWindow,
    maxOutputTokens,
    vision,
    tools: takesTools,
    thinking: thinking !== 'none',
    efforts,
    ...(knowledge === undefined ? {} : { knowledge }),
    ...(price === undefined ? {} : { price }),
  };
}

const HEAD = ['model', 'place', 'window', 'output', '$ in / out / cached', 'sees', 'key'];

function table(models: readonly Offered[]): readonly string[] {
  if (models.length === 0) return [];
  const rows = [
    HEAD,
    ...models.map(({ info, place, key }) => [
      info.id,
      place,
      formatTokens(info.contextWindow),
      formatTokens(info.maxOutputTokens),
      priceWords(info.price),
      info.vision ? 'pictures' : '',
      key,
    ]),
  ];
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, at) => padWidth(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function priceWords(price: ModelPrice | undefined): string {
  return price === undefined ? 'unknown' : [price.input, price.output, price.cacheRead].join(' / ');
}

function hints(found: readonly Offered[], closed: Offer['closed'], words: readonly string[]): readonly string[] {
  const none = words.length > 0 ? `No model here is called ${words.join(' ')}.` : 'No model can be used here yet.';
  const names = closed.map(({ name }) => name).join(', ');
  return [
    ...(found.length === 0
      ? [none]
      : ['Prices are dollars for a million tokens. Choose with --model <model>, or /model on the screen.']),
    ...(closed.length === 0
      ? []
      : [`Without a key: ${names}. "ouro login <place>" stores one; docs/models.md names the variables.`]),
  ];
}
