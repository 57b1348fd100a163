import { join, resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { PluginMonitor } from '../../contracts/extension.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';

/** The file of monitors, unless the manifest names another one or contains the list. */
const MONITORS_FILE = 'monitors/monitors.json';
const ON_SKILL = 'on-skill-invoke:';

const monitorSchema = z.lazy(() =>
  z.object({
    name: z.string().min(1),
    command: z.string().min(1),
    description: z.string().default(''),
    when: z.string().default('always'),
  }),
);

type MonitorsResult = { readonly monitors: readonly PluginMonitor[]; readonly problems: readonly string[] };

/** Reads the monitors of a plugin: a list, or the path of its file. An invalid entry disables only itself. */
export async function readMonitors(
  plugin: { readonly name: string; readonly root: string },
  declared: JsonValue = MONITORS_FILE,
): Promise<MonitorsResult> {
  const { list, file } = await readList(plugin.root, declared);
  if (list === undefined) return { monitors: [], problems: [] };
  if (!Array.isArray(list)) return { monitors: [], problems: [`${file}: the monitors are not a list.`] };
  const parsed = list.map((entry, index) => parseMonitor(entry, plugin.name) ?? index);
  return {
    monitors: parsed.filter((monitor) => typeof monitor !== 'number'),
    problems: parsed
      .filter((monitor) => typeof monitor === 'number')
      .map(
        (index) =>
          `${file}: monitor ${index + 1} is ignored: it needs a name and a command, and \`when\` is "always" or "${ON_SKILL}<skill>".`,
      ),
  };
}

async function readList(
  root: string,
  declared: JsonValue,
): Promise<{ readonly list: JsonValue | undefined; readonly file: string }> {
  if (typeof declared !== 'string') return { list: declared, file: 'plugin.json' };
  const path = resolve(root, declared);
  const file = join(root, declared);
  if (!isPathBelow(root, path)) return { list: undefined, file };
  const text = await ignoreMissingFile(readRegularFile(path));
  return { list: text === undefined ? undefined : parse(text), file };
}

function parseMonitor(entry: JsonValue, plugin: string): PluginMonitor | undefined {
  const { success, data } = monitorSchema.safeParse(entry);
  if (!success || (data.when !== 'always' && !data.when.startsWith(ON_SKILL))) return undefined;
  const { name, description, when } = data;
  // The shell gets the value as a variable, so it cannot run what a value contains.
  const command = data.command.replaceAll(
    /\$\{user_config\.(\w+)\}/g,
    (_, key: string) => `\${CLAUDE_PLUGIN_OPTION_${key.toUpperCase()}}`,
  );
  const skill = when.slice(ON_SKILL.length);
  return {
    name: `${plugin}:${name}`,
    command,
    description,
    ...(when === 'always' ? {} : { skill: skill.includes(':') ? skill : `${plugin}:${skill}` }),
  };
}
