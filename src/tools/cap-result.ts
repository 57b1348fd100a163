import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResultBlock, TextBlock } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';
import { messageOf } from '../lib/errors.ts';
import { formatCount } from '../lib/text/format.ts';

const PREVIEW_CHARS = 12_000;

/** Keeps a result over its limit whole in a file; the model gets its head, its tail and the place of the rest. */
export function createCapResult(folder: () => string): QueryDeps['capResult'] {
  return async ({ callId }, outcome, maxChars) => {
    const text = typeof outcome.content === 'string' ? outcome.content : textOf(outcome.content);
    if (text.length <= maxChars) return outcome;
    const shown = preview(text, await keep(text, folder(), callId), Math.min(maxChars, PREVIEW_CHARS));
    if (typeof outcome.content === 'string') return { ...outcome, content: shown };
    const others = outcome.content.filter((block) => block.type !== 'text');
    return { ...outcome, content: [{ type: 'text', text: shown }, ...others] };
  };
}

/** Where a call's whole result is kept. Ids come from the provider: none of them chooses a place outside the folder. */
export function keptResultPath(folder: string, callId: string): string {
  return join(folder, `${callId.replaceAll(/[^\w-]/g, '_')}.txt`);
}

function textOf(blocks: readonly ResultBlock[]): string {
  return blocks
    .filter((block): block is TextBlock => block.type === 'text')
    .map(({ text }) => text)
    .join('\n');
}

/** Where the whole is, in words. */
async function keep(text: string, folder: string, callId: string): Promise<string> {
  const path = keptResultPath(folder, callId);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
    return `the whole is in ${path}; look there with Read or Grep`;
  } catch (problem) {
    return `the whole could not be kept (${messageOf(problem)}); ask for less at a time`;
  }
}

function preview(text: string, where: string, chars: number): string {
  const head = headOf(text, Math.floor((chars * 2) / 3));
  const tail = tailOf(text, Math.floor(chars / 3));
  const hidden = text.length - head.length - tail.length;
  return `[${formatCount(text.length, 'character')}; ${where}]\n${head}\n… ${formatCount(hidden, 'character')} left out here …\n${tail}`;
}

/** Ends at a line where that costs little, and never inside a character. */
function headOf(text: string, chars: number): string {
  const cut = text.slice(0, endsInside(text, chars) ? chars - 1 : chars);
  const line = cut.lastIndexOf('\n');
  return line > chars / 2 ? cut.slice(0, line) : cut;
}

function tailOf(text: string, chars: number): string {
  const from = text.length - chars;
  const cut = text.slice(endsInside(text, from) ? from + 1 : from);
  const line = cut.indexOf('\n');
  return line !== -1 && line < chars / 2 ? cut.slice(line + 1) : cut;
}

/** Does this place stand between the halves of one character? */
function endsInside(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
