import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScreenOptions } from '../src/ui/terminal/screen-options.ts';
import { terminalPicture } from '../test/support/terminal/terminal-picture.ts';
import type { ScreenSize } from '../test/support/terminal/terminal-screen.ts';
import { SCENES, type Scene } from '../test/ui/components/scenes.ts';
import { openStage } from '../test/ui/components/stage-screen.ts';

/** The states that are shown in the README and on the page about the screen. */
const SHOWN = [
  'start',
  'answer',
  'work',
  'tool-running',
  'busy',
  'ask-shell',
  'ask-while-writing',
  'ask-edit',
  'plan',
  'menu-of-commands',
  'model',
  'resume',
  'transcript',
  'help',
];
const SIZE: ScreenSize = { cols: 100, rows: 28 };
/** Every state at each of these, beside one another. */
const SIZES: readonly ScreenSize[] = [
  { cols: 40, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
  { cols: 200, rows: 60 },
];
const GAP = 16;
/** Terminals with less than all colours and signs. */
const LOOKS: Readonly<Record<string, Partial<ScreenOptions>>> = {
  '16-colours': { depth: '16' },
  'no-colour': { depth: 'none' },
  ascii: { glyphs: 'ascii' },
};

/** What is shown in each of them. */
const IN_LOOKS = ['work', 'ask-shell'];

const folder = join(import.meta.dirname, '..', 'docs', 'screens');
// The picture of a real xterm stays: it is taken by another script.
for (const name of await readdir(folder)) if (!name.endsWith('.png')) await rm(join(folder, name), { recursive: true });
await mkdir(join(folder, 'sizes'), { recursive: true });
for (const name of SHOWN)
  for (const theme of ['dark', 'light'] as const)
    await writeFile(join(folder, `${name}-${theme}.svg`), await drawn(sceneOf(name), SIZE, theme, {}));
for (const scene of SCENES) await writeFile(join(folder, 'sizes', `${scene.name}.svg`), await sheetOf(scene));
for (const [look, options] of Object.entries(LOOKS))
  for (const name of IN_LOOKS)
    for (const theme of ['dark', 'light'] as const)
      await writeFile(join(folder, `${name}-${look}-${theme}.svg`), await drawn(sceneOf(name), SIZE, theme, options));
process.stdout.write(
  `${SHOWN.length} scenes, dark and light, and all ${SCENES.length} at ${SIZES.length} sizes, in docs/screens\n`,
);

function sceneOf(name: string): Scene {
  const scene = SCENES.find((one) => one.name === name);
  if (scene === undefined) throw new Error(`There is no scene ${name}.`);
  return scene;
}

/** A picture of a scene: the same that the tests look at. */
async function drawn(
  scene: Scene,
  size: ScreenSize,
  theme: 'dark' | 'light',
  options: Partial<ScreenOptions>,
): Promise<string> {
  const screen = openStage(size, {
    theme: options.depth === undefined ? theme : 'auto',
    background: theme,
    ...options,
  });
  await screen.loadColors();
  scene.play(screen);
  await screen.settled();
  const picture = terminalPicture(screen.terminal, { theme, title: 'ouro' });
  screen.close();
  screen.dispose();
  return picture;
}

/** One scene at all sizes: the smaller ones in a row, the largest below them. */
async function sheetOf(scene: Scene): Promise<string> {
  const parts: string[] = [];
  let [x, y, below, width, height] = [0, 0, 0, 0, 0];
  for (const [at, size] of SIZES.entries()) {
    const picture = await drawn(scene, size, 'dark', {});
    const [, wide = '0', high = '0'] = /width="(\d+)" height="(\d+)"/.exec(picture) ?? [];
    if (at === SIZES.length - 1) [x, y] = [0, below + GAP];
    parts.push(picture.replace('<svg ', `<svg x="${x}" y="${y}" `));
    [width, height] = [Math.max(width, x + Number(wide)), Math.max(height, y + Number(high))];
    [x, below] = [x + Number(wide) + GAP, Math.max(below, Number(high))];
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n${parts.join('\n')}\n</svg>\n`;
}
