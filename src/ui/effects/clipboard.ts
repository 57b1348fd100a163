import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { markAsPrintable, type Printable, printable } from '../../lib/printable.ts';
import { runProgram } from '../../lib/processes/run-program.ts';
import { formatCount } from '../../lib/text/format.ts';
import { addHistoryItems } from '../app-state/view-state.ts';
import { wrapForTmux } from '../terminal/tmux.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import type { UiEffectHost } from './ui-effect-host.ts';

/** Largest text for OSC 52; terminals are known to reject more (in base64). */
const MAX_OSC52_BYTES = 56_244;
const COPY_TIMEOUT_MS = 2000;

/** Programs that write the clipboard of this machine; the first that works is used. */
const CLIPBOARD_WRITERS: readonly (readonly [string, ...string[]])[] = [
  ['pbcopy'],
  ['wl-copy'],
  ['xclip', '-selection', 'clipboard', '-in'],
  ['clip.exe'],
];

/** Copies text through the terminal (which may be remote) and with a program of this machine. Returns a report. */
export async function copyText(text: string, { output, tmux }: Pick<UiEffectHost, 'output' | 'tmux'>): Promise<string> {
  const tmuxFacts = await tmux?.();
  const sequence = formatCopySequence(text);
  output.write(tmuxFacts?.allowsPassthrough ? wrapForTmux(sequence) : sequence);
  const count = formatCount(text.length, 'character');
  const truncated = Buffer.byteLength(text) > MAX_OSC52_BYTES ? ' (truncated to its limit)' : '';
  for (const [program, ...args] of CLIPBOARD_WRITERS) {
    if (await runWriter(program, args, text))
      return `Copied ${count} with ${program} and through the terminal${truncated}.`;
  }
  if (tmuxFacts !== undefined && !tmuxFacts.allowsPassthrough && !tmuxFacts.setsClipboard) {
    return 'Nothing was copied: tmux blocks clipboard access. Allow it in tmux with "set -g set-clipboard on".';
  }
  const route = tmuxFacts === undefined ? 'through the terminal' : 'through tmux and the terminal';
  return `Copied ${count} ${route}${truncated}, if the terminal allows it.`;
}

/** Copies an answer (`2`: the one before the last) or the last code block (`code`), and prints a report. */
export async function copyAnswer(
  argument: string,
  { getMessages, output, tmux, updateView }: UiEffectHost,
): Promise<void> {
  const answers = getMessages().flatMap((message) => {
    const texts =
      message.role === 'assistant'
        ? message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
        : [];
    return texts.length === 0 ? [] : [texts.join('\n\n')];
  });
  const isCode = argument.trim() === 'code';
  const wanted = isCode ? findLastCode(answers) : answers.at(-Math.max(1, Number(argument) || 1));
  if (wanted === undefined) {
    const text = isCode ? 'No reply contains a code block yet.' : 'There is no such reply yet.';
    return updateView((view) => addHistoryItems(view, { kind: 'notice', level: 'info', text }));
  }
  const text = await copyText(wanted, { output, tmux });
  updateView((view) => addHistoryItems(view, { kind: 'notice', level: 'info', text }));
}

function findLastCode(answers: readonly string[]): string | undefined {
  return answers.flatMap((answer) => listCode(answer.split('\n'))).at(-1);
}

