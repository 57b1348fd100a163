import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { explainSettings, settingsSchemaText } from '../../app/settings/explain-settings.ts';
import { settleOffer } from '../../app/start/take-over.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';

/** `ouro settings explain [key] | schema | import [dir]`: each value with its layer; the schema; settings of `~/.claude`. */
export async function run({ words: [what = 'explain', key, ...more], flags, io }: CommandRequest): Promise<number> {
  if (more.length > 0) throw new UsageError('Say: ouro settings explain [key], schema, or import [dir].');
  if (what === 'schema') {
    io.stdout.write(`${settingsSchemaText()}\n`);
    return 0;
  }
  if (what === 'import') return importFrom(key ?? join(io.environment.home, '.claude'), io);
  if (what !== 'explain') {
    throw new UsageError(`There is no "ouro settings ${what}". There are: explain, schema, import.`);
  }
  const { values, about, problems } = await explainSettings(io.environment, io.cwd, key);
  if (flags.json === true) io.stdout.write(`${JSON.stringify(values, null, 2)}\n`);
  else if (values.length === 0) {
    io.stdout.write(key === undefined ? 'Nothing is set.\n' : `${sanitize(key, 'line')} is not set anywhere.\n`);
  } else {
    for (const { key: name, value, source, file, line } of values) {
      const place = line === undefined ? file : `${file}:${line}`;
      io.stdout.write(`${sanitize(`${name} = ${JSON.stringify(value)}   ${source}, ${place}`, 'line')}\n`);
    }
  }
  if (flags.json !== true) for (const line of about) io.stdout.write(`${line}\n`);
  for (const problem of problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  return 0;
}

async function importFrom(folder: string, io: CommandRequest['io']): Promise<number> {
  const from = resolve(io.cwd, folder);
  if (!existsSync(from)) {
    io.stderr.write(`${sanitize(from, 'line')} is not there, so there is nothing to copy.\n`);
    return 1;
  }
  const [copied, ...left] = await settleOffer('yes', from, io.environment.ouroHome);
  io.stdout.write(`${copied}\n`);
  for (const line of left) io.stderr.write(`${line}\n`);
  return 0;
}
