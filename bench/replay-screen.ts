// npm run replay-screen -- <recording> [--at SECONDS]
// Prints the screen after each input of a recording made with OURO_DEBUG_SCREEN, or the screen at one moment.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { createScreen } from '../test/support/terminal/terminal-screen.ts';

const HEADER = z.object({ version: z.literal(2), width: z.number(), height: z.number() });
const EVENT = z.tuple([z.number(), z.enum(['o', 'i', 'r']), z.string()]);

const { values, positionals } = parseArgs({ allowPositionals: true, options: { at: { type: 'string' } } });
const [first = '', ...lines] = readFileSync(positionals[0] ?? '', 'utf8')
  .trim()
  .split('\n');
const header = HEADER.parse(JSON.parse(first));
const untilS = values.at === undefined ? Number.POSITIVE_INFINITY : Number(values.at);
const screen = createScreen({ cols: header.width, rows: header.height });
let input = '';

for (const line of lines) {
  const [atS, code, data] = EVENT.parse(JSON.parse(line));
  if (atS > untilS) break;
  if (code === 'o') screen.feed(data);
  if (code === 'r') {
    const [cols = 0, rows = 0] = data.split('x').map(Number);
    screen.resize({ cols, rows });
  }
  if (code !== 'i') continue;
  if (untilS === Number.POSITIVE_INFINITY) await printScreen();
  input = `${atS.toFixed(3)} s, input ${JSON.stringify(data)}`;
}
await printScreen();

async function printScreen(): Promise<void> {
  await screen.settled();
  process.stdout.write(`--- ${input || 'start'}\n${screen.screen().join('\n').trimEnd()}\n`);
}
