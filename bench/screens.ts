import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScreenOptions } from '../src/ui/terminal/screen-options.ts';
import { terminalPicture } from '../test/support/terminal/terminal-picture.ts';
import type { ScreenSize } from '../test/support/terminal/terminal-screen.ts';
import { SCENES } from '../test/ui/components/scenes.ts';
import { openStage } from '../test/ui/components/stage-screen.ts';

/** The states that are shown in the README and on the page about the screen. */
const SHOWN = [
  'idle',
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
/** The states that are most of all at odds with a small terminal, and the sizes they are drawn at. */
const AT_SIZES = ['work', 'busy', 'ask-shell', 'ask-long-edit'];
const SIZES: readonly ScreenSize[] = [
  { cols: 200, rows: 60 },
  { cols: 120, rows: 40 },
  { cols: 80, rows: 24 },
  { cols: 40, rows: 20 },
];
/** Terminals with less than all colours and signs. */
const LOOKS: Readonly<Record<string, Partial<ScreenOptions>>> = {
  '16-colours': { depth: '16' },
  'no-colour': { depth: 'none' },
  ascii: { glyphs: 'ascii' },
};

const folder = join(import.meta.dirname, '..', 'docs', 'screens');
await rm(folder, { recursive: true, force: true });
await mkdir(join(folder, 'sizes'), { recursive: true });
for (const name of SHOWN)
  for (const theme of ['dark', 'light'] as const) await draw(name, `${name}-${theme}`, SIZE, theme, {});
for (const name of AT_SIZES)
  for (const size of SIZES) await draw(name, join('sizes', `${name}-${size.cols}x${size.rows}`), size, 'dark', {});
for (const [look, options] of Object.entries(LOOKS))
  for (const theme of ['dark', 'light'] as const)
    await draw('ask-shell', `ask-shell-${look}-${theme}`, SIZE, theme, options);
process.stdout.write(
  `${SHOWN.length} scenes, dark and light, ${AT_SIZES.length} at ${SIZES.length} sizes, in docs/screens\n`,
);

/** One picture of docs/screens, from the same scenes the tests look at. */
async function draw(
  name: string,
  file: string,
  size: ScreenSize,
  theme: 'dark' | 'light',
  options: Partial<ScreenOptions>,
): Promise<void> {
  const scene = SCENES.find((one) => one.name === name);
  if (scene === undefined) throw new Error(`There is no scene ${name}.`);
  const screen = openStage(size, {
    theme: options.depth === undefined ? theme : 'auto',
    background: theme,
    ...options,
  });
  await screen.loadColors();
  scene.play(screen);
  await screen.settled();
  await writeFile(join(folder, `${file}.svg`), terminalPicture(screen.terminal, { theme, title: 'ouro' }));
  screen.close();
  screen.dispose();
}
