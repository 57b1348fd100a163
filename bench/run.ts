// npm run bench [-- --only start,print] [--json file]: measures ouro and compares the figures with their limits.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { abort } from './abort.ts';
import { endurance } from './endurance.ts';
import { idle } from './idle.ts';
import { judge } from './judge.ts';
import { packages } from './packages.ts';
import { print } from './print.ts';
import type { Measure, Row } from './row.ts';
import { rows as historyRows } from './rows.ts';
import { search } from './search.ts';
import { sessions } from './sessions.ts';
import { start } from './start.ts';
import { stream } from './stream.ts';
import { machine, tableOf } from './table.ts';
import { turns } from './turns.ts';

const MEASURES: readonly Measure[] = [
  start,
  print,
  turns,
  stream,
  abort,
  idle,
  historyRows,
  search,
  sessions,
  endurance,
  judge,
  packages,
];

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'string' } } });
const wanted = values.only?.split(',');
const unknown = wanted?.filter((name) => !MEASURES.some((measure) => measure.name === name)) ?? [];
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown measurement: ${unknown.join(', ')}. Available: ${MEASURES.map(({ name }) => name).join(', ')}.\n`,
  );
  process.exit(2);
}

const rows: Row[] = [];
for (const measure of MEASURES) {
  if (wanted !== undefined && !wanted.includes(measure.name)) continue;
  process.stderr.write(`${measure.name}: ${measure.description} …\n`);
  rows.push(...(await measure.run()));
}
process.stdout.write(`${machine()}\n\n${tableOf(rows)}\n`);
if (values.json !== undefined)
  await writeFile(values.json, `${JSON.stringify({ machine: machine(), rows }, null, 2)}\n`);
process.exit(0);
