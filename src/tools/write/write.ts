import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type Tool, ToolFailure } from '../../contracts/tool.ts';
import { type DecodedText, decodeText, encodeText } from '../../lib/files/encoding.ts';
import { formatCount } from '../../lib/text/format.ts';
import { lineEndingOf, splitLines } from '../../lib/text/lines.ts';
import { buildTool } from '../build-tool.ts';
import { absolutePath } from '../file-arguments.ts';
import { type ChangeParts, changeFile, exists, readForChange } from '../file-change.ts';
import { originalForHosts, showChange } from '../file-diff.ts';
import { pathFacts } from '../stated-facts.ts';

const WRITE_PROMPT = `Writes a whole file, creating missing directories. An existing file must have been read in this session and is replaced. To change parts of a file use Edit.`;

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, best absolute'),
  content: z.string().describe('The whole content'),
});

/** What it says of itself to those who decide about its calls. */
export const writeStatement: ToolStatement = {
  name: 'Write',
  facts: pathFacts('edit', 'file_path'),
  mainInput: 'file_path',
  served: 'changes',
};

/** Writes whole files, in one step each. */
export function createWriteTool(parts: ChangeParts): Tool {
  return buildTool({
    ...writeStatement,
    prompt: WRITE_PROMPT,
    input,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    title: ({ file_path }) => `Write ${file_path}`,
    async call({ file_path, content }, { cwd, signal }) {
      const file = absolutePath(file_path, { cwd, home: parts.home });
      const current = (await exists(file)) ? await readForChange(file, parts, signal) : undefined;
      const old = current === undefined ? undefined : decodeText(current.bytes);
      const next = dress(content, old);
      signal.throwIfAborted();
      await changeFile(file, next.bytes, parts);
      const original = current === undefined ? undefined : (old?.text ?? '');
      const change = await showChange(file, original, next.text);
      const lines = formatCount(splitLines(content).length, 'line');
      return {
        content: `${current === undefined ? 'Created' : 'Replaced'} ${file} (${lines}).${next.note}`,
        display: change.display,
        structured: {
          type: current === undefined ? 'create' : 'update',
          filePath: file,
          content,
          structuredPatch: change.structuredPatch,
          originalFile: originalForHosts(original),
        },
      };
    },
  });
}

type Dressed = { readonly bytes: Uint8Array; readonly text: string; readonly note: string };

/** The content in the clothes of the file it replaces: its encoding, its mark and, where they are all CRLF, its line endings. */
function dress(content: string, old: DecodedText | undefined): Dressed {
  const isCrlf = old !== undefined && lineEndingOf(old.text) === '\r\n' && !content.includes('\r');
  const text = isCrlf ? content.replaceAll('\n', '\r\n') : content;
  const note = isCrlf ? ' Its CRLF line endings were kept.' : '';
  const kept = encodeText(text, old ?? { encoding: 'utf-8', bom: false });
  if (kept.ok) return { bytes: kept.bytes, text, note };
  const plain = encodeText(text, { encoding: 'utf-8', bom: false });
  if (plain.ok) {
    return { bytes: plain.bytes, text, note: `${note} It is UTF-8 now: its old encoding has no “${kept.character}”.` };
  }
  throw new ToolFailure(
    'The content holds half of a surrogate pair, which no file can hold. Write the whole character.',
  );
}
