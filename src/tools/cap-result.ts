import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResultBlock, TextBlock } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { formatCount } from '../lib/text/format.ts';

const PREVIEW_CHARS = 12_000;

/** Creates the function that stores a result over its limit in a file; the model gets head, tail and the path. */
export function createResultCap(
  folder: () => string,
  removeKeys: (text: string) => string = (text) => text,
): QueryDeps['capResult'] {
  return async ({ callId }, outcome, maxChars) => {
    const text = typeof outcome.content === 'string' ? outcome.content : joinText(outcome.content);
    if (text.length <= maxChars) return outcome;
    const preview = renderPreview(
      text,
      await storeResult(removeKeys(text), folder(), callId),
      Math.min(maxChars, PREVIEW_CHARS),
    );
    if (typeof outcome.content === 'string') return { ...outcome, content: preview };
    const otherBlocks = outcome.content.filter((block) => block.type !== 'text');
    return { ...outcome, content: [{ type: 'text', text: preview }, ...otherBlocks] };
  };
}

/** Returns the path for a whole result; a call id of the provider cannot leave the folder. */
export function getStoredResultPath(folder: string, callId: string): string {
  return join(folder, `${callId.replaceAll(/[^\w-]/g, '_')}.txt`);
}

function joinText(blocks: readonly ResultBlock[]): string {
  return blocks
    .filter((block): block is TextBlock => block.type === 'text')
    .map(({ text }) => text)
    .join('\n');
}

/** Stores a result and returns a note for the model that says where. */
async function storeResult(text: string, folder: string, callId: string): Promise<string> {
  const path = getStoredResultPath(folder, callId);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
    return `the whole is in ${path}; look there with Read or Grep`;
  } catch (problem) {
    return `the whole could not be saved (${getErrorMessage(problem)}); ask for less at a time`;
  }
}

function renderPreview(text: string, location: string, chars: number): string {
  const head = takeHead(text, Math.floor((chars * 2) / 3));
  const tail = takeTail(text, Math.floor(chars / 3));
  const hidden = text.length - head.length - tail.length;
  return `[${formatCount(text.length, 'character')}; ${location}]\n${head}\n… ${formatCount(hidden, 'character')} left out here …\n${tail}`;
}

/** Takes the start of a text, up to a line end if that loses little, and never half a character. */
function takeHead(text: string, chars: number): string {
  const cut = text.slice(0, splitsCharacter(text, chars) ? chars - 1 : chars);
  const newline = cut.lastIndexOf('\n');
  return newline > chars / 2 ? cut.slice(0, newline) : cut;
}

function takeTail(text: string, chars: number): string {
  const from = text.length - chars;
  const cut = text.slice(splitsCharacter(text, from) ? from + 1 : from);
  const newline = cut.indexOf('\n');
  return newline !== -1 && newline < chars / 2 ? cut.slice(newline + 1) : cut;
}

/** Tells whether an index is between the surrogates of one character. */
function splitsCharacter(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
