import { readdir } from 'node:fs/promises';
import { z } from 'zod';
import type { HostFiles } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { CHARS_PER_TOKEN } from '../../contracts/model.ts';
import { type Tool, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { decodeText } from '../../lib/files/text-encoding.ts';
import { formatBytes, formatCount } from '../../lib/text/format.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { buildTool } from '../definition/build-tool.ts';
import { readFileWithEditor } from '../files/editor-files.ts';
import type { FileReadState } from '../files/file-read-state.ts';
import { type FileBytes, hashBytes } from '../files/read-bytes.ts';
import {
  acceptOnlyArgumentValues,
  type BuiltInToolTraits,
  defineToolTraits,
  FILE_PATH_SYNONYMS,
  FOLDER_PATH_SYNONYMS,
  listTextEditorCallForms,
} from '../input/call-forms.ts';
import type { ForeignArgumentConverter } from '../input/normalize-arguments.ts';
import type { SearchDeps } from '../search/search-backend.ts';
import { createPathToolFacts, resolveToolPath } from '../tool-facts.ts';

import { renderMedia } from './media.ts';
import { createMissingFailure, findPathEntryKind } from './missing-path.ts';
import { renderNotebook } from './notebook.ts';
import { DEFAULT_READ_LINE_LIMIT, renderLineRange } from './text-range.ts';

const READ_PROMPT = `Reads a file. Text comes as \`<line number>→<line>\`, by default the first 2000 lines; PARTIAL in the answer means there is more, with the offset to go on from.
Also shows images, PDF documents, notebooks (by cell) and directories. Several files can be read side by side.`;

const input = z.strictObject({
  file_path: z.string().min(1),
  offset: z.int().optional().describe('First line, from 1; negative: counted from the end'),
  limit: z.int().min(1).optional(),
  pages: z.string().optional().describe('PDF only: "3" or "1-5"'),
});

type ReadInput = z.output<typeof input>;

/** Dependencies of the Read tool. */
export type ReadDeps = {
  readonly readState: FileReadState;
  readonly home: string;
  readonly editor?: HostFiles | undefined;
  /** Returns the number of tokens that one result may fill. */
  readonly maxTokens?: () => number;
  /** Lists the files of the project, to suggest one in place of a missing path. */
  readonly search?: SearchDeps;
};

/** Tokens that one result fills at most, in a window of any size. */
const MAX_TOKENS = 25_000;
/** Share of the context window that one result fills at most. */
const MAX_WINDOW_SHARE = 0.1;

/** Returns the number of tokens that one result may fill in a context window. */
export function getReadTokenLimit(windowTokens: number): number {
  return Math.min(MAX_TOKENS, windowTokens * MAX_WINDOW_SHARE);
}

/** The traits of the Read tool. */
export const readTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Read',
  facts: createPathToolFacts('read', 'file_path'),
  mainInput: 'file_path',
  result: 'repeatable',
  served: 'reads',
  forms: {
    example: 'Read{file_path:"src/a.ts", offset:120, limit:60}',
    names: [
      ...splitWords('read_file read_text_file view view_file open_file open fs_read cat view_image notebook_read'),
      ...['ls', 'list', 'list_dir', 'list_directory', 'list_files', ...listTextEditorCallForms('view')],
    ],
    synonyms: {
      file_path: [...FILE_PATH_SYNONYMS, ...FOLDER_PATH_SYNONYMS, 'notebook_path'],
      offset: ['start_line', 'line_start', 'start', 'from_line', 'line', 'start_line_one_indexed', 'begin_line'],
      limit: ['num_lines', 'max_lines', 'line_count', 'lines', 'count'],
      pages: ['page', 'page_range'],
      end_line: ['line_end', 'end', 'to_line', 'end_line_one_indexed_inclusive'],
      view_range: ['line_range', 'range'],
    },
    conversions: {
      file_path: convertPath,
      view_range: convertViewRange,
      end_line: (end, { offset }) => convertViewRange([offset ?? 1, end], {}),
      command: acceptOnlyArgumentValues('Read only shows files.', 'view'),
      recursive: acceptOnlyArgumentValues(
        'Read lists one folder. Use Glob{pattern:"**/*"} with its path for everything below.',
        false,
      ),
    },
    ignored: ['should_read_entire_file', 'encoding', 'explanation', 'ignore'],
  },
});

