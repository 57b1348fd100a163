import type { PanelRow } from '../../contracts/frontend/command.ts';
import { describeHookAction, type Hook, type HookResult } from '../../contracts/hook.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { formatDuration } from '../../lib/text/format.ts';
import { createPluginOperations, describePluginEffects, type PluginOperations } from '../plugin-operations.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createPanelOutcome,
  createPlainTextOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

/** Commands for skills, hooks and plugins. */
export const EXTENSION_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'skills',
    description: 'list the available skills',
    async run(_args, { core: { extensions } }) {
      const lines = extensions
        .current()
        .skills.map(({ name, description, path }) => `- **${name}**: ${description} (${path})`);
      return createMarkdownOutcome(
        lines.length === 0 ? 'No skills found. Add them as .claude/skills/<name>/SKILL.md.' : lines.join('\n'),
      );
    },
  },
  {
    name: 'hooks',
    description: 'list hooks with their source and last result',
    argumentHint: '[number]',
    async run(args, { hooks }) {
      const all = hooks.list();
      const selected = all[Number.parseInt(args, 10) - 1];
      if (args.trim() !== '')
        return selected === undefined
          ? createErrorOutcome('There is no such hook.')
          : createPlainTextOutcome(describeHook(selected));
      return createPanelOutcome({
        title: 'Hooks',
        command: 'hooks',
        rows: all.map(createHookRow),
        empty: 'No hooks are configured. Add them under "hooks" in a settings file.',
        actions: [],
      });
    },
  },
  {
    name: 'plugin',
    aliases: ['plugins'],
    description: 'list, enable and disable plugins',
    argumentHint: '[on|off NAME]',
    async run(args, { core }) {
      const plugins = createPluginOperations(core.environment, core.cwd);
      const [verb = '', name = ''] = args.trim().split(/\s+/);
      if (verb === '') return createPluginPanel(plugins);
      if (verb !== 'on' && verb !== 'off')
        return createErrorOutcome('Usage: /plugin, /plugin on NAME or /plugin off NAME');
      try {
        const id = await plugins.installedId(name);
        const [problem] = verb === 'on' ? (await plugins.readInstalled(id)).optionProblems : [];
        if (problem !== undefined)
          return createErrorOutcome(`Plugin ${id} is not enabled: ${problem} Set it with: ouro plugin configure ${id}`);
        await plugins.setEnabled(id, verb === 'on');
        return createSuccessOutcome(`Plugin ${id} ${verb === 'on' ? 'enabled' : 'disabled'} from the next session on.`);
      } catch (thrown) {
        return createErrorOutcome(getErrorMessage(thrown));
      }
    },
  },
];

type ListedHook = { readonly hook: Hook; readonly last: HookResult | undefined };

function createHookRow({ hook, last }: ListedHook, index: number): PanelRow {
  const { event, matcher } = hook;
  const mark = last === undefined ? undefined : last.outcome === 'passed' ? 'good' : 'bad';
  return {
    id: String(index + 1),
    cells: [event, matcher ?? '', describeHookAction(hook), describeLastRun(last)],
    ...(mark === undefined ? {} : { mark }),
    detail: [describeHookAction(hook), `from ${formatSource(hook)}; ${describeLastRun(last)}`],
    actions: [{ kind: 'run', key: 'enter', label: 'shows details', command: `hooks ${index + 1}` }],
  };
}

function formatSource({ file, line, source }: Hook): string {
  return `${file ?? source}${line === undefined ? '' : `:${line}`}`;
}

function describeLastRun(last: HookResult | undefined): string {
  return last === undefined ? 'has not run' : `${last.outcome} in ${formatDuration(last.durationMs)}`;
}

function describeHook({ hook, last }: ListedHook): string {
  const { event, matcher, if: condition, timeout } = hook;
  const facts = [
    ['event', event],
    ['tools', matcher],
    ['condition', condition],
    ['action', describeHookAction(hook)],
    ['source', formatSource(hook)],
    ['timeout', timeout === undefined ? undefined : `${timeout}s`],
    ['last run', describeLastRun(last)],
    ['output', last?.words],
  ];
  return facts
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([label, value]) => `${label?.padEnd(10)} ${value}`)
    .join('\n');
}

async function createPluginPanel(plugins: PluginOperations) {
  const [{ value }, { enabledPlugins = {} }] = await Promise.all([plugins.store.read(), plugins.settings()]);
  const rows = Object.entries(value.plugins).map(async ([id, installed]): Promise<PanelRow> => {
    const isEnabled = enabledPlugins[id] === true;
    const read = await plugins.read(id, installed);
    const effects = read.ok ? await describePluginEffects(read.plugin) : [read.problem];
    const commit = installed.commit === undefined ? [] : [`commit ${installed.commit}`];
    return {
      id,
      cells: [id, installed.version ?? '', isEnabled ? 'on' : 'off'],
      mark: isEnabled ? 'good' : 'off',
      detail: [...commit, ...effects],
      actions: [
        {
          kind: 'run',
          key: 'enter',
          label: isEnabled ? 'disables it' : 'enables it',
          command: `plugin ${isEnabled ? 'off' : 'on'} ${id}`,
        },
      ],
    };
  });
  return createPanelOutcome({
    title: 'Plugins',
    command: 'plugin',
    note: 'install more with: ouro plugin install',
    rows: await Promise.all(rows),
    empty: 'No plugins installed. Run "ouro plugin marketplace add URL", then "ouro plugin install NAME".',
    actions: [],
  });
}
