import { listUsableModels, updateModelCatalogue } from '../../app/setup/manage-models.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import type { ModelPrice } from '../../contracts/model.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { omitUndefined } from '../../lib/json.ts';
import { formatCount, formatTokens } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { getTextWidth, padToWidth } from '../../lib/text/text-width.ts';

type ModelOffer = Awaited<ReturnType<typeof listUsableModels>>;
type OfferedModel = ModelOffer['models'][number];

/** Runs `ouro models [filter] | update`: lists the available models, or updates the model catalogue. */
export async function runModelsCommand({ args, flags, io }: SubcommandInput): Promise<number> {
  try {
    if (args[0] === 'update' && args.length === 1) {
      const update = await updateModelCatalogue(io);
      const skipped = update.skipped === 0 ? '' : ` Skipped ${update.skipped} entries that could not be parsed.`;
      const counts = `${formatCount(update.models, 'model')} of ${formatCount(update.providers, 'provider')}`;
      io.stdout.write(`Read ${counts} from ${update.url}.${skipped}\n`);
      return 0;
    }
    const { models, unconfigured } = await listUsableModels(io);
    const matches = models.filter((model) => matchesFilter(model, args));
    if (flags.json === true)
      io.stdout.write(`${JSON.stringify({ models: matches.map(toJson), withoutKey: unconfigured }, null, 2)}\n`);
    else {
      const lines = [...formatTable(matches), '', ...formatHints(matches, unconfigured, args)];
      io.stdout.write(sanitize(`${lines.join('\n').trim()}\n`, 'output'));
    }
    return 0;
  } catch (thrown) {
    io.stderr.write(`${getErrorMessage(thrown)}\n`);
    return 1;
  }
}

/** Each term must occur in the id, the label or the provider. */
function matchesFilter({ info, provider }: OfferedModel, terms: readonly string[]): boolean {
  const text = `${info.id} ${info.label} ${provider}`.toLowerCase();
  return terms.every((term) => text.includes(term.toLowerCase()));
}

function toJson({ info, provider, keySource }: OfferedModel) {
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
    place: provider,
    key: keySource,
    contextWindow,
    maxOutputTokens,
    vision,
    tools: takesTools,
    thinking: thinking !== 'none',
    efforts,
    ...omitUndefined({ knowledge, price }),
  };
}

const HEADER = ['model', 'provider', 'context', 'output', '$ in / out / cached', 'input', 'key'];

function formatTable(models: readonly OfferedModel[]): readonly string[] {
  if (models.length === 0) return [];
  const rows = [
    HEADER,
    ...models.map(({ info, provider, keySource }) => [
      info.id,
      provider,
      formatTokens(info.contextWindow),
      formatTokens(info.maxOutputTokens),
      formatPrice(info.price),
      info.vision ? 'images' : '',
      keySource,
    ]),
  ];
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => getTextWidth(row[column] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, column) => padToWidth(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function formatPrice(price: ModelPrice | undefined): string {
  return price === undefined ? 'unknown' : [price.input, price.output, price.cacheRead].join(' / ');
}

function formatHints(
  matches: readonly OfferedModel[],
  closed: ModelOffer['unconfigured'],
  terms: readonly string[],
): readonly string[] {
  const noMatch = terms.length > 0 ? `No available model matches "${terms.join(' ')}".` : 'No model is available yet.';
  const names = closed.map(({ name }) => name).join(', ');
  return [
    ...(matches.length === 0
      ? [noMatch]
      : ['Prices are in dollars per million tokens. Choose with --model <model>, or /model in a session.']),
    ...(closed.length === 0
      ? []
      : [`Without a key: ${names}. "ouro login <provider>" stores one; "ouro help models" lists the variables.`]),
  ];
}
