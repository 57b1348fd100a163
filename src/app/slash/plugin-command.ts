import { messageOf } from '../../lib/errors.ts';
import { pluginEffects } from '../start/plugin-effects.ts';
import { createPlugins } from '../start/plugins.ts';
import { asPanel, type BuiltinCommand, done, failed } from './builtin-command.ts';

/** `/plugin`: what is installed, what each brings, on and off. */
export const PLUGIN_COMMAND: BuiltinCommand = {
  name: 'plugin',
  aliases: ['plugins'],
  description: 'plugins that are installed',
  argumentHint: '[on|off NAME]',
  async run(args, { core }) {
    const plugins = createPlugins(core.environment, core.cwd);
    const [verb = '', name = ''] = args.trim().split(/\s+/);
    if (verb !== '' && verb !== 'on' && verb !== 'off')
      return failed('Say: /plugin, /plugin on NAME or /plugin off NAME');
    if (verb !== '') {
      try {
        const id = await plugins.installedId(name);
        await plugins.setEnabled(id, verb === 'on');
        return done(`${id} is ${verb} from the next session on.`);
      } catch (thrown) {
        return failed(messageOf(thrown));
      }
    }
    const [{ value }, { enabledPlugins = {} }] = await Promise.all([plugins.store.read(), plugins.settings()]);
    const rows = Object.entries(value.plugins).map(async ([id, installed]) => {
      const isOn = enabledPlugins[id] === true;
      const read = await plugins.read(id, installed);
      const brings = read.ok ? await pluginEffects(read.plugin) : [read.why];
      const commit = installed.commit === undefined ? [] : [`commit ${installed.commit}`];
      return {
        id,
        cells: [id, installed.version ?? '', isOn ? 'on' : 'off'],
        mark: isOn ? ('good' as const) : ('off' as const),
        detail: [...commit, ...brings],
        acts: [
          {
            kind: 'run',
            key: 'enter',
            label: isOn ? 'switches it off' : 'switches it on',
            line: `plugin ${isOn ? 'off' : 'on'} ${id}`,
          } as const,
        ],
      };
    });
    return asPanel({
      title: 'Plugins',
      line: 'plugin',
      note: 'more of them: ouro plugin install',
      rows: await Promise.all(rows),
      empty: 'No plugin is installed. ouro plugin marketplace add ADDRESS, then ouro plugin install NAME.',
      acts: [],
    });
  },
};
