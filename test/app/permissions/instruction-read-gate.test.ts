import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createConversation } from '../../../src/app/compose.ts';
import { readEnvironment } from '../../../src/app/environment.ts';
import { openCore } from '../../../src/app/open-core.ts';
import { trustFolder } from '../../../src/app/trust/manage-folder-trust.ts';
import { buildTrustQuestion } from '../../../src/app/trust/trust-question.ts';
import type { CliRunOptions } from '../../../src/contracts/frontend/cli-run-options.ts';
import { escapeImport } from '../../../src/prompt/memory/parse-memory.ts';
import { registerRun } from '../../../src/session/run-cleanup-log.ts';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { type Script, startApiServer } from '../../support/api/server.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { longTest } from '../../support/long-test.ts';
import { runOptions } from '../../support/run-options.ts';
import { isWholeRun, someOf } from '../../support/runs.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;

beforeEach(async () => {
  project = await createTempProject({ 'pkg/a.ts': 'a' });
  await put(join(project.ouroHome, 'settings.json'), JSON.stringify({ permissions: { deny: DENIED } }));
});
afterEach(() => project.remove());

const DENIED = ['Read(~/.ssh/**)', 'Read(**/private/**)', 'Read(~/Ärger/**)'];

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Where something lies, and what may become of it: sent, once accepted with the folder, or never. */
const KINDS = [
  { kind: 'fine', fate: 'sent', at: (n: number) => join(project.dir, `docs/fine-${n}.md`) },
  { kind: 'ünï', fate: 'sent', at: (n: number) => join(project.dir, `docs/ünï-${n}.md`) },
  { kind: 'blank', fate: 'sent', at: (n: number) => join(project.dir, `docs/my notes/${n} (new).md`) },
  { kind: 'denied blank', fate: 'never', at: (n: number) => join(project.dir, `docs/private/my notes ${n}.md`) },
  { kind: 'sibling', fate: 'accepted', at: (n: number) => `${project.dir}-sibling/${n}.md` },
  { kind: 'home', fate: 'accepted', at: (n: number) => join(project.home, `notes/${n}.md`) },
  { kind: 'ssh', fate: 'never', at: (n: number) => join(project.home, `.ssh/${n}.md`) },
  { kind: 'id', fate: 'never', at: (n: number) => join(project.home, `keys-${n}/id_rsa`) },
  { kind: 'pem', fate: 'never', at: (n: number) => join(project.dir, `docs/cert-${n}.PEM`) },
  { kind: 'env', fate: 'never', at: (n: number) => join(project.dir, `sub-${n}/.env.local`) },
  { kind: 'denied', fate: 'never', at: (n: number) => join(project.dir, `docs/private/${n}.md`) },
  { kind: 'umlaut', fate: 'never', at: (n: number) => join(project.home, `Ärger/${n}.md`) },
  { kind: 'decomposed', fate: 'never', at: (n: number) => join(project.home, `A\u0308rger/other-${n}.md`) },
  { kind: 'globs', fate: 'never', at: (n: number) => join(project.dir, `docs/private/[a]*-{b,c}-${n}.md`) },
  { kind: 'brackets', fate: 'sent', at: (n: number) => join(project.dir, `docs/[a]*-{b,c}-${n}.md`) },
  { kind: 'ours', fate: 'never', at: (n: number) => join(project.ouroHome, `auth/${n}.json`) },
] as const;

/** An import, in one of the ways to write a path with blanks. */
function writeImport(path: string): string {
  if (!/[ ()]/.test(path)) return `@${path}`;
  return /[()]|[02468]/.test(path) ? `@"${path}"` : escapeImport(`@${path}`);
}

/** The ways to write down where a file lies; each is given a place for links and files of its own. */
const SPELLINGS: readonly ((target: string, own: string) => Promise<string> | string)[] = [
  (target) => target,
  (target) => relative(project.dir, target).replace(/^(?!\.)/, './'),
  (target) => `pkg/.//../${relative(project.dir, target)}`,
  (target) => `~/${relative(project.home, target)}`,
  (target) => `/proc/self/root${target}`,
  async (target, own) => {
    await symlink(target, join(project.dir, `${own}.md`));
    return `${own}.md`;
  },
  async (target, own) => {
    await symlink(relative(project.dir, target), join(project.dir, `${own}-2.md`));
    await symlink(`${own}-2.md`, join(project.dir, `${own}-1.md`));
    return `./${own}-1.md`;
  },
  async (target, own) => {
    await symlink(dirname(target), join(project.dir, own));
    return `./${own}/${target.slice(dirname(target).length + 1)}`;
  },
  async (target, own) => {
    await put(join(project.dir, `${own}/chain.md`), `@deeper/chain.md`);
    const chain = join(project.dir, `${own}/deeper/chain.md`);
    await put(chain, writeImport(relative(dirname(chain), target)));
    return `./${own}/chain.md`;
  },
];

