import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { readSettings } from '../../../src/app/read-settings.ts';
import { loadFolderTrust } from '../../../src/app/trust/folder-trust.ts';
import {
  listTrustEffects,
  listTrustedFolders,
  revokeTrust,
  trustFolder,
} from '../../../src/app/trust/manage-folder-trust.ts';
import { loadExtensions } from '../../../src/extensions/load-extensions.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const checkFile = (realPath: string) => ({ ok: true, realPath }) as const;
const NOWHERE: Parameters<typeof loadExtensions>[0] = { projectFolders: [], agentsFlag: undefined, checkFile };
const SETTINGS = '.claude/settings.json';
const settings = (value: object) => JSON.stringify(value, null, 1);
const surroundings = (project: TempProject) => readEnvironment(bareEnvironment(project));

/** What counts of the project's settings in a new run. */
async function counts(project: TempProject, dir = project.dir) {
  const environment = surroundings(project);
  const trust = await loadFolderTrust(dir, environment, undefined);
  const { merged, problems } = await readSettings({ cwd: dir }, environment, trust.isTrusted, trust.isApproved);
  return { merged, problems: problems.map(({ text }) => text), trust };
}

test('before trust a folder may only deny; afterwards everything in it applies', async () => {
  await using project = await createTempProject({
    [SETTINGS]: settings({ permissions: { allow: ['Bash'], deny: ['Read(x)'] }, env: { APP_A: '1' } }),
  });
  expect((await counts(project)).merged).toEqual({ permissions: { deny: ['Read(x)'] } });
  await trustFolder(project.dir, 'folder', surroundings(project));
  expect((await counts(project)).merged).toEqual({
    permissions: { allow: ['Bash'], deny: ['Read(x)'] },
    env: { APP_A: '1' },
  });
});

test('content that changed after its approval does not apply until it is approved again', async () => {
  await using project = await createTempProject({ [SETTINGS]: settings({ hooks: {}, theme: 'dark' }) });
  const environment = surroundings(project);
  await trustFolder(project.dir, 'folder', environment);
  await project.write(SETTINGS, settings({ theme: 'light', permissions: { deny: ['Bash(rm:*)'] } }));
  expect((await counts(project)).problems).toEqual([]);
  await project.write(SETTINGS, settings({ theme: 'light', permissions: { allow: ['Bash'], deny: ['Bash(rm:*)'] } }));
  const changed = await counts(project);
  expect(changed.merged).toEqual({ theme: 'light', permissions: { deny: ['Bash(rm:*)'] } });
  expect(changed.problems.join()).toContain('ignored: permissions.allow');
  await trustFolder(project.dir, 'folder', environment);
  expect((await counts(project)).problems).toEqual([]);
});

longTest('key order and white space are no change, a different command is', async () => {
  await using project = await createTempProject({
    [SETTINGS]: '{"env":{"APP_A":"1","APP_B":"2"},"statusLine":{"command":"x"}}',
  });
  await trustFolder(project.dir, 'folder', surroundings(project));
  await project.write(SETTINGS, '{ "statusLine": { "command": "x" }, "env": { "APP_B": "2", "APP_A": "1" } }');
  expect((await counts(project)).problems).toEqual([]);
  await project.write(SETTINGS, '{ "statusLine": { "command": "y" }, "env": { "APP_B": "2", "APP_A": "1" } }');
  expect((await counts(project)).problems.join()).toContain('ignored: env, statusLine');
});

test('an answer stored in an approved file stays approved, and approves nothing in a changed one', async () => {
  await using project = await createTempProject();
  await trustFolder(project.dir, 'folder', surroundings(project));
  const { trust } = await counts(project);
  const local = '.claude/settings.local.json';
  await project.write(local, settings({ permissions: { allow: ['Bash(make)'] } }));
  await trust.renewApproval();
  expect((await counts(project)).problems).toEqual([]);
  await project.write(local, settings({ permissions: { allow: ['Bash'] } }));
  const later = await counts(project);
  await later.trust.renewApproval();
  expect((await counts(project)).problems.join()).toContain('permissions.allow');
});

