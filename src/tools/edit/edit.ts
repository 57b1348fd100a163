import { z } from 'zod';
import type { Tool } from '../../contracts/tool.ts';
import { buildTool } from '../definition/build-tool.ts';
import type { FileChangeDeps } from '../files/change-file.ts';
import {
  acceptOnlyArgumentValues,
  type BuiltInToolTraits,
  defineToolTraits,
  FILE_PATH_SYNONYMS,
  listTextEditorCallForms,
} from '../input/call-forms.ts';
import type { AcceptedArgumentForms } from '../input/normalize-arguments.ts';
import { createPathToolFacts, resolveToolPath } from '../tool-facts.ts';

import type { TextEdit } from './apply-edit.ts';
import { editFile, findEditObstacle } from './edit-file.ts';

const EDIT_PROMPT = `Replaces text in a file. old_string must match the file character for character (without Read's line numbers) and occur once, unless replace_all is set; add surrounding lines to make it unique. An empty old_string creates a file. Several replacements in one file: edits, a list of old_string and new_string.`;

const input = z.strictObject({
  file_path: z.string().min(1),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

/** The forms of one replacement. */
export const EDIT_ARGUMENT_FORMS: AcceptedArgumentForms = {
  synonyms: {
    old_string: [
      ...['old_str', 'old_text', 'old', 'old_content', 'old_code', 'search', 'find', 'original', 'original_string'],
      ...['search_string', 'target_content', 'target'],
    ],
    new_string: [
      ...['new_str', 'new_text', 'new', 'new_content', 'new_code', 'replace', 'replacement', 'replacement_content'],
      ...['replace_string', 'replacement_string', 'updated'],
    ],
    replace_all: ['all', 'global', 'allow_multiple', 'multiple', 'replace_all_occurrences'],
  },
  conversions: {
    expected_replacements: (count) => ({ set: Number(count) > 1 ? { replace_all: true } : {} }),
  },
  ignored: ['instruction', 'instructions', 'explanation', 'description'],
};

/** The message for an edit by line number, which would change another line if the file has changed. */
const NO_LINE_NUMBERS =
  'Edit works on text, not on line numbers. Give the neighbouring line as old_string, and as new_string that line with the new lines.';

/** The traits of the Edit tool. */
export const editTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Edit',
  facts: createPathToolFacts('edit', 'file_path'),
  mainInput: 'file_path',
  served: 'changes',
  forms: {
    ...EDIT_ARGUMENT_FORMS,
    example: 'Edit{file_path:"src/a.ts", old_string:"let x = 1;", new_string:"let x = 2;"}',
    names: [
      ...['edit_file', 'file_edit', 'str_replace', 'string_replace', 'search_replace', 'search_and_replace', 'replace'],
      ...['replace_in_file', 'replace_string_in_file', 'replace_file_content', 'replace_content'],
      ...listTextEditorCallForms('str_replace', 'insert', 'undo_edit'),
    ],
    synonyms: { file_path: FILE_PATH_SYNONYMS, ...EDIT_ARGUMENT_FORMS.synonyms },
    conversions: {
      ...EDIT_ARGUMENT_FORMS.conversions,
      command: acceptOnlyArgumentValues(NO_LINE_NUMBERS, 'str_replace'),
      insert_line: acceptOnlyArgumentValues(NO_LINE_NUMBERS),
      start_line: acceptOnlyArgumentValues(NO_LINE_NUMBERS),
    },
  },
});

/** Creates the Edit tool, which replaces text in a file and leaves all other bytes unchanged. */
export function createEditTool(deps: FileChangeDeps): Tool {
  return buildTool({
    ...editTraits,
    prompt: EDIT_PROMPT,
    input,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    title: ({ file_path }) => `Edit ${file_path}`,
    checkPreconditions: (edit, { cwd, signal }) =>
      findEditObstacle(resolveToolPath(edit.file_path, { cwd, home: deps.home }), [toTextEdit(edit)], deps, signal),
    async call({ file_path, old_string, new_string, replace_all }, { cwd, signal }) {
      const file = resolveToolPath(file_path, { cwd, home: deps.home });
      const edit = toTextEdit({ old_string, new_string, replace_all });
      const hostFields = { oldString: old_string, newString: new_string, replaceAll: replace_all ?? false };
      return editFile(file, [edit], deps, signal, hostFields);
    },
  });
}

/** A replacement as the model gives it. */
type Replacement = {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
};

/** Converts a replacement of the input. */
export function toTextEdit({ old_string, new_string, replace_all }: Replacement): TextEdit {
  return { oldText: old_string, newText: new_string, occurrences: replace_all === true ? 'all' : 'one' };
}
