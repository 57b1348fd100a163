import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { folderTrust, trustQuestion } from '../../../src/app/settings/folder-trust.ts';
import { readSettings } from '../../../src/app/settings/read-settings.ts';
import { trustFolder, trustList, trustRevoke, trustShow } from '../../../src/app/settings/trust-commands.ts';
import { loadExtensions } from '../../../src/extensions/load-extensions.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const admits = (realPath: string) => ({ ok: true, realPath }) as const;
const NOWHERE = { projectFolders: [], agentsFlag: undefined, admits };
const SETTINGS = '.claude/settings.json';
const settings = (value: object) => JSON.stringify(value, null, 1);
const surroundings = (project: TempProject) => readEnvironment(bareEnvironment(project));

/** What counts of the project's settings in a new run. */
async function counts(project: TempProject, dir = project.dir) {
  const environment = surroundings(project);
  const trust = await folderTrust(dir, environment, undefined);
  const { merged, problems } = await readSettings({ cwd: dir }, environment, trust.trusted, trust.approves);
  return { merged, problems: problems.map(({ text }) => text), trust };
}

test('before trust a folder may only forbid; afterwards everything it said counts', async () => {
  await using project = await createTempProject({
    [SETTINGS]: settings({ permissions: { allow: ['Bash'], deny: ['Read(x)'] }, env: { A: '1' } }),
  });
  expect((await counts(project)).merged).toEqual({ permissions: { deny: ['Read(x)'] } });
  await trustFolder(project.dir, 'folder', surroundings(project));
  expect((await counts(project)).merged).toEqual({
    permissions: { allow: ['Bash'], deny: ['Read(x)'] },
    env: { A: '1' },
  });
});

test('what changed after it was approved does not count until it is approved again', async () => {
  await using project = await createTempProject({ [SETTINGS]: settings({ hooks: {}, theme: 'dark' }) });
  const environment = surroundings(project);
  await trustFolder(project.dir, 'folder', environment);
  await project.write(SETTINGS, settings({ theme: 'light', permissions: { deny: ['Bash(rm:*)'] } }));
  expect((await counts(project)).problems).toEqual([]);
  await project.write(SETTINGS, settings({ theme: 'light', permissions: { allow: ['Bash'], deny: ['Bash(rm:*)'] } }));
  const changed = await counts(project);
  expect(changed.merged).toEqual({ theme: 'light', permissions: { deny: ['Bash(rm:*)'] } });
  expect(changed.problems.join()).toContain('permissions.allow do not count');
  expect(await trustQuestion(project.dir, environment)).toMatchObject({
    question: { state: 'changed', effects: [{ kind: 'rule', text: 'allows Bash', line: 5 }] },
  });
  await trustFolder(project.dir, 'folder', environment);
  expect((await counts(project)).problems).toEqual([]);
});

test('the order of keys and spaces make no change, a different command does', async () => {
  await using project = await createTempProject({
    [SETTINGS]: '{"env":{"A":"1","B":"2"},"statusLine":{"command":"x"}}',
  });
  await trustFolder(project.dir, 'folder', surroundings(project));
  await project.write(SETTINGS, '{ "statusLine": { "command": "x" }, "env": { "B": "2", "A": "1" } }');
  expect((await counts(project)).problems).toEqual([]);
  await project.write(SETTINGS, '{ "statusLine": { "command": "y" }, "env": { "B": "2", "A": "1" } }');
  expect((await counts(project)).problems.join()).toContain('env, statusLine do not count');
});

test('our own answer in an approved file stays approved, in a changed one it approves nothing', async () => {
  await using project = await createTempProject();
  await trustFolder(project.dir, 'folder', surroundings(project));
  const { trust } = await counts(project);
  const local = '.claude/settings.local.json';
  await project.write(local, settings({ permissions: { allow: ['Bash(make)'] } }));
  await trust.renew();
  expect((await counts(project)).problems).toEqual([]);
  await project.write(local, settings({ permissions: { allow: ['Bash'] } }));
  const later = await counts(project);
  await later.trust.renew();
  expect((await counts(project)).problems.join()).toContain('permissions.allow');
});