test('a folder below a trusted one is accepted once; later changes are asked about', async () => {
  await using project = await createTempProject({
    [`sub/${SETTINGS}`]: settings({ permissions: { allow: ['Bash'] } }),
  });
  const sub = join(project.dir, 'sub');
  expect((await counts(project, sub)).trust.isTrusted).toBe(false);
  await trustFolder(project.dir, 'folder', surroundings(project));
  expect((await counts(project, sub)).trust.isTrusted).toBe(false);
  await trustFolder(project.dir, 'below', surroundings(project));
  expect((await counts(project, sub)).merged).toEqual({ permissions: { allow: ['Bash'] } });
  const readMet = async () => JSON.parse(await readFile(join(project.ouroHome, 'trust.json'), 'utf8')).met?.[sub];
  await expect.poll(readMet).toHaveProperty('project');
  await project.write(`sub/${SETTINGS}`, settings({ permissions: { allow: ['Bash', 'WebFetch'] } }));
  expect((await counts(project, sub)).problems.join()).toContain('permissions.allow');
});

test('repository content does not affect trust: a commondir that points to a trusted one changes nothing', async () => {
  await using project = await createTempProject({ 'evil/.git/commondir': '../../.git\n' });
  await trustFolder(project.dir, 'folder', surroundings(project));
  expect((await counts(project, join(project.dir, 'evil'))).trust.isTrusted).toBe(false);
});

test('home, its parents and the root cannot be trusted', async () => {
  await using project = await createTempProject();
  const environment = surroundings(project);
  for (const dir of ['/', project.home, dirname(project.home)]) {
    expect(await trustFolder(dir, 'below', environment)).toMatchObject({ ok: false });
  }
  expect(await listTrustedFolders(environment)).toEqual(['No folder is trusted.']);
});

test('every effect of a folder is shown before it is trusted', async () => {
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
    '.claude/CLAUDE.md': 'Be brief.',
    '.claude/commands/go.md': 'go',
  });
  const environment = surroundings(project);
  const shown = (await listTrustEffects(project.dir, environment)).map((line) =>
    line.replaceAll(project.dir, '.').trim(),
  );
  expect(shown).toEqual([
    '. is not trusted. Effects of trusting it:',
    'hook         on Stop: evil \u001b[31m  (./.claude/settings.json:6)',
    'server       db: npx db  (./.claude/settings.json:15)',
    'command      status line: ./line  (./.claude/settings.json:34)',
    'variable     PATH=.  (./.claude/settings.json:32)',
    'rule         allows Bash(make:*)  (./.claude/settings.json:24)',
    'folder       adds .. to the workspace  (./.claude/settings.json:27)',
    'mode         starts in mode acceptEdits  (./.claude/settings.json:29)',
    'server       web: https://example.com/mcp; login: {"identityProvider":{"idTokenCommand":"evil"}} (asks again before it starts)  (./.mcp.json)',
    'instructions CLAUDE.md (8 B) is sent to the model  (./CLAUDE.md)',
    'instructions .claude/CLAUDE.md (9 B) is sent to the model  (./.claude/CLAUDE.md)',
    'instructions commands: go.md  (./.claude/commands)',
  ]);
  expect(await listTrustedFolders(environment)).toEqual(['No folder is trusted.']);
});

test('trust is stored with mode 0600, revoked by name, and a damaged file trusts nothing', async () => {
  await using project = await createTempProject();
  const environment = surroundings(project);
  const file = join(project.ouroHome, 'trust.json');
  await trustFolder(project.dir, 'folder', environment);
  expect([(await stat(file)).mode & 0o777, (await stat(project.ouroHome)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await revokeTrust(project.dir, environment)).toMatchObject({ ok: true });
  expect(await revokeTrust(project.dir, environment)).toMatchObject({ ok: false });
  await trustFolder(project.dir, 'folder', environment);
  await writeFile(file, '{"v":1,');
  expect((await counts(project)).trust.isTrusted).toBe(false);
});

test('a damaged entry is reported and asked about again, every other folder stays trusted', async () => {
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
  expect(trust.isTrusted).toBe(false);
  const problems = (await trust.filterApproved(await loadExtensions(NOWHERE))).problems;
  expect(problems.map(({ text }) => text)).toEqual([
    `${file} is damaged, so these entries are ignored: folders ${project.dir}.`,
  ]);
  const { lines } = await trustFolder(project.dir, 'folder', environment);
  expect(lines[0]).toContain('The original file was moved to');
  expect((await listTrustedFolders(environment)).map((line) => line.split('  since')[0])).toEqual([
    '/good',
    project.dir,
  ]);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ later: 1 });
});

