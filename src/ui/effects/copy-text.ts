import { asPrintable, type Printable, printed } from '../../lib/printable.ts';
import { formatCount } from '../../lib/text/format.ts';
import { throughTmux } from '../terminal/tmux.ts';
import { printing } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';

/** More than this, written out as base64, terminals are known to refuse. */
const MOST_BYTES = 56_244;
const TIMEOUT_MS = 2000;

/** Programs that fill the clipboard of this machine; the first that is there and works is enough. */
const WRITERS: readonly (readonly [string, ...string[]])[] = [
  ['pbcopy'],
  ['wl-copy'],
  ['xclip', '-selection', 'clipboard', '-in'],
  ['clip.exe'],
];

/** Copies by the terminal, which may stand elsewhere, and by a program of this machine; answers with where it went. */
export async function copyText(text: string, { output, tmux }: Pick<EffectHost, 'output' | 'tmux'>): Promise<string> {
  const between = await tmux?.();
  const sequence = copySequence(text);
  output.write(between?.allowsPassthrough ? throughTmux(sequence) : sequence);
  const cut = Buffer.byteLength(text) > MOST_BYTES ? ', cut to what it takes' : '';
  for (const [program, ...args] of WRITERS) {
    if (await takes(program, args, text)) return `with ${program}, and offered to the terminal${cut}`;
  }
  if (between !== undefined && !between.allowsPassthrough && !between.setsClipboard) {
    return 'nowhere: tmux lets no program copy. In tmux, "set -g set-clipboard on" changes that';
  }
  const way = between === undefined ? 'by the terminal' : 'through tmux by the terminal';
  return `${way}${cut}, if it allows that`;
}

/** Copies an answer (`2`: the one before the last), or the last block of code (`code`). */
export async function copyAnswer(argument: string, { messages, output, tmux, change }: EffectHost): Promise<void> {
  const answers = messages().flatMap((message) => {
    const texts =
      message.role === 'assistant'
        ? message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
        : [];
    return texts.length === 0 ? [] : [texts.join('\n\n')];
  });
  const isCode = argument.trim() === 'code';
  const wanted = isCode ? lastCode(answers) : answers.at(-Math.max(1, Number(argument) || 1));
  if (wanted === undefined) {
    const text = isCode ? 'No answer has code in it yet.' : 'There is no such answer yet.';
    return change((view) => printing(view, { kind: 'notice', level: 'info', text }));
  }
  const where = await copyText(wanted, { output, tmux });
  const text = `Copied ${formatCount(wanted.length, 'character')} ${where}.`;
  change((view) => printing(view, { kind: 'notice', level: 'info', text }));
}

function lastCode(answers: readonly string[]): string | undefined {
  const blocks = answers.flatMap((answer) => [...answer.matchAll(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^\1[ \t]*$/gm)]);
  return blocks.at(-1)?.[2]?.replace(/\n$/, '');
}

/** Asks the terminal to put text into the clipboard of whoever sits in front of it. */
function copySequence(text: string): Printable {
  const encoded = asPrintable(Buffer.from(text, 'utf8').subarray(0, MOST_BYTES).toString('base64'));
  return printed`\u001b]52;c;${encoded}\u0007`;
}

async function takes(program: string, args: readonly string[], input: string): Promise<boolean> {
  const { execa } = await import('execa');
  // Some of them stay behind to hand the text out, so nothing of them is ended with the command.
  const options = { input, stdout: 'ignore', stderr: 'ignore', timeout: TIMEOUT_MS, reject: false } as const;
  const { exitCode } = await execa(program, args, options);
  return exitCode === 0;
}
