import { explainSettings, settingsSchemaText } from '../../app/explain-settings.ts';
import { sanitize } from '../../lib/sanitize.ts';
import type { CommandRequest } from '../command-request.ts';
import { UsageError } from '../usage-error.ts';

/** `ouro settings explain [key] | schema`: each value with the layer it came from; the schema for editors. */
export async function run({ words: [what = 'explain', key, ...more], flags, io }: CommandRequest): Promise<number> {
  if (more.length > 0) throw new UsageError('Say: ouro settings explain [key], or ouro settings schema.');
  if (what === 'schema') {
    io.stdout.write(`${settingsSchemaText()}\n`);
    return 0;
  }
  if (what !== 'explain') throw new UsageError(`There is no "ouro settings ${what}". There are: explain, schema.`);
  const { values, problems } = await explainSettings(io.environment, io.cwd, key);
  if (flags.json === true) io.stdout.write(`${JSON.stringify(values, null, 2)}\n`);
  else if (values.length === 0) {
    io.stdout.write(key === undefined ? 'Nothing is set.\n' : `${sanitize(key, 'line')} is not set anywhere.\n`);
  } else {
    for (const { key: name, value, source, file, line } of values) {
      const place = line === undefined ? file : `${file}:${line}`;
      io.stdout.write(`${sanitize(`${name} = ${JSON.stringify(value)}   ${source}, ${place}`, 'line')}\n`);
    }
  }
  for (const problem of problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  return 0;
}