test('an unreadable entry below a trusted folder is asked about, not accepted again', async () => {
  await using project = await createTempProject({ [SETTINGS]: settings({ permissions: { allow: ['Bash'] } }) });
  const folders = { [dirname(project.dir)]: { at: '2026-01-01', reach: 'below' } };
  await mkdir(project.ouroHome);
  const store = (met: unknown) =>
    writeFile(join(project.ouroHome, 'trust.json'), JSON.stringify({ v: 1, folders, met }));
  await store({ [project.dir]: { project: 7 } });
  expect((await counts(project)).problems.join()).toContain('ignored: permissions.allow');
  await store([]);
  expect((await counts(project)).trust.isTrusted).toBe(false);
});

longTest('a file of a newer version trusts nothing and is not changed', async () => {
  await using project = await createTempProject();
  await mkdir(project.ouroHome);
  const file = join(project.ouroHome, 'trust.json');
  await writeFile(file, '{"v":2}');
  const environment = surroundings(project);
  expect(await trustFolder(project.dir, 'folder', environment)).toMatchObject({ ok: false });
  expect(await revokeTrust(project.dir, environment)).toMatchObject({ ok: false });
  expect((await listTrustedFolders(environment))[0]).toContain('written by a newer version');
  expect(await readFile(file, 'utf8')).toBe('{"v":2}');
});

test('commands that project files may run unasked are approved like everything else', async () => {
  const head = (rule: string) => `---\nallowed-tools: ${rule}\n---\n!\`make\``;
  await using project = await createTempProject({ '.claude/commands/go.md': head('Bash(make:*)') });
  const environment = surroundings(project);
  const allowed = async () => {
    const trust = await loadFolderTrust(project.dir, environment, undefined);
    const projectFolders = trust.isTrusted ? [project.dir] : [];
    const extensions = await loadExtensions({ projectFolders, agentsFlag: undefined, checkFile });
    const { commands, problems } = await trust.filterApproved(extensions);
    return [commands.flatMap(({ allowedTools }) => allowedTools), problems.length];
  };
  expect((await listTrustEffects(project.dir, environment)).join()).toContain(
    '/go may run Bash(make:*) without asking',
  );
  await trustFolder(project.dir, 'folder', environment);
  expect(await allowed()).toEqual([['Bash(make:*)'], 0]);
  await project.write('.claude/commands/go.md', head('Bash'));
  expect(await allowed()).toEqual([[], 1]);
  await trustFolder(project.dir, 'folder', environment);
  expect(await allowed()).toEqual([['Bash'], 0]);
});

test('in a sub-folder, grants of the repository apply once they were shown, there or at its root', async () => {
  await using project = await createTempProject({
    [SETTINGS]: settings({ permissions: { allow: ['Bash(make:*)'], deny: ['Read(/secret/**)'] }, effort: 'low' }),
    '.claude/skills/top/SKILL.md': '---\ndescription: At the top\n---\nTop.',
    'pkg/.claude/skills/near/SKILL.md': '---\ndescription: Near\n---\nNear.',
  });
  await project.initGit();
  const environment = surroundings(project);
  const pkg = join(project.dir, 'pkg');
  const read = async () => {
    const trust = await loadFolderTrust(pkg, environment, undefined);
    const loaded = await readSettings({ cwd: pkg }, environment, trust.isTrusted, trust.isApproved);
    const { permissions, effort } = loaded.merged;
    return { trusted: trust.isTrusted, allow: permissions?.allow, deny: permissions?.deny, effort };
  };
  expect(await read()).toEqual({ trusted: false, allow: undefined, deny: ['Read(/secret/**)'], effort: undefined });
  await trustFolder(project.dir, 'below', environment);
  expect(await read()).toMatchObject({ trusted: true, allow: ['Bash(make:*)'], effort: 'low' });
  await revokeTrust(project.dir, environment);
  await trustFolder(join(project.dir, 'pkg'), 'folder', { ...environment });
  expect(await read()).toMatchObject({ trusted: true, allow: ['Bash(make:*)'] });
  await project.write(SETTINGS, settings({ permissions: { allow: ['Bash'] } }));
  expect(await read()).toMatchObject({ trusted: true, allow: undefined });
  expect((await listTrustEffects(pkg, environment)).join()).toContain('allows Bash');
});
