import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PermissionAnswer } from '../../src/contracts/permission.ts';
import { createEditReviews } from '../../src/ide/edit-reviews.ts';
import { createEditReview } from '../../src/tools/edit/preview-edit.ts';
import { createTempProject } from '../support/temp-project.ts';

const FILES = { 'a.ts': 'const one = 1;\nexport { one };\n', 'b.ts': "import { one } from './a';\none;\n" };

/** A rename that waits for approval, shown in an editor whose diffs the test answers by file name. */
async function showRename() {
  const project = await createTempProject(FILES);
  const [a, b] = ['a.ts', 'b.ts'].map((name) => join(project.dir, name));
  const input = {
    operation: 'rename',
    changed_files: [
      {
        file_path: a ?? '',
        edits: [
          { line: 1, old_string: 'const one = 1;', new_string: 'const two = 1;' },
          { line: 2, old_string: 'export { one };', new_string: 'export { two };' },
        ],
      },
      { file_path: b ?? '', edits: [{ line: 2, old_string: 'one;', new_string: 'two;' }] },
    ],
  };
  const diffs = new Map<string, { readonly text: unknown; readonly answer: (texts: readonly string[]) => void }>();
  const closed: unknown[] = [];
  const opened = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<PermissionAnswer>();
  const reviews = createEditReviews({
    link: {
      hasTool: () => true,
      callTool: (name, { tab_name, new_file_contents, old_file_path }) =>
        new Promise((resolve) => {
          if (name === 'close_tab') return void closed.push(tab_name);
          diffs.set(String(old_file_path).slice(-4), { text: new_file_contents, answer: resolve });
          if (diffs.size === 2) opened.resolve();
        }),
    },
    reviewEdit: (facts) => createEditReview(facts, { cwd: project.dir, home: project.home }),
    answer: (_, answer) => answered.resolve(answer),
    formatPath: (path) => path.slice(-4),
  });
  reviews.onEvent({
    type: 'permission_request',
    request: {
      id: 'r',
      callId: 'c',
      toolName: 'LSP',
      title: 'Rename',
      targets: [],
      trace: [],
      facts: { tool: 'LSP', input, kind: 'edit', writes: [a ?? '', b ?? ''] },
      reasons: [],
      suggestions: [],
      danger: 'none',
      concealed: 'none',
    },
  });
  await opened.promise;
  return {
    input,
    closed,
    texts: () => [...diffs].map(([name, { text }]) => [name, text]),
    answer: (name: string, ...texts: readonly string[]) => diffs.get(name)?.answer(texts),
    answered: answered.promise,
    end: () =>
      reviews.onEvent({ type: 'permission_answer', requestId: 'r', answer: { behavior: 'allow' }, by: 'person' }),
    [Symbol.asyncDispose]: project.remove,
  };
}

test('a rename is a diff of each file, and allowed when all are accepted', async () => {
  await using rename = await showRename();
  expect(rename.texts()).toEqual([
    ['a.ts', 'const two = 1;\nexport { two };\n'],
    ['b.ts', "import { one } from './a';\ntwo;\n"],
  ]);
  rename.answer('a.ts', 'FILE_SAVED', 'const two = 1;\nexport { two };\n');
  rename.answer('b.ts', 'FILE_SAVED', "import { one } from './a';\ntwo;\n");
  expect(await rename.answered).toEqual({ behavior: 'allow' });
  rename.end();
  expect(rename.closed).toEqual([expect.stringContaining('a.ts'), expect.stringContaining('b.ts')]);
});

test('a rename is refused with its first diff', async () => {
  await using rename = await showRename();
  rename.answer('b.ts', 'DIFF_REJECTED');
  expect(await rename.answered).toMatchObject({ behavior: 'deny' });
});

test('what is changed in the diffs of a rename is written as it was saved', async () => {
  await using rename = await showRename();
  rename.answer('a.ts', 'FILE_SAVED', 'const two = 1;\nconst x = 0;\nexport { two };\n');
  rename.answer('b.ts', 'FILE_SAVED', FILES['b.ts']);
  expect(await rename.answered).toEqual({
    behavior: 'allow',
    updatedInput: {
      ...rename.input,
      changed_files: [
        {
          file_path: rename.input.changed_files[0]?.file_path,
          edits: [
            {
              line: 1,
              old_string: 'const one = 1;\nexport { one };',
              new_string: 'const two = 1;\nconst x = 0;\nexport { two };',
            },
          ],
        },
      ],
    },
  });
});
