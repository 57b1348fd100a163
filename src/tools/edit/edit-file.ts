import type { JsonObject } from '../../contracts/json.ts';
import { ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { decodeText, encodeText } from '../../lib/files/encoding.ts';
import { formatCount } from '../../lib/text/format.ts';
import { type ChangeParts, changeFile, exists, readForChange } from '../file-change.ts';
import { originalForHosts, showChange } from '../file-diff.ts';
import { applyEdit, type TextEdit } from './apply-edit.ts';

/** Applies edits one after the other and writes the file once, or not at all. */
export async function editFile(
  file: string,
  edits: readonly TextEdit[],
  parts: ChangeParts,
  signal: AbortSignal,
  facts: JsonObject = {},
): Promise<ToolOutcome> {
  const before = await textBefore(file, edits, parts, signal);
  let text = before.text;
  let replaced = 0;
  const lines: number[] = [];
  edits.forEach((edit, index) => {
    if (text === '' && edit.oldText === '') {
      text = edit.newText;
      return;
    }
    try {
      const edited = applyEdit(text, edit, file);
      text = edited.text;
      replaced += edited.replaced;
      lines.push(edited.firstLine);
    } catch (thrown) {
      if (edits.length === 1 || !(thrown instanceof ToolFailure)) throw thrown;
      throw new ToolFailure(`Edit ${index + 1} of ${edits.length} failed, so none was applied. ${thrown.message}`, {
        cause: thrown,
      });
    }
  });
  const encoded = encodeText(text, before);
  if (!encoded.ok) {
    throw new ToolFailure(
      `${file} is ${before.encoding} and cannot hold “${encoded.character}”. Use characters of that encoding, or convert the file first.`,
    );
  }
  signal.throwIfAborted();
  await changeFile(file, encoded.bytes, parts);
  const change = await showChange(file, before.isNew ? undefined : before.text, text);
  return {
    content: before.isNew
      ? `Created ${file}.`
      : `Replaced ${formatCount(replaced, 'occurrence')} in ${file}${placeOf(lines)}.`,
    display: change.display,
    structured: {
      ...facts,
      filePath: file,
      originalFile: originalForHosts(before.isNew ? undefined : before.text),
      structuredPatch: change.structuredPatch,
      userModified: false,
    },
  };
}

async function textBefore(file: string, edits: readonly TextEdit[], parts: ChangeParts, signal: AbortSignal) {
  if (edits[0]?.oldText === '' && !(await exists(file))) {
    return { text: '', encoding: 'utf-8', bom: false, isNew: true } as const;
  }
  const { bytes } = await readForChange(file, parts, signal);
  const decoded = decodeText(bytes);
  if (decoded === undefined) throw new ToolFailure(`${file} is binary; it cannot be edited as text.`);
  return { ...decoded, isNew: false };
}

function placeOf(lines: readonly number[]): string {
  if (lines.length === 0) return '';
  return lines.length === 1 ? ` (line ${lines[0]})` : ` (lines ${lines.join(', ')})`;
}
