import { chmod, cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** A formatter that writes capitals, and fails for a file with the word `broken`. */
const CAPITALS = `#!/bin/sh
for file; do case $file in -*) continue;; esac
  grep -q broken "$file" && { echo "$file:1 is broken"; exit 2; }
  tr a-z A-Z < "$file" > "$file.tmp" && cat "$file.tmp" > "$file" && rm "$file.tmp"
done
`;

async function startWith(
  project: TempProject,
  formatter: string,
  turns: Parameters<typeof startApiServer>[0]['turns'],
) {
  await project.write('../home/.ouro/settings.json', JSON.stringify({ formatter, projectPrograms: true }));
  const api = await startApiServer({ turns });
  const session = await composed(project, api.url, { permissionMode: 'acceptEdits' });
  return { api, ...session };
}

const write = (project: TempProject, name: string, content: string) =>
  calls(toolUse('Write', { file_path: join(project.dir, name), content }));

test('the formatter of the project runs on the changed files when a turn ends, and the model is told what it changed', async () => {
  await using project = await createTempProject({ '.prettierrc': '{}', 'untouched.js': 'let b;\n' });
  await chmod(await project.write('node_modules/.bin/prettier', CAPITALS), 0o755);
  const turns = [write(project, 'a.js', 'let a;\n'), says('Done.'), says('Yes.')];
  const { api, conversation, events, close, command } = await startWith(project, 'auto', turns);
  await conversation.agent.prompt('go');
  expect([await project.read('a.js'), await project.read('untouched.js')]).toEqual(['LET A;\n', 'let b;\n']);
  expect(events).toContainEqual({ type: 'notice', level: 'info', topic: 'format', text: 'Formatted a.js.' });
  await conversation.agent.prompt('more');
  expect(api.requests().at(-1)?.raw).toMatch(/a\.js[\s\S]*-let a;\\n\+LET A;/);
  await command('undo 2');
  await expect(project.read('a.js')).rejects.toThrow('ENOENT');
  await close();
  await api.close();
});

test('the changed files are locked while the formatter runs', async () => {
  await using project = await createTempProject();
  const script = `#!/bin/sh\nls '${project.ouroHome}/locks' | grep -c lock > '${project.dir}/locks'\n`;
  await chmod(await project.write('../list-locks', script), 0o755);
  const turns = [write(project, 'a.txt', 'a\n'), write(project, 'b.txt', 'b\n'), says('Done.')];
  const { api, conversation, close } = await startWith(project, `'${join(project.dir, '../list-locks')}'`, turns);
  await conversation.agent.prompt('go');
  expect(await project.read('locks')).toBe('2\n');
  expect(await readdir(join(project.ouroHome, 'locks'))).toEqual([]);
  await close();
  await api.close();
});

test('problems of a formatter are reported once, and the turn continues', async () => {
  await using project = await createTempProject();
  await chmod(await project.write('../capitals', CAPITALS), 0o755);
  const turns = [
    write(project, 'a.txt', 'broken\n'),
    says('Done.'),
    write(project, 'b.txt', 'broken\n'),
    says('Sorry.'),
  ];
  const { api, conversation, close } = await startWith(project, `'${join(project.dir, '../capitals')}'`, turns);
  await conversation.agent.prompt('go');
  expect(api.requests()).toHaveLength(4);
  expect(api.requests()[2]?.raw).toMatch(
    /The formatter .+capitals' exited with code 2 for a\.txt\.\\n.+a\.txt:1 is broken/,
  );
  await close();
  await api.close();
});

/** A linter that finds the word `var`, and replaces it with `--fix`. */
const NO_VAR = `#!/bin/sh
fix= found=0
for file; do case $file in --fix) fix=1; continue;; -*) continue;; esac
  [ "$fix" ] && sed -i s/var/let/ "$file"
  grep -Hn var "$file" && found=1
done
exit $found
`;

test.each([
  [
    'auto',
    'tells the model what it finds, once',
    'var a;\n',
    /The linter eslint exited with code 1 for a\.js\..*a\.js:1:var a;/,
  ],
  ['fix', 'tells the model the diff of what it fixes', 'let a;\n', /a\.js[\s\S]*-var a;\\n\+let a;/],
])('with %s, the linter of the project %s', async (linter, _, content, reported) => {
  await using project = await createTempProject({ 'eslint.config.js': '' });
  await chmod(await project.write('node_modules/.bin/eslint', NO_VAR), 0o755);
  const turns = [write(project, 'a.js', 'var a;\n'), says('Done.')];
  const api = await startApiServer({ turns, after: says('Yes.') });
  await project.write('../home/.ouro/settings.json', JSON.stringify({ linter, projectPrograms: true }));
  const { conversation, close } = await composed(project, api.url, { permissionMode: 'acceptEdits' });
  await conversation.agent.prompt('go');
  expect(await project.read('a.js')).toBe(content);
  await conversation.agent.prompt('more');
  expect(api.requests().at(-1)?.raw).toMatch(reported);
  expect(api.requests().at(-1)?.raw.split('The linter eslint exited').length).toBe(linter === 'auto' ? 2 : 1);
  await close();
  await api.close();
});

longTest(
  'a real linter and formatter: what Biome cannot fix is told together with the diff of what it fixed',
  async () => {
    await using project = await createTempProject({ 'biome.json': '{}' });
    await mkdir(join(project.dir, 'node_modules/.bin'), { recursive: true });
    // A copy: the sandbox of formatters shows what the workspace has, and not where a link leads.
    const installed = join(import.meta.dirname, '../../node_modules/@biomejs');
    await cp(installed, join(project.dir, 'node_modules/@biomejs'), { recursive: true });
    await symlink('../@biomejs/biome/bin/biome', join(project.dir, 'node_modules/.bin/biome'));
    const content = 'export function f(a, b) {\n  let c = a\n  return c == b;\n}\n';
    const api = await startApiServer({ turns: [write(project, 'a.js', content), says('Done.')], after: says('Yes.') });
    const settings = { linter: 'fix', formatter: 'auto', projectPrograms: true, languageServers: { biome: false } };
    await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
    const { conversation, close } = await composed(project, api.url, { permissionMode: 'acceptEdits' });
    await conversation.agent.prompt('go');
    expect(await project.read('a.js')).toBe('export function f(a, b) {\n\tconst c = a;\n\treturn c == b;\n}\n');
    const reported = JSON.stringify(api.requests()[2]?.body.messages?.at(-1));
    expect(reported).toContain('The linter biome exited with code 1 for a.js.');
    expect(reported).not.toContain('<reminder>');
    expect(reported).toContain('a.js:3:12 lint/suspicious/noDoubleEquals');
    expect(reported).toContain('-  let c = a\\n-  return c == b;\\n+\\tconst c = a;');
    await close();
    await api.close();
  },
);