/** Takes line numbers off a path, as compilers and searches write them: `a.ts:120`, `a.ts:120-130`, `a.ts#L120`. */
function convertPath(file: JsonValue, { offset, limit }: JsonObject): ReturnType<ForeignArgumentConverter> {
  const [, file_path, first, last] = /^(.+?)(?::|#L)(\d+)(?:(?:-L?|:)(\d+))?:?$/.exec(String(file)) ?? [];
  const isOther = file_path === undefined || file_path.includes('://') || typeof file !== 'string';
  if (isOther || offset !== undefined) return { set: { file_path: file } };
  const isRange = last !== undefined && limit === undefined && Number(last) >= Number(first);
  return {
    set: { file_path, offset: Number(first), ...(isRange ? { limit: Number(last) - Number(first) + 1 } : {}) },
  };
}

/** Converts a first and a last line; the last one may be -1 for the end of the file. */
function convertViewRange(range: JsonValue, _input: JsonObject): ReturnType<ForeignArgumentConverter> {
  const lines =
    typeof range === 'string'
      ? (/(?<!\d)(\d+)(?:\D+?(-?\d+))?\D*$/.exec(range)?.slice(1) ?? []).flatMap((line) =>
          line === undefined ? [] : [Number(line)],
        )
      : [range].flat().map(Number);
  const [first = 1, last = -1] = lines;
  if (lines.some((line) => !Number.isInteger(line)) || lines.length > 2 || first < 0 || (last !== -1 && last < first))
    return { problem: 'The lines to read are given as offset (the first line) and limit (how many).' };
  return { set: { offset: first, ...(last === -1 ? {} : { limit: last - Math.max(1, first) + 1 }) } };
}

/** Creates the Read tool, which reads files and records what the model has seen. */
export function createReadTool(deps: ReadDeps): Tool {
  return buildTool({
    ...readTraits,
    prompt: READ_PROMPT,
    input,
    // The tool has its own limit of 256 KB; a second limit would cut what it announces.
    maxResultChars: 8 * 1024 * 1024,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ file_path }) => `Read ${file_path}`,
    async call(request, { callId, cwd, signal, findSent }) {
      const file = resolveToolPath(request.file_path, { cwd, home: deps.home });
      let content: FileBytes;
      try {
        content = await readFileWithEditor(file, deps.editor, signal);
      } catch (problem) {
        const found = await findPathEntryKind(file);
        if (found === 'directory') return listDirectory(file);
        if (found === 'missing') throw await createMissingFailure(file, { ...deps, cwd }, signal);
        throw problem;
      }
      const limited = { ...request, maxBytes: (deps.maxTokens?.() ?? MAX_TOKENS) * CHARS_PER_TOKEN };
      const range = `${request.offset ?? 1}+${request.limit ?? DEFAULT_READ_LINE_LIMIT}${request.pages ?? ''}`;
      const shown = deps.readState.getShown(content, range);
      const sent = shown && findSent?.(shown.callId);
      if (sent !== undefined && hashText(sent.result.content) === shown?.digest)
        return renderUnchanged(file, content, limited, sent.repliesAgo);
      const outcome = await renderFile(file, content, limited);
      const digest = hashText(outcome.content);
      deps.readState.recordRead(content, range, digest === undefined ? undefined : { callId, digest });
      return outcome;
    },
  });
}

type LimitedRequest = ReadInput & { readonly maxBytes: number };

async function renderFile(file: string, { bytes }: FileBytes, request: LimitedRequest): Promise<ToolOutcome> {
  const media = await renderMedia(file, bytes, request.pages);
  if (media !== undefined) return media;
  const decoded = decodeText(bytes);
  if (decoded === undefined) {
    throw new ToolFailure(
      `${file} is binary (${formatBytes(bytes.length)}) and cannot be shown as text. Look into it with Bash (file, xxd, strings).`,
    );
  }
  if (file.endsWith('.ipynb')) {
    const cells = renderNotebook(decoded.text);
    if (cells !== undefined)
      return {
        content: cells,
        display: { kind: 'text', text: 'Notebook' },
        structured: { type: 'notebook', file: { filePath: file } },
      };
  }
  return renderText(file, decoded.text, request);
}

function renderText(file: string, text: string, { offset, limit, maxBytes }: LimitedRequest): ToolOutcome {
  const range = renderLineRange(text, { offset, limit, maxBytes });
  const { totalLines, startLine, shownLines, partial } = range;
  const display = { kind: 'file', path: file, lines: shownLines, partial } as const;
  const structured = {
    type: 'text',
    file: { filePath: file, content: range.plain, numLines: shownLines, startLine, totalLines },
  };
  if (totalLines === 0) return { content: 'The file exists and is empty.', display, structured };
  if (shownLines === 0) {
    const content = `The file has only ${formatCount(totalLines, 'line')}; nothing is at offset ${startLine}. Read it with a smaller offset.`;
    return { content, display, structured };
  }
  return { content: range.content, display, structured };
}

/** Identifies the text of a result in the conversation. A provider may reject images, so they are not identified. */
function hashText(content: ToolOutcome['content']): string | undefined {
  return typeof content === 'string' ? hashBytes(Buffer.from(content)) : undefined;
}

/** Returns a short result for the model; the screen shows it like any other read. */
function renderUnchanged(file: string, { bytes }: FileBytes, request: LimitedRequest, repliesAgo: number): ToolOutcome {
  const text = decodeText(bytes)?.text;
  const display = text === undefined ? undefined : renderText(file, text, request).display;
  return {
    content: `Unchanged: these lines stand above, in the result of your Read of this file ${formatCount(repliesAgo, 'turn')} ago.`,
    display: display ?? { kind: 'text', text: 'Unchanged since last read' },
    structured: { type: 'file_unchanged', file: { filePath: file } },
  };
}

const MAX_ENTRIES = 300;

/** Lists a directory: folders first, with a slash, then files. */
async function listDirectory(directory: string): Promise<ToolOutcome> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  const sorted = [
    ...names.filter((name) => name.endsWith('/')).sort(),
    ...names.filter((name) => !name.endsWith('/')).sort(),
  ];
  const shown = sorted.slice(0, MAX_ENTRIES);
  const rest = sorted.length - shown.length;
  const note = rest === 0 ? [] : [`[${rest} more left out; use Glob with a pattern.]`];
  const summary = `${sorted.length} ${sorted.length === 1 ? 'entry' : 'entries'}`;
  return {
    content:
      sorted.length === 0 ? `${directory} is an empty directory.` : [`${directory}/`, ...shown, ...note].join('\n'),
    display: { kind: 'list', summary, items: shown, total: sorted.length },
    structured: { type: 'directory', path: directory, entries: shown, total: sorted.length },
  };
}
