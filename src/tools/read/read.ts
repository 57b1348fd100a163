import { z } from 'zod';
import type { HostFiles } from '../../contracts/face/host.ts';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type Tool, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { decodeText } from '../../lib/files/encoding.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { buildTool } from '../build-tool.ts';
import { absolutePath, repairArguments } from '../file-arguments.ts';
import type { FileBytes } from '../file-bytes.ts';
import { readOpenFile } from '../open-in-editor.ts';
import type { ReadState } from '../read-state.ts';
import { pathFacts } from '../stated-facts.ts';
import { showMedia } from './media.ts';
import { showNotebook } from './notebook.ts';
import { DEFAULT_LINES, showRange } from './text-range.ts';

const READ_PROMPT = `Reads a file. Text comes as \`<line number>→<line>\`, by default the first 2000 lines; PARTIAL in the answer means there is more, with the offset to go on from. Lines over 2000 characters are cut and say so.
Also shows images (PNG, JPEG, GIF, WebP), PDF documents and notebooks (.ipynb, by cell). Several files can be read side by side. For directories use Glob.`;

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, best absolute'),
  offset: z.int().min(0).optional().describe('First line to read, from 1'),
  limit: z.int().min(1).optional().describe('How many lines'),
  pages: z.string().optional().describe('PDF only: pages, "3" or "1-5"'),
});

type ReadInput = z.output<typeof input>;

export type ReadParts = {
  readonly readState: ReadState;
  readonly home: string;
  readonly editor?: HostFiles | undefined;
};

/** What it says of itself to those who decide about its calls. */
export const readStatement: ToolStatement = {
  name: 'Read',
  facts: pathFacts('read', 'file_path'),
  mainInput: 'file_path',
  result: 'repeatable',
  served: 'reads',
};

/** Reads files for the model and remembers what it has seen. */
export function createReadTool(parts: ReadParts): Tool {
  return buildTool({
    ...readStatement,
    prompt: READ_PROMPT,
    input,
    // The tool has its own limit of 256 KB; a second cut would hide what it promised.
    maxResultChars: 8 * 1024 * 1024,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    prepareArguments: (raw) => repairArguments(raw, { numbers: ['offset', 'limit'] }),
    title: ({ file_path }) => `Read ${file_path}`,
    async call(wanted, { cwd, signal }) {
      const file = absolutePath(wanted.file_path, { cwd, home: parts.home });
      const found = await readOpenFile(file, parts.editor, signal);
      const range = `${wanted.offset ?? 1}+${wanted.limit ?? DEFAULT_LINES}${wanted.pages ?? ''}`;
      if (parts.readState.isShown(found, range)) return unchanged(file, found, wanted);
      const outcome = await show(file, found, wanted);
      parts.readState.recordRead(found, range);
      return outcome;
    },
  });
}

async function show(file: string, { bytes }: FileBytes, wanted: ReadInput): Promise<ToolOutcome> {
  const media = await showMedia(file, bytes, wanted.pages);
  if (media !== undefined) return media;
  const decoded = decodeText(bytes);
  if (decoded === undefined) {
    throw new ToolFailure(
      `${file} is binary (${formatBytes(bytes.length)}) and cannot be shown as text. Look into it with Bash (file, xxd, strings).`,
    );
  }
  if (file.endsWith('.ipynb')) {
    const cells = showNotebook(decoded.text);
    if (cells !== undefined)
      return {
        content: cells,
        display: { kind: 'text', text: 'Notebook' },
        structured: { type: 'notebook', file: { filePath: file } },
      };
  }
  return showText(file, decoded.text, wanted);
}

function showText(file: string, text: string, wanted: ReadInput): ToolOutcome {
  const range = showRange(text, { offset: wanted.offset ?? 1, limit: wanted.limit ?? DEFAULT_LINES });
  const { totalLines, startLine, shownLines, partial } = range;
  const display = { kind: 'file', path: file, lines: shownLines, partial } as const;
  const structured = {
    type: 'text',
    file: { filePath: file, content: range.plain, numLines: shownLines, startLine, totalLines },
  };
  if (totalLines === 0) return { content: 'The file exists and is empty.', display, structured };
  if (shownLines === 0) {
    const content = `The file has only ${totalLines} lines; nothing is at offset ${startLine}. Read it with a smaller offset.`;
    return { content, display, structured };
  }
  return { content: range.content, display, structured };
}

/** Told in a line; to whoever looks on it is a look like any other, and shares a line with those beside it. */
function unchanged(file: string, { bytes }: FileBytes, wanted: ReadInput): ToolOutcome {
  const text = decodeText(bytes)?.text;
  const shown = text === undefined ? undefined : showText(file, text, wanted).display;
  return {
    content: 'Unchanged since it was last read; the content further up in this conversation is still right.',
    display: shown ?? { kind: 'text', text: 'Unchanged since last read' },
    structured: { type: 'file_unchanged', file: { filePath: file } },
  };
}