const IMPORTERS = ['CLAUDE.md', 'AGENTS.md', '.claude/CLAUDE.md', 'CLAUDE.local.md', '.claude/rules/a.md'];

type Fate = (typeof KINDS)[number]['fate'];
type Case = { readonly marker: string; readonly fate: Fate; readonly importedAs: string };

/** Every kind of file in every spelling, a file of its own each; or a share of the pairs, as long as somebody waits. */
async function everyImport(share?: number): Promise<readonly Case[]> {
  const cases: Case[] = [];
  for (const [row, { kind, fate, at }] of KINDS.entries()) {
    for (const [index, spell] of SPELLINGS.entries()) {
      if (!isWholeRun && share !== undefined && (row + index) % IMPORTERS.length !== share) continue;
      const target = at(index);
      const marker = `marker-${kind}-${index}-end`;
      await put(target, marker);
      cases.push({ marker, fate, importedAs: await spell(target, `way-${kind}-${index}`.replaceAll(' ', '_')) });
    }
  }
  return cases;
}

/** What the model is sent by a folder that is trusted or not. */
async function sent(options: Partial<CliRunOptions> = {}, turns: Script['turns'] = [says('fine')]) {
  await using api = await startApiServer({ turns });
  const made = await createConversation(
    runOptions({ cwd: project.dir, ...options }),
    readEnvironment({ ...bareEnvironment(project, api.url), IS_SANDBOX: '1' }),
  );
  if (!made.ok) throw new Error(made.problem);
  const { conversation } = made;
  const notices: string[] = [];
  conversation.agent.subscribe((event) => void (event.type === 'notice' && notices.push(event.text)));
  await conversation.agent.prompt('Hello');
  await conversation.agent.prompt('Again');
  const shown = await conversation.runCommand('memory');
  await conversation.close('other');
  const raw = api.requests().map((request) => request.raw);
  return { first: raw[0] ?? '', all: raw.join('\n'), notices, memory: JSON.stringify(shown) };
}

const environment = () => readEnvironment(bareEnvironment(project));
const markersIn = (text: string, cases: readonly Case[]) =>
  cases.filter(({ marker }) => text.includes(marker)).map(({ marker }) => marker);
const markersOf = (cases: readonly Case[], ...fates: readonly Fate[]) =>
  cases.filter(({ fate }) => fates.includes(fate)).map(({ marker }) => marker);
/** One import a line, as they are written in a file of this folder. */
function imports(cases: readonly Case[], folder = '.'): string {
  const up = relative(join(project.dir, folder), project.dir);
  return cases
    .map(({ importedAs }) => writeImport(/^[~/]/.test(importedAs) ? importedAs : join(up, importedAs)))
    .join('\n');
}
const twoReplies = () => says('fine');

test.each(
  someOf(
    IMPORTERS.map((name, share) => [name, share] as const),
    2,
  ),
)(
  'whatever %s imports, and however: a file that Read could not read without asking is not sent',
  async (name, share) => {
    await trustFolder(project.dir, 'folder', environment());
    const cases = await everyImport(share);
    await project.write(name, imports(cases, dirname(name)));
    const { first, memory, notices } = await sent({}, twoReplies);
    expect(markersIn(first, cases)).toEqual(markersOf(cases, 'sent'));
    expect(first).toContain('This file is left out: ');
    expect(memory).toContain('excluded: ');
    const key = notices.filter((text) => text.includes('.ssh/'));
    expect(key).not.toEqual([]);
    expect(key.join()).not.toContain('Accept it');
  },
);

