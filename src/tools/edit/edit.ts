import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import type { Tool } from '../../contracts/tool.ts';
import { buildTool } from '../build-tool.ts';
import { absolutePath, repairArguments } from '../file-arguments.ts';
import type { ChangeParts } from '../file-change.ts';
import { pathFacts } from '../stated-facts.ts';
import { editFile } from './edit-file.ts';

const EDIT_PROMPT = `Replaces exact text in a file that was read in this session. old_string must match the file character for character (without Read's line numbers) and occur once, unless replace_all is set; add surrounding lines to make it unique. Encoding and line endings are kept. An empty old_string creates a new file.`;

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, best absolute'),
  old_string: z.string().describe('Text to replace'),
  new_string: z.string().describe('Text to put in its place'),
  replace_all: z.boolean().optional().describe('Replace every occurrence'),
});

/** What it says of itself to those who decide about its calls. */
export const editStatement: ToolStatement = {
  name: 'Edit',
  facts: pathFacts('edit', 'file_path'),
  mainInput: 'file_path',
  served: 'changes',
};

/** Replaces text in a file and leaves every other byte as it was. */
export function createEditTool(parts: ChangeParts): Tool {
  return buildTool({
    ...editStatement,
    prompt: EDIT_PROMPT,
    input,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    prepareArguments: (raw) => repairArguments(raw, { flags: ['replace_all'] }),
    title: ({ file_path }) => `Edit ${file_path}`,
    async call({ file_path, old_string, new_string, replace_all }, { cwd, signal }) {
      const file = absolutePath(file_path, { cwd, home: parts.home });
      const edit = { oldText: old_string, newText: new_string, occurrences: replace_all ? 'all' : 'one' } as const;
      const facts = { oldString: old_string, newString: new_string, replaceAll: replace_all ?? false };
      return editFile(file, [edit], parts, signal, facts);
    },
  });
}
