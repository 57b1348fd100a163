import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import type { Tool } from '../../contracts/tool.ts';
import { buildTool } from '../build-tool.ts';
import { editFile } from '../edit/edit-file.ts';
import { absolutePath, repairArguments } from '../file-arguments.ts';
import type { ChangeParts } from '../file-change.ts';
import { pathFacts } from '../stated-facts.ts';

const MULTI_EDIT_PROMPT = `Makes several Edit replacements in one file, in order, each on the result of the one before. All are applied or none.`;

const input = z.object({
  file_path: z.string().min(1),
  edits: z
    .array(
      z.object({
        old_string: z.string(),
        new_string: z.string(),
        replace_all: z.boolean().optional(),
      }),
    )
    .min(1),
});

/** What it says of itself to those who decide about its calls. */
export const multiEditStatement: ToolStatement = {
  name: 'MultiEdit',
  facts: pathFacts('edit', 'file_path'),
  mainInput: 'file_path',
  served: 'changes',
};

/** Several replacements in one file: all or none. */
export function createMultiEditTool(parts: ChangeParts): Tool {
  return buildTool({
    ...multiEditStatement,
    prompt: MULTI_EDIT_PROMPT,
    input,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    prepareArguments: (raw) => repairArguments(raw, { lists: ['edits'] }),
    title: ({ file_path }) => `Edit ${file_path}`,
    async call({ file_path, edits }, { cwd, signal }) {
      const file = absolutePath(file_path, { cwd, home: parts.home });
      const wanted = edits.map(
        (edit) =>
          ({
            oldText: edit.old_string,
            newText: edit.new_string,
            occurrences: edit.replace_all ? 'all' : 'one',
          }) as const,
      );
      return editFile(file, wanted, parts, signal);
    },
  });
}