/** Returns the fenced blocks in lines of Markdown that are closed. */
function listCode(lines: readonly string[]): readonly string[] {
  const ends = new Map<number, number>();
  const closing = new Map<string, number>();
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const [, mark, rest = ''] = /^(`{3,}|~{3,})(.*)/s.exec(lines[index] ?? '') ?? [];
    const end = mark === undefined ? undefined : closing.get(mark);
    if (end !== undefined) ends.set(index, end);
    if (mark !== undefined && rest.trim() === '') closing.set(mark, index);
  }
  const blocks: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const end = ends.get(index);
    if (end === undefined) continue;
    blocks.push(lines.slice(index + 1, end).join('\n'));
    index = end;
  }
  return blocks;
}

/** Formats the OSC 52 sequence that asks the terminal to set the clipboard. */
function formatCopySequence(text: string): Printable {
  const encoded = markAsPrintable(Buffer.from(text, 'utf8').subarray(0, MAX_OSC52_BYTES).toString('base64'));
  return printable`\u001b]52;c;${encoded}\u0007`;
}

async function runWriter(program: string, args: readonly string[], input: string): Promise<boolean> {
  const { execa } = await import('execa');
  // Some programs keep running in the background to serve the text, so their processes must not be killed.
  const options = { input, stdout: 'ignore', stderr: 'ignore', timeout: COPY_TIMEOUT_MS, reject: false } as const;
  const { exitCode } = await execa(program, args, options);
  return exitCode === 0;
}

/** Programs that print the image in the clipboard, on all platforms; the first one that returns an image is used. */
const CLIPBOARD_READERS: readonly (readonly [string, ...string[]])[] = [
  ['wl-paste', '--no-newline', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['pngpaste', '-'],
];
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const MAX_IMAGE_BYTES = 32 * 1024 * 1024;
const PASTE_TIMEOUT_MS = 3000;

/** Inserts the image in the clipboard into the draft. */
export async function pasteImage({ updateView }: UiEffectHost): Promise<void> {
  for (const [program, ...args] of CLIPBOARD_READERS) {
    const image = await readImage(program, args);
    if (image === undefined) continue;
    const path = join(await mkdtemp(join(tmpdir(), 'ouro-image-')), 'clipboard.png');
    await writeFile(path, image, { mode: 0o600 });
    return updateView((view) => ({ ...view, editor: withImage(view.editor, path, image.length) }));
  }
  updateView((view) =>
    addHistoryItems(view, {
      kind: 'notice',
      level: 'info',
      text: 'The clipboard contains no readable image (tried wl-paste, xclip, pngpaste). You can paste the path of an image file instead.',
    }),
  );
}

/** Reports whether a paste looks like the path of an image that was dropped on the terminal. */
export function isImagePath(pasted: string): boolean {
  return /^(?:\/|~\/)[^\n]*\.(?:png|jpe?g|gif|webp)$/i.test(unquotePath(pasted));
}

/** Inserts the image at this path into the draft; inserts the path as text if there is no such file. */
export async function pasteImagePath(pasted: string, { updateView }: Pick<UiEffectHost, 'updateView'>): Promise<void> {
  const path = unquotePath(pasted).replace(/^~(?=\/)/, homedir());
  const stats = await stat(path).catch(() => undefined);
  updateView((view) => {
    const { editor } = view;
    const isFile = stats?.isFile() === true;
    return {
      ...view,
      editor: isFile
        ? withImage(editor, path, stats.size)
        : applyDraftEditorAction(editor, { type: 'paste', text: pasted }, 0),
    };
  });
}

/** Removes the quoting that terminals add to a dropped path. */
function unquotePath(pasted: string): string {
  const path = pasted.trim();
  return /^(['"]).*\1$/.test(path) ? path.slice(1, -1) : path.replaceAll('\\ ', ' ');
}

type Editor = Parameters<typeof applyDraftEditorAction>[0];

/** Returns the editor with an image at the caret. */
function withImage(editor: Editor, path: string, bytes: number): Editor {
  return applyDraftEditorAction(editor, { type: 'image', name: basename(path), bytes, path }, 0);
}

async function readImage(program: string, args: readonly string[]): Promise<Buffer | undefined> {
  const { code, stdout } = await runProgram(program, args, { timeoutMs: PASTE_TIMEOUT_MS, maxBytes: MAX_IMAGE_BYTES });
  return code === 0 && stdout.subarray(0, 4).equals(PNG_SIGNATURE) ? stdout : undefined;
}