test('a folder below a trusted one is met once; from then on its changes are asked', async () => {
  await using project = await createTempProject({
    [`sub/${SETTINGS}`]: settings({ permissions: { allow: ['Bash'] } }),
  });
  const sub = join(project.dir, 'sub');
  expect((await counts(project, sub)).trust.trusted).toBe(false);
  await trustFolder(project.dir, 'folder', surroundings(project));
  expect((await counts(project, sub)).trust.trusted).toBe(false);
  await trustFolder(project.dir, 'below', surroundings(project));
  expect((await counts(project, sub)).merged).toEqual({ permissions: { allow: ['Bash'] } });
  await expect.poll(() => trustQuestion(sub, surroundings(project))).toBeUndefined();
  await expect.poll(() => readFile(join(project.ouroHome, 'trust.json'), 'utf8')).toContain(`"${sub}"`);
  await project.write(`sub/${SETTINGS}`, settings({ permissions: { allow: ['Bash', 'WebFetch'] } }));
  expect((await counts(project, sub)).problems.join()).toContain('permissions.allow');
});

test('nothing a repository says takes part: a commondir that points to a trusted one changes nothing', async () => {
  await using project = await createTempProject({ 'evil/.git/commondir': '../../.git\n' });
  await trustFolder(project.dir, 'folder', surroundings(project));
  expect((await counts(project, join(project.dir, 'evil'))).trust.trusted).toBe(false);
});

test('home, its parents and the root are too much to trust', async () => {
  await using project = await createTempProject();
  const environment = surroundings(project);
  for (const dir of ['/', project.home, dirname(project.home)]) {
    expect(await trustFolder(dir, 'below', environment)).toMatchObject({ ok: false });
  }
  expect(await trustList(environment)).toEqual(['No folder is trusted.']);
});

test('everything a folder would bring about is shown before it is trusted', async () => {
  await using project = await createTempProject({
    [SETTINGS]: settings({
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'evil \u001b[31m' }] }] },
      mcpServers: { db: { command: 'npx', args: ['db'] } },
      permissions: { allow: ['Bash(make:*)'], additionalDirectories: ['..'], defaultMode: 'acceptEdits' },
      env: { PATH: '.' },
      statusLine: { command: './line' },
    }),
    '.mcp.json':
      '{"mcpServers":{"web":{"url":"https://example.com/mcp","oauth":{"identityProvider":{"idTokenCommand":"evil"}}}}}',
    'CLAUDE.md': 'Be kind.',
    '.claude/commands/go.md': 'go',
  });
  const environment = surroundings(project);
  const shown = (await trustShow(project.dir, environment)).map((line) => line.replaceAll(project.dir, '.').trim());
  expect(shown).toEqual([
    '. is not trusted. It would bring about:',
    'hook         at Stop runs evil \u001b[31m  (./.claude/settings.json:6)',
    'server       db: npx db  (./.claude/settings.json:15)',
    'command      status line runs ./line  (./.claude/settings.json:34)',
    'variable     PATH=.  (./.claude/settings.json:32)',
    'rule         allows Bash(make:*)  (./.claude/settings.json:24)',
    'folder       adds .. to the workspace  (./.claude/settings.json:27)',
    'mode         begins in mode acceptEdits  (./.claude/settings.json:29)',
    'server       web: https://example.com/mcp; logs in by {"identityProvider":{"idTokenCommand":"evil"}} (asks once more before it starts)  (./.mcp.json)',
    'instructions CLAUDE.md (8 B) is read to the model  (./CLAUDE.md)',
    'instructions commands: go.md  (./.claude/commands)',
  ]);
  expect(await trustList(environment)).toEqual(['No folder is trusted.']);
});

test('trust is kept 0600, taken back by name, and a damaged file trusts nothing', async () => {
  await using project = await createTempProject();
  const environment = surroundings(project);
  const file = join(project.ouroHome, 'trust.json');
  await trustFolder(project.dir, 'folder', environment);
  expect([(await stat(file)).mode & 0o777, (await stat(project.ouroHome)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await trustRevoke(project.dir, environment)).toMatchObject({ ok: true });
  expect(await trustRevoke(project.dir, environment)).toMatchObject({ ok: false });
  await trustFolder(project.dir, 'folder', environment);
  await writeFile(file, '{"v":1,');
  expect((await counts(project)).trust.trusted).toBe(false);
});

test('a damaged entry is told and asked about again, every other folder stays trusted', async () => {
  await using project = await createTempProject();
  const environment = surroundings(project);
  const file = join(project.ouroHome, 'trust.json');
  const entry = { at: '2026-01-01', reach: 'folder' };
  const damaged = JSON.stringify({
    v: 1,
    folders: { '/good': entry, [project.dir]: { ...entry, reach: 7 } },
    later: 1,
  });
  await mkdir(project.ouroHome);
  await writeFile(file, damaged);
  const { trust } = await counts(project);
  expect(trust.trusted).toBe(false);
  const problems = (await trust.onlyApproved(await loadExtensions(NOWHERE))).problems;
  expect(problems.map(({ text }) => text)).toEqual([
    `${file} is damaged, so these entries do not count: folders ${project.dir}.`,
  ]);
  const { lines } = await trustFolder(project.dir, 'folder', environment);
  expect(lines[0]).toContain('The file as it was is kept in');
  expect((await trustList(environment)).map((line) => line.split(' ')[0])).toEqual(['/good', project.dir]);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ later: 1 });
});

