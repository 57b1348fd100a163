import { resolve } from 'node:path';
import { createPlugins, type Plugins } from '../../app/start/plugins.ts';
import { messageOf } from '../../lib/errors.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';

/** `ouro plugin …`: what is installed, and the marketplaces it comes from. */
export async function run({ words, flags, io }: CommandRequest): Promise<number> {
  const [what = 'list', ...names] = words;
  const action = Object.hasOwn(ACTIONS, what) ? ACTIONS[what] : undefined;
  if (action === undefined)
    throw new UsageError(`There is no "ouro plugin ${what}". There are: ${Object.keys(ACTIONS).join(', ')}.`);
  try {
    const plugins = createPlugins(io.environment, io.cwd);
    const { lines, code = 0 } = await action({ plugins, names, cwd: io.cwd, isAgreed: flags.yes === true });
    for (const line of lines) io.stdout.write(`${sanitize(line, 'line')}\n`);
    return code;
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    io.stderr.write(`${sanitize(messageOf(thrown), 'line')}\n`);
    return 1;
  }
}

type Order = {
  readonly plugins: Plugins;
  readonly names: readonly string[];
  readonly cwd: string;
  readonly isAgreed: boolean;
};
type Answer = { readonly lines: readonly string[]; readonly code?: number };

const ACTIONS: Readonly<Record<string, (order: Order) => Promise<Answer>>> = {
  list,
  async install(order) {
    return { lines: (await Promise.all(named(order, 'install NAME').map((name) => install(name, order)))).flat() };
  },
  async enable({ plugins, names }) {
    const id = await plugins.installedId(named({ names }, 'enable NAME')[0] ?? '');
    await plugins.setEnabled(id, true);
    return { lines: [`${id} counts from now on.`] };
  },
  async disable({ plugins, names }) {
    const id = await plugins.installedId(named({ names }, 'disable NAME')[0] ?? '');
    await plugins.setEnabled(id, false);
    return { lines: [`${id} does not count any more.`] };
  },
  async remove({ plugins, names }) {
    const id = await plugins.installedId(named({ names }, 'remove NAME')[0] ?? '');
    await plugins.setEnabled(id, undefined);
    await plugins.keep(['plugins', id], undefined);
    await plugins.dropData(id);
    return { lines: [`${id} is removed.`] };
  },
  update,
  async validate({ plugins, names: [folder = '.'], cwd }) {
    const problems = await plugins.validate(resolve(cwd, folder));
    return problems.length === 0 ? { lines: ['Nothing is wrong with it.'] } : { lines: problems, code: 1 };
  },
  marketplace,
};

function named({ names }: Pick<Order, 'names'>, usage: string): readonly string[] {
  if (names.length === 0) throw new UsageError(`Say: ouro plugin ${usage}`);
  return names;
}

/** Shown first: it counts with a second word of the person, or `--yes`. */
async function install(name: string, { plugins, isAgreed }: Order): Promise<readonly string[]> {
  const { enabledPlugins = {} } = await plugins.settings();
  const { id, lines } = await plugins.install(name);
  if (isAgreed) {
    await plugins.setEnabled(id, true);
    return [...lines, `${id} counts from now on.`];
  }
  // What was looked at was another copy of it.
  if (enabledPlugins[id] === true) await plugins.setEnabled(id, false);
  return [...lines, `It does not count yet. When you have looked at it: ouro plugin enable ${id}`];
}

async function list({ plugins }: Order): Promise<Answer> {
  const [{ value }, { enabledPlugins = {} }] = await Promise.all([plugins.store.read(), plugins.settings()]);
  const rows = Object.entries(value.plugins).map(([id, { version = '', commit, folder }]) => {
    const state = enabledPlugins[id] === true ? 'on ' : 'off';
    return `${state} ${id} ${version}${commit === undefined ? '' : ` (${commit.slice(0, 12)})`}  ${folder}`;
  });
  return { lines: rows.length === 0 ? ['No plugin is installed.'] : rows };
}

/** Marketplaces are fetched anew, and what changed in them is installed; it counts again once it was looked at. */
async function update(order: Order): Promise<Answer> {
  const { plugins, names } = order;
  const { value } = await plugins.store.read();
  for (const { address } of Object.values(value.marketplaces)) await plugins.addMarketplace(address);
  const wanted = names.length === 0 ? Object.keys(value.plugins) : await Promise.all(names.map(plugins.installedId));
  const lines: string[] = [];
  for (const id of wanted) {
    const before = (await plugins.store.read()).value.plugins[id];
    const { enabledPlugins = {} } = await plugins.settings();
    const fresh = await plugins.install(id);
    const after = (await plugins.store.read()).value.plugins[id];
    if (before?.mark === after?.mark) lines.push(`${id} is as it was.`);
    else {
      const counts = order.isAgreed && enabledPlugins[id] === true;
      if (!counts && enabledPlugins[id] === true) await plugins.setEnabled(id, false);
      lines.push(
        ...fresh.lines,
        counts ? `${id} counts.` : `It does not count yet. When you have looked at it: ouro plugin enable ${id}`,
      );
    }
  }
  return { lines: lines.length === 0 ? ['No plugin is installed.'] : lines };
}

async function marketplace({ plugins, names: [what = 'list', name] }: Order): Promise<Answer> {
  const { marketplaces } = (await plugins.store.read()).value;
  if (what === 'add' && name !== undefined) return { lines: await plugins.addMarketplace(name) };
  if (what === 'remove' && name !== undefined && Object.hasOwn(marketplaces, name)) {
    await plugins.keep(['marketplaces', name], undefined);
    return { lines: [`${name} is forgotten. What was installed from it stays.`] };
  }
  if (what !== 'list') throw new UsageError('Say: ouro plugin marketplace list, add ADDRESS, or remove NAME');
  const rows = Object.entries(marketplaces).map(
    ([id, { address, commit }]) => `${id}  ${address}${commit === undefined ? '' : ` (${commit.slice(0, 12)})`}`,
  );
  return { lines: rows.length === 0 ? ['No marketplace was added.'] : rows };
}
