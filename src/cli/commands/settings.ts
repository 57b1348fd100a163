import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readSettings } from '../../app/read-settings.ts';
import { loadFolderTrust } from '../../app/trust/folder-trust.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import type { Environment } from '../../contracts/environment.ts';
import { SETTING_KEYS, type SettingKey } from '../../contracts/setting-keys.ts';
import type { SettingsProblem } from '../../contracts/settings.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { getSettingsJsonSchema } from '../../settings/edit-settings.ts';
import { formatConfigProblems } from '../../settings/load-settings.ts';
import { explainSettingsLayers } from '../../settings/merge-settings.ts';
import { loadForeignImports } from '../packages.ts';

/** Runs `ouro settings explain [key] | schema | import [dir]`. */
export async function runSettingsCommand({
  args: [action = 'explain', key],
  flags,
  io,
}: SubcommandInput): Promise<number> {
  if (action === 'schema') {
    io.stdout.write(`${formatSettingsSchema()}\n`);
    return 0;
  }
  if (action === 'import') return importSettings(key ?? join(io.environment.home, '.claude'), io);
  if (action !== 'explain') {
    throw new UsageError(`Unknown command "ouro settings ${action}". Use one of: explain, schema, import.`);
  }
  const { values, about, problems } = await explainSettings(io.environment, io.cwd, key);
  if (flags.json === true) io.stdout.write(`${JSON.stringify(values, null, 2)}\n`);
  else if (values.length === 0) {
    io.stdout.write(key === undefined ? 'Nothing is set.\n' : `${sanitize(key, 'line')} is not set anywhere.\n`);
  } else {
    for (const { key: name, value, source, file, line } of values) {
      const location = line === undefined ? file : `${file}:${line}`;
      io.stdout.write(`${sanitize(`${name} = ${JSON.stringify(value)}   ${source}, ${location}`, 'line')}\n`);
    }
  }
  if (flags.json !== true) for (const line of about) io.stdout.write(`${line}\n`);
  for (const problem of problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  return 0;
}

async function importSettings(folder: string, io: SubcommandInput['io']): Promise<number> {
  const from = resolve(io.cwd, folder);
  if (!existsSync(from)) {
    io.stderr.write(`Nothing to import: ${sanitize(from, 'line')} does not exist.\n`);
    return 1;
  }
  const { importClaudeFiles } = await loadForeignImports();
  const [summary, ...notes] = await importClaudeFiles(from, io.environment.ouroHome);
  io.stdout.write(`${summary}\n`);
  for (const line of notes) io.stderr.write(`${line}\n`);
  return 0;
}

/** Lists the effective settings of a folder with their layers, and describes the given key. */
async function explainSettings(environment: Environment, folder: string, key: string | undefined) {
  const cwd = await realpath(folder);
  const trust = await loadFolderTrust(cwd, environment, undefined);
  const loaded = await readSettings({ cwd }, environment, trust.isTrusted, trust.isApproved);
  const about = key === undefined ? [] : findSettingKeys(key).map(describeSettingKey);
  return {
    values: explainSettingsLayers(loaded.layers, key),
    about,
    problems: formatConfigProblems({ problems: loaded.problems.map(nameAllUnused) }, { problems: [] }),
  };
}

/** Names all unused keys; the notice at the start names only some. */
function nameAllUnused(problem: SettingsProblem): SettingsProblem {
  const { unknownKeys } = problem;
  return unknownKeys === undefined
    ? problem
    : { ...problem, text: `has keys that ouro does not use: ${unknownKeys.join(', ')}.` };
}

/** Formats the JSON Schema of a settings file, for editors. */
function formatSettingsSchema(): string {
  return JSON.stringify(getSettingsJsonSchema(), null, 2);
}

/** Finds the keys meant by a name: the key itself, the keys of an object, or the key that contains a path. */
export function findSettingKeys(name: string): readonly SettingKey[] {
  return SETTING_KEYS.filter(({ key }) => key === name || key.startsWith(`${name}.`) || name.startsWith(`${key}.`));
}

/** Describes a key in one line. */
export function describeSettingKey({ key, description, defaultText, takesEffect, isUserOnly }: SettingKey): string {
  const from = isUserOnly === true ? ' Only user and managed settings may set it.' : '';
  const when =
    takesEffect === 'now' ? 'An edit takes effect at the next prompt.' : 'An edit takes effect at the next session.';
  return `${key}: ${description} Default: ${defaultText}. ${when}${from}`;
}