test('what was met below a trusted folder and cannot be read any more is asked about, not met anew', async () => {
  await using project = await createTempProject({ [SETTINGS]: settings({ permissions: { allow: ['Bash'] } }) });
  const folders = { [dirname(project.dir)]: { at: '2026-01-01', reach: 'below' } };
  await mkdir(project.ouroHome);
  const store = (met: unknown) =>
    writeFile(join(project.ouroHome, 'trust.json'), JSON.stringify({ v: 1, folders, met }));
  await store({ [project.dir]: { project: 7 } });
  expect((await counts(project)).problems.join()).toContain('permissions.allow do not count');
  await store([]);
  expect((await counts(project)).trust.trusted).toBe(false);
});

test('a newer version of the file trusts nothing here and is not changed', async () => {
  await using project = await createTempProject();
  await mkdir(project.ouroHome);
  const file = join(project.ouroHome, 'trust.json');
  await writeFile(file, '{"v":2}');
  const environment = surroundings(project);
  expect(await trustFolder(project.dir, 'folder', environment)).toMatchObject({ ok: false });
  expect(await trustRevoke(project.dir, environment)).toMatchObject({ ok: false });
  expect((await trustList(environment))[0]).toContain('written by a newer version');
  expect(await readFile(file, 'utf8')).toBe('{"v":2}');
});

test('what a command of the project may run unasked is approved like everything else', async () => {
  const head = (rule: string) => `---\nallowed-tools: ${rule}\n---\n!\`make\``;
  await using project = await createTempProject({ '.claude/commands/go.md': head('Bash(make:*)') });
  const environment = surroundings(project);
  const allowed = async () => {
    const trust = await folderTrust(project.dir, environment, undefined);
    const projectFolders = trust.trusted ? [project.dir] : [];
    const extensions = await loadExtensions({ projectFolders, agentsFlag: undefined, admits });
    const { commands, problems } = await trust.onlyApproved(extensions);
    return [commands.flatMap(({ allowedTools }) => allowedTools), problems.length];
  };
  expect((await trustShow(project.dir, environment)).join()).toContain('/go may run Bash(make:*) unasked');
  await trustFolder(project.dir, 'folder', environment);
  expect(await allowed()).toEqual([['Bash(make:*)'], 0]);
  await project.write('.claude/commands/go.md', head('Bash'));
  expect(await allowed()).toEqual([[], 1]);
  await trustFolder(project.dir, 'folder', environment);
  expect(await allowed()).toEqual([['Bash'], 0]);
});

test('started in a sub-folder, what the repository grants counts once it was shown, there or at its top', async () => {
  await using project = await createTempProject({
    [SETTINGS]: settings({ permissions: { allow: ['Bash(make:*)'], deny: ['Read(/secret/**)'] }, effort: 'low' }),
    '.claude/skills/top/SKILL.md': '---\ndescription: At the top\n---\nTop.',
    'pkg/.claude/skills/near/SKILL.md': '---\ndescription: Near\n---\nNear.',
  });
  await project.initGit();
  const environment = surroundings(project);
  const pkg = join(project.dir, 'pkg');
  const read = async () => {
    const trust = await folderTrust(pkg, environment, undefined);
    const loaded = await readSettings({ cwd: pkg }, environment, trust.trusted, trust.approves);
    const { permissions, effort } = loaded.merged;
    return { trusted: trust.trusted, allow: permissions?.allow, deny: permissions?.deny, effort };
  };
  expect(await read()).toEqual({ trusted: false, allow: undefined, deny: ['Read(/secret/**)'], effort: undefined });
  await trustFolder(project.dir, 'below', environment);
  expect(await read()).toMatchObject({ trusted: true, allow: ['Bash(make:*)'], effort: 'low' });
  await trustRevoke(project.dir, environment);
  await trustFolder(join(project.dir, 'pkg'), 'folder', { ...environment });
  expect(await read()).toMatchObject({ trusted: true, allow: ['Bash(make:*)'] });
  await project.write(SETTINGS, settings({ permissions: { allow: ['Bash'] } }));
  expect(await read()).toMatchObject({ trusted: true, allow: undefined });
  expect((await trustShow(pkg, environment)).join()).toContain('allows Bash');
});