test('no mode loosens the rule; accepted imports are sent, but never secrets or denied files', async () => {
  const cases = await everyImport(IMPORTERS.length - 1);
  await project.write('CLAUDE.md', imports(cases));
  const untrusted = await sent({}, twoReplies);
  expect(markersIn(untrusted.all, cases)).toEqual([]);
  expect(untrusted.all).not.toContain('way-');
  await trustFolder(project.dir, 'folder', environment());
  const accepted = await sent({}, twoReplies);
  expect(markersIn(accepted.all, cases)).toEqual(markersOf(cases, 'sent', 'accepted'));
  const bypassing = await sent({ permissionMode: 'bypassPermissions', skipPermissions: 'now' }, twoReplies);
  expect(markersIn(bypassing.all, cases)).toEqual(markersOf(cases, 'sent', 'accepted'));
  const forOnce = await sent({ trust: 'this-run' }, twoReplies);
  expect(markersIn(forOnce.all, cases)).toEqual(markersOf(cases, 'sent', 'accepted'));
});

test('an import that changed after the folder was trusted is asked about again, accepted ones stay', async () => {
  await put(join(project.home, 'one.md'), 'first words');
  await put(join(project.home, 'two.md'), 'second words');
  await project.write('CLAUDE.md', '@~/one.md');
  expect(await buildTrustQuestion(project.dir, environment())).toMatchObject({
    question: {
      state: 'new',
      effects: [
        { text: 'CLAUDE.md (9 B) is sent to the model' },
        { text: `${join(project.home, 'one.md')}, outside of this folder, is sent to the model` },
      ],
    },
  });
  await trustFolder(project.dir, 'folder', environment());
  expect(await buildTrustQuestion(project.dir, environment())).toBeUndefined();
  await project.write('CLAUDE.md', '@~/one.md @~/two.md');
  const before = await sent({}, twoReplies);
  expect([before.first.includes('first words'), before.first.includes('second words')]).toEqual([true, false]);
  expect(before.notices.join('\n')).toContain('outside the workspace. Accept it with "ouro trust"');
  expect(await buildTrustQuestion(project.dir, environment())).toMatchObject({ question: { state: 'changed' } });
  await trustFolder(project.dir, 'folder', environment());
  expect((await sent({}, twoReplies)).first).toContain('second words');
  await project.write('CLAUDE.md', 'Nothing.');
  expect(await buildTrustQuestion(project.dir, environment())).toBeUndefined();
});

test('imports by instructions in sub-folders are part of the question and of the answer', async () => {
  await put(join(project.home, 'one.md'), 'first words');
  await put(join(project.home, 'two.md'), 'second words');
  await project.write('pkg/deep/CLAUDE.md', '@~/one.md');
  await project.write('pkg/deep/code.ts', 'x');
  const shown = async () =>
    (await buildTrustQuestion(project.dir, environment()))?.question.effects.map(
      ({ text, file }) => `${text} (${file})`,
    );
  const listed = (name: string) =>
    `${join(project.home, name)}, outside of this folder, is sent to the model (${join(project.dir, 'pkg/deep/CLAUDE.md')})`;
  expect(await shown()).toEqual([listed('one.md')]);
  await trustFolder(project.dir, 'folder', environment());
  expect(await shown()).toBeUndefined();
  const reading = [calls(toolUse('Read', { file_path: 'pkg/deep/code.ts' })), says('done')];
  expect((await sent({}, reading)).all).toContain('first words');
  await project.write('pkg/deep/CLAUDE.md', '@~/one.md @~/two.md');
  const met = await sent({}, reading);
  expect([met.all.includes('first words'), met.all.includes('second words')]).toEqual([true, false]);
  expect(met.notices.join('\n')).toContain('Accept it with "ouro trust"');
  expect(await shown()).toEqual([listed('one.md'), listed('two.md')]);
  expect(await buildTrustQuestion(project.dir, environment(), 'start')).toBeUndefined();
});

longTest('linked instruction files and imports in sub-folders follow the same rules', async () => {
  await put(join(project.home, '.ssh/config.md'), 'marker of the key');
  await put(join(project.home, 'notes.md'), 'marker of the notes');
  await trustFolder(project.dir, 'folder', environment());
  await symlink(join(project.home, '.ssh/config.md'), join(project.dir, 'CLAUDE.local.md'));
  await symlink(join(project.home, 'notes.md'), join(project.dir, 'AGENTS.md'));
  await mkdir(join(project.dir, '.claude'));
  await symlink(join(project.home, '.ssh'), join(project.dir, '.claude/rules'));
  await project.write('pkg/.env', 'marker of the variables');
  await project.write('pkg/CLAUDE.md', 'words of pkg @.env @~/notes.md @../AGENTS.md');
  const read = calls(toolUse('Read', { file_path: join(project.dir, 'pkg/a.ts') }));
  const { all } = await sent({}, (_, index) => (index === 0 ? read : says('fine')));
  expect(all).toContain('words of pkg');
  expect(all).not.toContain('marker of');
});

