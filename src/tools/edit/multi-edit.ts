import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { Tool } from '../../contracts/tool.ts';
import { buildTool } from '../definition/build-tool.ts';
import type { FileChangeDeps } from '../files/change-file.ts';
import {
  type ArgumentDependentToolName,
  type BuiltInToolTraits,
  defineToolTraits,
  FILE_PATH_SYNONYMS,
} from '../input/call-forms.ts';
import type { ForeignArgumentConverter } from '../input/normalize-arguments.ts';
import { createPathToolFacts, resolveToolPath } from '../tool-facts.ts';

import { EDIT_ARGUMENT_FORMS, editTraits, toTextEdit } from './edit.ts';
import { editFile, findEditObstacle } from './edit-file.ts';

const MULTI_EDIT_PROMPT = `Makes several Edit replacements in one file, in order, each on the result of the one before. All are applied or none.`;

const input = z.strictObject({
  file_path: z.string().min(1),
  edits: z
    .array(
      z.strictObject({
        old_string: z.string(),
        new_string: z.string(),
        replace_all: z.boolean().optional(),
      }),
    )
    .min(1),
});

/** The traits of the MultiEdit tool. */
export const multiEditTraits: BuiltInToolTraits = defineToolTraits({
  name: 'MultiEdit',
  facts: createPathToolFacts('edit', 'file_path'),
  mainInput: 'file_path',
  served: 'changes',
  forms: {
    example: 'MultiEdit{file_path:"src/a.ts", edits:[{old_string:"a", new_string:"b"}]}',
    names: ['multi_edit_file', 'multi_replace', 'multi_replace_string_in_file', 'apply_diff', ...listNamesOfEdit()],
    synonyms: {
      file_path: FILE_PATH_SYNONYMS,
      edits: ['replacements', 'changes', 'operations', 'replacement_chunks'],
      diff: ['search_replace_blocks', 'blocks'],
    },
    conversions: { diff: convertBlocks },
    ignored: ['instruction', 'instructions', 'explanation', 'description'],
    elements: {
      edits: { ...EDIT_ARGUMENT_FORMS, synonyms: { ...EDIT_ARGUMENT_FORMS.synonyms, file_path: FILE_PATH_SYNONYMS } },
    },
  },
});

/** A call of Edit with a list of replacements means this tool. */
function listNamesOfEdit(): readonly ArgumentDependentToolName[] {
  const lists = ['edits', 'replacements', 'changes', 'operations', 'diff'];
  const when: ArgumentDependentToolName['when'] = (input) => lists.some((name) => input[name] !== undefined);
  const names = (editTraits.forms.names ?? []).map((form) => (typeof form === 'string' ? form : form.name));
  return [editTraits.name, ...names].map((name) => ({ name, when }));
}

/** Takes the file from the replacements, if they all name the same one. */
function hoistPath(raw: JsonObject): JsonObject {
  if (!Array.isArray(raw.edits)) return raw;
  const edits: readonly JsonValue[] = raw.edits;
  const files = new Set(edits.flatMap((edit) => (isJsonObject(edit) ? (edit.file_path ?? []) : [])));
  const [file] = files;
  if (files.size !== 1 || file === undefined || (raw.file_path ?? file) !== file) return raw;
  const stripped = edits.map((edit) => {
    if (!isJsonObject(edit)) return edit;
    const { file_path: _, ...rest } = edit;
    return rest;
  });
  return { ...raw, file_path: file, edits: stripped };
}

/** A SEARCH/REPLACE block; one without its last line extends to the end, so that a diff of them is searched once. */
const BLOCK =
  /(?<![^\n])[<-]{5,} ?SEARCH>?[^\n]*\n([\s\S]*?)(?:(?<![^\n])={5}[^\n]*\n([\s\S]*?)(?:(?<![^\n])([>+]{5,} ?REPLACE)[^\n]*|(?![\s\S]))|(?![\s\S]))/g;

/** Converts SEARCH/REPLACE blocks to replacements. */
function convertBlocks(diff: JsonValue): ReturnType<ForeignArgumentConverter> {
  const blocks = [...String(diff).matchAll(BLOCK)].filter(([, , , end]) => end !== undefined);
  const edits = blocks.map(([, search = '', replacement = '']) => ({
    old_string: trimNewline(search.replace(/^(?::\w+:\d+\n)*-{5,}\n/, '')),
    new_string: trimNewline(replacement),
  }));
  if (edits.length > 0) return { set: { edits } };
  return {
    problem: 'The diff has no SEARCH/REPLACE blocks. Give old_string and new_string, or send the patch to apply_patch.',
  };
}

const trimNewline = (text: string) => text.replace(/\n$/, '');

/** Creates the MultiEdit tool, which applies all replacements to one file or none. */
export function createMultiEditTool(deps: FileChangeDeps): Tool {
  return buildTool({
    ...multiEditTraits,
    prompt: MULTI_EDIT_PROMPT,
    deferred: true,
    input,
    prepareArguments: hoistPath,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    title: ({ file_path }) => `Edit ${file_path}`,
    checkPreconditions: ({ file_path, edits }, { cwd, signal }) =>
      findEditObstacle(resolveToolPath(file_path, { cwd, home: deps.home }), edits.map(toTextEdit), deps, signal),
    async call({ file_path, edits }, { cwd, signal }) {
      const file = resolveToolPath(file_path, { cwd, home: deps.home });
      return editFile(file, edits.map(toTextEdit), deps, signal);
    },
  });
}
