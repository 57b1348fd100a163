import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SCENES } from './scenes.ts';
import { openStage } from './stage-screen.ts';

const SIZES = [
  { cols: 200, rows: 60 },
  { cols: 120, rows: 40 },
  { cols: 80, rows: 24 },
  { cols: 40, rows: 20 },
] as const;

test.each(SCENES)('$name looks as it did at every size', async ({ name, play }) => {
  const pictures: string[] = [];
  for (const size of SIZES) {
    const screen = openStage(size);
    play(screen);
    await screen.settled();
    const { x, y } = screen.cursor();
    const rows = screen.screen().map((row) => row.trimEnd());
    const last = rows.findLastIndex((row) => row !== '');
    const isPage = screen.view().overlay?.kind === 'viewer';
    const caret = isPage ? 'no cursor' : `cursor ${x},${y}`;
    pictures.push(`${size.cols}x${size.rows}  ${caret}`, ...rows.slice(0, last + 1).map((row) => `│${row}`), '');
    screen.close();
    screen.dispose();
  }
  await expect(pictures.join('\n')).toMatchFileSnapshot(join(import.meta.dirname, 'pictures', `${name}.txt`));
});
