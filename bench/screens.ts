import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { terminalPicture } from '../test/support/terminal/terminal-picture.ts';
import { SCENES } from '../test/ui/components/scenes.ts';
import { openStage } from '../test/ui/components/stage-screen.ts';

/** The states that are shown in the README and on the page about the screen. */
const SHOWN = ['answer', 'tool-running', 'ask-shell', 'ask-edit', 'plan', 'menu-of-commands', 'transcript', 'help'];
const SIZE = { cols: 80, rows: 24 };

/** Draws the pictures of docs/screens anew, from the same scenes the tests look at. */
const folder = join(import.meta.dirname, '..', 'docs', 'screens');
await mkdir(folder, { recursive: true });
for (const { name, play } of SCENES.filter((scene) => SHOWN.includes(scene.name))) {
  for (const theme of ['dark', 'light'] as const) {
    const screen = openStage(SIZE, { theme, background: theme });
    await screen.loadColors();
    play(screen);
    await screen.settled();
    const picture = terminalPicture(screen.terminal, { theme, title: 'ouro' });
    await writeFile(join(folder, `${name}-${theme}.svg`), picture);
    screen.close();
    screen.dispose();
  }
}
process.stdout.write(`${SHOWN.length} scenes, dark and light, in docs/screens\n`);
