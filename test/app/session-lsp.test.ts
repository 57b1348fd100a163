import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { runHere } from '../support/run-here.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const STUB = join(import.meta.dirname, '../support/lsp-stub.mjs');

/** Has the model write a wrong file, and returns its first two requests. */
async function writeWrongFile(project: TempProject, name: string, ...flags: readonly string[]) {
  const write = toolUse('Write', { file_path: join(project.dir, name), content: 'good\nbad\n' });
  await using api = await startApiServer({ turns: [calls(write), says('Done.')] });
  await runHere(project, ['-p', 'go', '--permission-mode', 'acceptEdits', ...flags], api.url);
  const [first, second] = api.requests();
  return { first: first?.raw ?? '', second: second?.raw ?? '' };
}

async function installServer(project: TempProject): Promise<void> {
  const script = `#!/bin/sh\nexec '${process.execPath}' '${STUB}'\n`;
  await chmod(await project.write('node_modules/.bin/typescript-language-server', script), 0o755);
}

test('a server of the settings tells the errors of an edit with the next request', async () => {
  await using project = await createTempProject();
  const words = { command: process.execPath, args: [STUB], extensionToLanguage: { '.word': 'words' } };
  await project.write('../home/.ouro/settings.json', JSON.stringify({ languageServers: { words } }));
  const { second } = await writeWrongFile(project, 'a.word', '--trust');
  expect(second).toContain('The language server words finds since the last changes:\\na.word:2:1 error');
});

test('an installed server is used in a trusted folder, and offered by name only', async () => {
  await using project = await createTempProject();
  await installServer(project);
  const { first, second } = await writeWrongFile(project, 'a.ts', '--trust');
  expect(first).toMatch(/Known by name: [^"]*\bLSP\b/);
  expect(first).not.toContain('"name":"LSP"');
  expect(second).toContain('The language server typescript finds since the last changes:\\na.ts:2:1 error');
});

test.each([
  ['the folder is not trusted', {}, []],
  ['the settings disable it', { languageServers: { typescript: false } }, ['--trust']],
])('an installed server is not used if %s', async (_, settings, flags) => {
  await using project = await createTempProject();
  await installServer(project);
  await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  const { first, second } = await writeWrongFile(project, 'a.ts', ...flags);
  expect(first).toContain('Known by name');
  expect(first).not.toMatch(/Known by name: [^"]*\bLSP\b/);
  expect(second).toContain('"tool_result"');
  expect(second).not.toContain('The language server');
});
