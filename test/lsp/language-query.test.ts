import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startUnchecked } from '../../src/lib/processes/program-check.ts';
import { type LanguageQuery, runLanguageQuery } from '../../src/lsp/language-query.ts';
import { createLanguageServers } from '../../src/lsp/language-server-manager.ts';
import { WAIT_MS } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

const STUB = join(import.meta.dirname, '../support/lsp-stub.mjs');

test('each query is answered in lines with one-based positions', async () => {
  await using project = await createTempProject({ 'a.word': 'def one\nuse one\n', 'b.word': 'use one\n' });
  const languages = createLanguageServers({
    checkProgram: startUnchecked,
    folder: project.dir,
    version: '1',
    listServers: () => [
      {
        name: 'kit:words',
        command: process.execPath,
        args: [STUB],
        env: {},
        languages: { '.word': 'words' },
        startTimeoutMs: 20_000,
        shutdownTimeoutMs: 2_000,
        maxRestarts: 0,
        reportsDiagnostics: true,
      },
    ],
    getVariables: () => ({ PATH: process.env.PATH ?? '' }),
    newMarker: randomUUID,
    ledger: undefined,
    warn: () => undefined,
  });
  const limit = AbortSignal.timeout(WAIT_MS);
  const ask = (operation: LanguageQuery['operation'], { file = 'a.word', line = 1, character = 5, query = '' } = {}) =>
    runLanguageQuery(languages, { operation, path: join(project.dir, file), line, character, query }, limit);
  try {
    await ask('hover', { file: 'b.word' });
    expect(await ask('hover')).toEqual(['**one** is a word.']);
    expect(await ask('goToDefinition', { file: 'b.word' })).toEqual(['a.word:1:5']);
    expect(await ask('findReferences')).toEqual(['b.word:1:5', 'a.word:1:5', 'a.word:2:5']);
    expect(await ask('documentSymbol')).toEqual(['function one (line:1:5)', '  variable inner (line:1:1)']);
    expect(await ask('workspaceSymbol', { query: 'one' })).toEqual(['function one (a.word:1:5)']);
    expect(await ask('prepareCallHierarchy')).toEqual(['function one (a.word:1:5)']);
    expect(await ask('incomingCalls')).toEqual(['function caller of one (a.word:1:5)']);
    expect(await ask('outgoingCalls')).toEqual([]);
    expect(await ask('goToDefinition', { line: 2, character: 2 })).toEqual([]);
    await expect(ask('goToImplementation')).rejects.toThrow();
    await expect(ask('hover', { file: 'a.txt' })).rejects.toThrow('no language server knows this file');
  } finally {
    await languages.close();
  }
});
