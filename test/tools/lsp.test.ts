import { expect, test } from 'vitest';
import { createFileLocks } from '../../src/lib/files/file-locks.ts';
import { createFileReadState } from '../../src/tools/files/file-read-state.ts';
import { createLspTool } from '../../src/tools/lsp.ts';
import { callTool } from '../support/call-tool.ts';

const tool = (lookUp: Parameters<typeof createLspTool>[0]['lookUp']) =>
  createLspTool({
    lookUp,
    findRenameChanges: async () => [],
    files: { readState: createFileReadState(), home: '/home/me', locks: createFileLocks('/home/me') },
  });

test('paths are made absolute, numbers may be text, and the result is a list', async () => {
  const asked: unknown[] = [];
  const lsp = tool(async (wanted) => {
    asked.push(wanted);
    return ['src/a.ts:1:2'];
  });
  const input = { operation: 'findReferences', file_path: '~/a.ts', line: '3', character: 7 };
  expect(await callTool(lsp, input, { cwd: '/project' })).toMatchObject({
    content: 'src/a.ts:1:2',
    display: { kind: 'list', items: ['src/a.ts:1:2'], total: 1 },
  });
  await callTool(lsp, { operation: 'workspaceSymbol', file_path: 'b.ts', query: 'x' }, { cwd: '/project' });
  expect(asked).toEqual([
    { operation: 'findReferences', path: '/home/me/a.ts', line: 3, character: 7, query: '' },
    { operation: 'workspaceSymbol', path: '/project/b.ts', line: 1, character: 1, query: 'x' },
  ]);
});

test('no result and no server are reported with what to do', async () => {
  const input = { operation: 'hover', file_path: 'a.ts' };
  expect(
    (
      await callTool(
        tool(async () => []),
        input,
      )
    ).content,
  ).toContain('It knows nothing there.');
  const silent = tool(async () => {
    throw new Error('no language server knows this file');
  });
  await expect(callTool(silent, input)).rejects.toThrow(
    'The language server did not answer: no language server knows this file. Search by text instead.',
  );
});
