import { z } from 'zod';
import { isJsonObject } from '../contracts/json.ts';
import { type Tool, ToolFailure } from '../contracts/tool.ts';
import { type DecodedText, decodeText, encodeText } from '../lib/files/text-encoding.ts';
import { formatCount } from '../lib/text/format.ts';
import { detectLineEnding, splitLines } from '../lib/text/lines.ts';
import { buildTool } from './definition/build-tool.ts';
import { describeNewSyntaxError } from './edit/check-syntax.ts';
import { catchToolFailureMessage } from './edit/edit-file.ts';
import {
  changeFilesExclusively,
  type FileChangeDeps,
  isExistingPath,
  readFileToReplace,
  writeAndRecordFile,
} from './files/change-file.ts';
import { diffFile, getOldTextForHosts } from './files/diff-file.ts';
import {
  acceptOnlyArgumentValues,
  type BuiltInToolTraits,
  defineToolTraits,
  FILE_PATH_SYNONYMS,
  listTextEditorCallForms,
} from './input/call-forms.ts';
import { createPathToolFacts, resolveToolPath } from './tool-facts.ts';

const WRITE_PROMPT = `Writes a whole file and missing directories. An existing file must have been read in this session. To change parts of it use Edit.`;

const input = z.strictObject({
  file_path: z.string().min(1),
  content: z.string(),
});

/** The traits of the Write tool. */
export const writeTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Write',
  facts: createPathToolFacts('edit', 'file_path'),
  mainInput: 'file_path',
  served: 'changes',
  forms: {
    example: 'Write{file_path:"docs/new.md", content:"# New\\n"}',
    names: [
      ...['write_file', 'write_to_file', 'write_text_file', 'file_write', 'create_file', 'create', 'new_file'],
      ...['save_file', ...listTextEditorCallForms('create', 'write')],
    ],
    synonyms: {
      file_path: FILE_PATH_SYNONYMS,
      content: ['contents', 'text', 'file_text', 'file_content', 'new_content', 'data', 'body', 'code', 'code_content'],
    },
    conversions: {
      content: (content) =>
        isJsonObject(content)
          ? {
              set: { content: `${JSON.stringify(content, null, 2)}\n` },
              note: 'content was an object and was written as JSON.',
            }
          : { set: { content } },
      command: acceptOnlyArgumentValues('Write only writes whole files.', 'create', 'write'),
      append: acceptOnlyArgumentValues('Write replaces the whole file. To append, use Edit on its last lines.', false),
    },
    ignored: ['overwrite', 'create_dirs', 'encoding', 'explanation', 'line_count'],
  },
});

/** Creates the Write tool, which writes whole files atomically. */
export function createWriteTool(deps: FileChangeDeps): Tool {
  return buildTool({
    ...writeTraits,
    prompt: WRITE_PROMPT,
    input,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    title: ({ file_path }) => `Write ${file_path}`,
    async checkPreconditions({ file_path }, { cwd, signal }) {
      const file = resolveToolPath(file_path, { cwd, home: deps.home });
      return (await isExistingPath(file)) ? catchToolFailureMessage(readFileToReplace(file, deps, signal)) : undefined;
    },
    async call({ file_path, content }, { cwd, signal }) {
      const file = resolveToolPath(file_path, { cwd, home: deps.home });
      const { current, previous, next, method } = await changeFilesExclusively([file], deps, signal, async () => {
        const found = (await isExistingPath(file)) ? await readFileToReplace(file, deps, signal) : undefined;
        const decoded = found === undefined ? undefined : decodeText(found.bytes);
        const encoded = encodeContent(content, decoded);
        signal.throwIfAborted();
        const replaced = { expected: found?.diskBytes ?? 'no file', knowledge: 'seen' } as const;
        const note = await writeAndRecordFile(file, encoded.bytes, deps, replaced);
        return { current: found, previous: decoded, next: encoded, method: note };
      });
      const original = current === undefined ? undefined : (previous?.text ?? '');
      const change = await diffFile(file, original, next.text);
      const lines = formatCount(splitLines(content).length, 'line');
      const syntax = await describeNewSyntaxError(file, original, next.text);
      return {
        content: `${current === undefined ? 'Created' : 'Replaced'} ${file} (${lines}).${method}${next.note}${syntax}`,
        display: change.display,
        structured: {
          type: current === undefined ? 'create' : 'update',
          filePath: file,
          content,
          structuredPatch: change.structuredPatch,
          originalFile: getOldTextForHosts(original),
        },
      };
    },
  });
}

type EncodedContent = { readonly bytes: Uint8Array; readonly text: string; readonly note: string };

/** Encodes content like the file it replaces: with its encoding, byte order mark and CRLF line endings. */
function encodeContent(content: string, previous: DecodedText | undefined): EncodedContent {
  const isCrlf = previous !== undefined && detectLineEnding(previous.text) === '\r\n' && !content.includes('\r');
  const text = isCrlf ? content.replaceAll('\n', '\r\n') : content;
  const note = isCrlf ? ' Its CRLF line endings were kept.' : '';
  const encoded = encodeText(text, previous ?? { encoding: 'utf-8', bom: false });
  if (encoded.ok) return { bytes: encoded.bytes, text, note };
  const utf8 = encodeText(text, { encoding: 'utf-8', bom: false });
  if (utf8.ok) {
    return {
      bytes: utf8.bytes,
      text,
      note: `${note} It is UTF-8 now: its old encoding has no “${encoded.character}”.`,
    };
  }
  throw new ToolFailure(
    'The content holds half of a surrogate pair, which no file can hold. Write the whole character.',
  );
}
