import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScreenOptions } from '../src/ui/terminal/screen-options.ts';
import { terminalPicture } from '../test/support/terminal/terminal-picture.ts';
import type { ScreenSize } from '../test/support/terminal/terminal-screen.ts';
import { SCENES, type Scene } from '../test/ui/widgets/screen/scenes.ts';
import { openStage } from '../test/ui/widgets/screen/stage-screen.ts';
import { drawProgram } from './program-screens.ts';
import { joinPictures } from './screen-sheet.ts';

/** Scenes for the README and docs/screen.md. */
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
/** Sizes at which every scene is rendered, on one sheet. */
const SIZES: readonly ScreenSize[] = [
  { cols: 40, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
  { cols: 200, rows: 60 },
];
/** Terminals with fewer colours or symbols. */
const LOOKS: Readonly<Record<string, Partial<ScreenOptions>>> = {
  '16-colours': { depth: '16' },
  'no-colour': { depth: 'none' },
  ascii: { glyphs: 'ascii' },
};

/** Scenes that are rendered for each of these terminals. */
const IN_LOOKS = ['work', 'ask-shell'];

const folder = join(import.meta.dirname, '..', 'docs', 'screens');
// The screenshot of a real xterm stays: bench/xterm.ts creates it.
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
const shots = await drawProgram(join(folder, 'program'));
process.stdout.write(
  `${shots} screens of the running program, ${SHOWN.length} scenes, dark and light, and all ${SCENES.length} at ${SIZES.length} sizes, in docs/screens\n`,
);

function sceneOf(name: string): Scene {
  const scene = SCENES.find((one) => one.name === name);
  if (scene === undefined) throw new Error(`Unknown scene: ${name}.`);
  return scene;
}

/** Renders a scene as the tests do. */
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

/** Renders one scene at all sizes: the smaller ones in a row, the largest below. */
async function sheetOf(scene: Scene): Promise<string> {
  const pictures = await Promise.all(SIZES.map((size) => drawn(scene, size, 'dark', {})));
  return joinPictures([pictures.slice(0, -1), pictures.slice(-1)]);
}