longTest('a note added with # in an untrusted folder is pinned, and reported as read later', async () => {
  await using api = await startApiServer({ turns: twoReplies });
  const made = await createConversation(
    runOptions({ cwd: project.dir }),
    readEnvironment(bareEnvironment(project, api.url)),
  );
  if (!made.ok) throw new Error(made.problem);
  await project.write('CLAUDE.md', 'marker of theirs');
  expect(await made.conversation.runCommand('memory My own words.')).toMatchObject({
    message: expect.stringContaining('once this folder is trusted'),
  });
  await made.conversation.agent.prompt('Hello');
  await made.conversation.agent.prompt('Again');
  await made.conversation.close('other');
  const raw = api.requests().map((request) => request.raw);
  expect([raw.join().includes('My own words.'), raw.join().includes('marker of theirs')]).toEqual([true, false]);
});

test.each(someOf(['there', 'not there']))(
  'a note added with # is not written through a link that leaves the project, %s',
  async (state) => {
    await using api = await startApiServer({ turns: twoReplies });
    const target = join(project.home, '.bashrc');
    if (state === 'there') await put(target, 'true\n');
    await symlink(target, join(project.dir, 'CLAUDE.local.md'));
    const made = await createConversation(
      runOptions({ cwd: project.dir, trust: 'this-run' }),
      readEnvironment(bareEnvironment(project, api.url)),
    );
    if (!made.ok) throw new Error(made.problem);
    expect(await made.conversation.runCommand('memory local: touch pwned')).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('nothing was written'),
    });
    await made.conversation.close('other');
    expect(await readFile(target, 'utf8').catch(() => 'not there')).toBe(state === 'there' ? 'true\n' : 'not there');
  },
);

test('the user’s own file may import from anywhere, also in an untrusted folder', async () => {
  await put(join(project.home, 'notes.md'), 'words of mine');
  await put(join(project.home, '.ssh/config.md'), 'marker of the key');
  await put(join(project.ouroHome, 'CLAUDE.md'), '@~/notes.md @~/.ssh/config.md');
  const { all } = await sent({}, twoReplies);
  expect(all).toContain('words of mine');
  expect(all).not.toContain('marker of the key');
});

longTest('linked commands, skills, sub-agents and styles follow the same rules', async () => {
  const head = (marker: string) => `---\nname: ${marker}\ndescription: ${marker}\n---\nbody of ${marker}`;
  const cases: Case[] = [];
  for (const { kind, fate, at } of KINDS) {
    for (const [index, place] of [
      'commands/@.md',
      'agents/@.md',
      'output-styles/@.md',
      'skills/@/SKILL.md',
    ].entries()) {
      const marker = `marker-${kind}-${index}-end`;
      await put(at(index), head(marker));
      const link = join(project.dir, '.claude', place.replace('@', `${kind}-${index}`));
      await mkdir(dirname(link), { recursive: true });
      await symlink(at(index), link);
      cases.push({ marker, fate, importedAs: link });
    }
  }
  await trustFolder(project.dir, 'folder', environment());
  const accepted = await loaded();
  expect(markersIn(accepted, cases)).toEqual(markersOf(cases, 'sent', 'accepted'));
  expect(accepted).toContain('is ignored: ');
  await put(join(project.home, 'later.md'), head('marker-later'));
  await symlink(join(project.home, 'later.md'), join(project.dir, '.claude/commands/later.md'));
  expect(await loaded()).not.toContain('marker-later');
  expect(await buildTrustQuestion(project.dir, environment())).toMatchObject({ question: { state: 'changed' } });
});

/** Everything the extensions of the folder bring, as it is read at a start. */
async function loaded(): Promise<string> {
  const options = runOptions({ cwd: project.dir, model: 'demo', demoProject: { folder: undefined } });
  const core = await openCore(options, registerRun(environment()));
  if (!core.ok) throw new Error(core.problem);
  return JSON.stringify(core.core.extensions.current());
}
