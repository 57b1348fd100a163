import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { explainSettings, formatSettingsSchema } from '../../app/settings/explain-settings.ts';
import { answerImportOffer } from '../../app/setup/import-claude-files.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { SubcommandInput } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';

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
  const [summary, ...notes] = await answerImportOffer('yes', from, io.environment.ouroHome);
  io.stdout.write(`${summary}\n`);
  for (const line of notes) io.stderr.write(`${line}\n`);
  return 0;
}
