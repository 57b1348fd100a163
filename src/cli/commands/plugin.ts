import { resolve } from 'node:path';
import { createPluginOperations, type PluginOperations } from '../../app/plugin-operations.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import {
  askForPluginOptions,
  configurePlugin,
  PLUGIN_CONFIGURE_USAGE,
  type PluginOptionAccess,
} from './configure-plugin.ts';

/** Runs `ouro plugin …`: manages plugins and plugin marketplaces. */
export async function runPluginCommand({ args, flags, io }: SubcommandInput): Promise<number> {
  const [actionName = 'list', ...names] = args;
  const action = Object.hasOwn(ACTIONS, actionName) ? ACTIONS[actionName] : undefined;
  if (action === undefined)
    throw new UsageError(
      `Unknown command "ouro plugin ${actionName}". Use one of: ${Object.keys(ACTIONS).join(', ')}.`,
    );
  try {
    const plugins = createPluginOperations(io.environment, io.cwd);
    const { lines, code = 0 } = await action({ plugins, names, io, cwd: io.cwd, isConfirmed: flags.yes === true });
    for (const line of lines) io.stdout.write(`${sanitize(line, 'line')}\n`);
    return code;
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    io.stderr.write(`${sanitize(getErrorMessage(thrown), 'line')}\n`);
    return 1;
  }
}

type PluginRequest = {
  readonly plugins: PluginOperations;
  readonly names: readonly string[];
  readonly io: ProcessIo;
  readonly cwd: string;
  readonly isConfirmed: boolean;
};
type Output = { readonly lines: readonly string[]; readonly code?: number };

const ACTIONS: Readonly<Record<string, (request: PluginRequest) => Promise<Output>>> = {
  list,
  async install(request) {
    const names = requireNames(request.names, 'install <name>');
    return { lines: (await Promise.all(names.map((name) => install(name, request)))).flat() };
  },
  async enable({ plugins, names, io }) {
    const id = await plugins.installedId(requireNames(names, 'enable <name>')[0] ?? '');
    return { lines: await enable(id, { plugins, io }) };
  },
  async configure({ plugins, names: [name, ...words], io }) {
    const id = await plugins.installedId(
      requireNames(name === undefined ? [] : [name], PLUGIN_CONFIGURE_USAGE)[0] ?? '',
    );
    return { lines: await configurePlugin(id, words, { plugins, io }) };
  },
  async disable({ plugins, names }) {
    const id = await plugins.installedId(requireNames(names, 'disable <name>')[0] ?? '');
    await plugins.setEnabled(id, false);
    return { lines: [`Plugin ${id} disabled.`] };
  },
  async remove({ plugins, names }) {
    const id = await plugins.installedId(requireNames(names, 'remove <name>')[0] ?? '');
    await plugins.setEnabled(id, undefined);
    await plugins.keep(['plugins', id], undefined);
    await plugins.dropData(id);
    await plugins.dropOptions(id);
    return { lines: [`Plugin ${id} removed.`] };
  },
  update,
  async validate({ plugins, names: [folder = '.'], cwd }) {
    const problems = await plugins.validate(resolve(cwd, folder));
    return problems.length === 0 ? { lines: ['No problems found.'] } : { lines: problems, code: 1 };
  },
  marketplace,
};

function requireNames(names: readonly string[], usage: string): readonly string[] {
  if (names.length === 0) throw new UsageError(`Usage: ouro plugin ${usage}`);
  return names;
}

/** Installs a plugin without enabling it, unless `--yes` is given, so that the user can review it first. */
async function install(name: string, { plugins, io, isConfirmed }: PluginRequest): Promise<readonly string[]> {
  const { enabledPlugins = {} } = await plugins.settings();
  const { id, lines } = await plugins.install(name);
  if (isConfirmed) {
    return [...lines, ...(await enable(id, { plugins, io }))];
  }
  // The user reviewed the previous copy, not this one.
  if (enabledPlugins[id] === true) await plugins.setEnabled(id, false);
  return [...lines, formatReviewHint(id)];
}

/** Enables a plugin once its options are set; asks for them in a terminal. */
async function enable(id: string, access: PluginOptionAccess): Promise<readonly string[]> {
  const set = await askForPluginOptions(id, access);
  const { optionProblems } = await access.plugins.readInstalled(id);
  if (optionProblems.length > 0)
    throw new Error(`Plugin ${id} is not enabled: ${optionProblems[0]} Set it with: ouro plugin configure ${id}`);
  await access.plugins.setEnabled(id, true);
  return [...set, `Plugin ${id} enabled.`];
}

function formatReviewHint(id: string): string {
  return `Plugin ${id} is not enabled yet. Review it, then run: ouro plugin enable ${id}`;
}

async function list({ plugins }: PluginRequest): Promise<Output> {
  const [{ value }, { enabledPlugins = {} }] = await Promise.all([plugins.store.read(), plugins.settings()]);
  const rows = Object.entries(value.plugins).map(([id, { version = '', commit, folder }]) => {
    const state = enabledPlugins[id] === true ? 'on ' : 'off';
    return `${state} ${id} ${version}${commit === undefined ? '' : ` (${commit.slice(0, 12)})`}  ${folder}`;
  });
  return { lines: rows.length === 0 ? ['No plugin is installed.'] : rows };
}

/** Fetches the marketplaces again and reinstalls plugins; a changed plugin is disabled until reviewed. */
async function update({ plugins, names, isConfirmed }: PluginRequest): Promise<Output> {
  const { value } = await plugins.store.read();
  for (const { address } of Object.values(value.marketplaces)) await plugins.addMarketplace(address);
  const ids = names.length === 0 ? Object.keys(value.plugins) : await Promise.all(names.map(plugins.installedId));
  const lines: string[] = [];
  for (const id of ids) {
    const before = (await plugins.store.read()).value.plugins[id];
    const { enabledPlugins = {} } = await plugins.settings();
    const installed = await plugins.install(id);
    const after = (await plugins.store.read()).value.plugins[id];
    if (before?.mark === after?.mark) lines.push(`Plugin ${id} is up to date.`);
    else {
      const staysEnabled = isConfirmed && enabledPlugins[id] === true;
      if (!staysEnabled && enabledPlugins[id] === true) await plugins.setEnabled(id, false);
      lines.push(...installed.lines, staysEnabled ? `Plugin ${id} enabled.` : formatReviewHint(id));
    }
  }
  return { lines: lines.length === 0 ? ['No plugin is installed.'] : lines };
}

async function marketplace({ plugins, names: [action = 'list', name] }: PluginRequest): Promise<Output> {
  const { marketplaces } = (await plugins.store.read()).value;
  if (action === 'add' && name !== undefined) return { lines: await plugins.addMarketplace(name) };
  if (action === 'remove' && name !== undefined && Object.hasOwn(marketplaces, name)) {
    await plugins.keep(['marketplaces', name], undefined);
    return { lines: [`Marketplace ${name} removed. Plugins installed from it remain.`] };
  }
  if (action !== 'list' || name !== undefined)
    throw new UsageError('Usage: ouro plugin marketplace list | add <address> | remove <name>');
  const rows = Object.entries(marketplaces).map(
    ([id, { address, commit }]) => `${id}  ${address}${commit === undefined ? '' : ` (${commit.slice(0, 12)})`}`,
  );
  return { lines: rows.length === 0 ? ['No marketplace is configured.'] : rows };
}
