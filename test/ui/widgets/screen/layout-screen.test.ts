import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isWholeRun, someOf } from '../../../support/runs.ts';
import { SCENES, type Scene } from './scenes.ts';
import { openStage } from './stage-screen.ts';

const SIZES = [
  { cols: 200, rows: 60 },
  { cols: 120, rows: 40 },
  { cols: 80, rows: 24 },
  { cols: 40, rows: 20 },
] as const;

const pictureFile = (name: string) => join(import.meta.dirname, 'pictures', `${name}.txt`);

/** Each scene at one size for somebody who waits; at all of them in a whole run, and when that one looks different. */
test.each(
  someOf(
    SCENES.map((scene, at) => ({ ...scene, at })),
    21,
  ),
)('$name looks the same at every size', async (scene) => {
  const [size = SIZES[0]] = SIZES.slice(scene.at % SIZES.length);
  const kept = existsSync(pictureFile(scene.name)) ? readFileSync(pictureFile(scene.name), 'utf8') : '';
  if (!isWholeRun && kept.includes(await pictureAt(scene, size))) return;
  const pictures: string[] = [];
  for (const one of SIZES) pictures.push(await pictureAt(scene, one));
  await expect(pictures.join('\n')).toMatchFileSnapshot(pictureFile(scene.name));
});

async function pictureAt({ play }: Scene, size: (typeof SIZES)[number]): Promise<string> {
  const screen = openStage(size);
  play(screen);
  await screen.settled();
  const { x, y } = screen.cursor();
  const rows = screen.screen().map((row) => row.trimEnd());
  const last = rows.findLastIndex((row) => row !== '');
  const isPage = screen.view().overlay?.kind === 'viewer';
  const caret = isPage ? 'no cursor' : `cursor ${x},${y}`;
  screen.close();
  screen.dispose();
  return [`${size.cols}x${size.rows}  ${caret}`, ...rows.slice(0, last + 1).map((row) => `│${row}`), ''].join('\n');
}
