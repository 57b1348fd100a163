import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runProgram } from '../../lib/processes/run-program.ts';
import { edit } from '../composer/edit.ts';
import { printing } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';

/** Programs that print the picture in the clipboard, wherever we are; the first that has one wins. */
const READERS: readonly (readonly [string, ...string[]])[] = [
  ['wl-paste', '--no-newline', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['pngpaste', '-'],
];
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const MOST_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 3000;

/** Puts the picture in the clipboard into the draft. */
export async function pasteImage({ change }: EffectHost): Promise<void> {
  for (const [program, ...args] of READERS) {
    const picture = await printed(program, args);
    if (picture === undefined) continue;
    const path = join(await mkdtemp(join(tmpdir(), 'ouro-image-')), 'clipboard.png');
    await writeFile(path, picture, { mode: 0o600 });
    return change((view) => ({ ...view, editor: withImage(view.editor, path, picture.length) }));
  }
  change((view) =>
    printing(view, {
      kind: 'notice',
      level: 'info',
      text: 'There is no picture in the clipboard that can be read (tried wl-paste, xclip, pngpaste). The path of a file works too.',
    }),
  );
}

/** Does this look like a path that was dropped on the terminal? */
export function isPicturePath(pasted: string): boolean {
  return /^(?:\/|~\/)[^\n]*\.(?:png|jpe?g|gif|webp)$/i.test(pathOf(pasted));
}

/** Puts the picture at this path into the draft, or the words, where there is none. */
export async function pastePicture(pasted: string, { change }: Pick<EffectHost, 'change'>): Promise<void> {
  const path = pathOf(pasted).replace(/^~(?=\/)/, homedir());
  const facts = await stat(path).catch(() => undefined);
  change((view) => {
    const { editor } = view;
    const isPicture = facts?.isFile() === true;
    return {
      ...view,
      editor: isPicture ? withImage(editor, path, facts.size) : edit(editor, { type: 'paste', text: pasted }, 0),
    };
  });
}

/** Terminals quote what is dropped on them, each in its own way. */
function pathOf(pasted: string): string {
  const path = pasted.trim();
  return /^(['"]).*\1$/.test(path) ? path.slice(1, -1) : path.replaceAll('\\ ', ' ');
}

type Editor = Parameters<typeof edit>[0];

/** The draft with a picture at the caret. */
function withImage(editor: Editor, path: string, bytes: number): Editor {
  return edit(editor, { type: 'image', name: basename(path), bytes, path }, 0);
}

async function printed(program: string, args: readonly string[]): Promise<Buffer | undefined> {
  const { code, stdout } = await runProgram(program, args, { timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES });
  return code === 0 && stdout.subarray(0, 4).equals(PNG) ? stdout : undefined;
}
