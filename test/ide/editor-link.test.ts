import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createEditorLink, type EditorLinkEvent } from '../../src/ide/editor-link.ts';
import { createFindEditorsOptions } from '../../src/ide/find-editors.ts';
import { startEditor } from '../support/editor-server.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** A link with the events it has emitted so far. */
function openLink(project: TempProject) {
  const events: EditorLinkEvent[] = [];
  const waiting = new Set<() => void>();
  const link = createEditorLink({
    search: createFindEditorsOptions({}, { home: project.home, cwd: project.dir }),
    version: '0',
    retryDelaysMs: Array.from({ length: 1_000 }, () => 5),
    onEvent(event) {
      events.push(event);
      for (const check of waiting) check();
    },
  });
  return {
    ...link,
    events,
    states: () => events.flatMap((event) => (event.type === 'state' ? [event.state.status] : [])),
    until: (isMet: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => isMet() && waiting.delete(check) && resolve();
        waiting.add(check);
        check();
      }),
    [Symbol.asyncDispose]: link.close,
  };
}

test('a link connects with the token, and knows the tools of the editor', async () => {
  await using project = await createTempProject();
  await using editor = await startEditor(project.home, { folders: [project.dir], tools: ['openFile'] });
  await using link = openLink(project);
  expect(await link.connectBest()).toEqual({ ok: true, name: 'Test Editor' });
  expect([link.hasTool('openFile'), link.hasTool('openDiff')]).toEqual([true, false]);
  const opened = await link.callTool('openFile', { filePath: '/a' }, new AbortController().signal);
  expect(opened).toEqual(['Opened file: /a']);
  expect([editor.initialized(), editor.refused()]).toEqual([1, 0]);
});

test('a wrong token is refused, and the next editor of the folder is taken', async () => {
  await using project = await createTempProject();
  await using right = await startEditor(project.home, { folders: ['/'], name: 'Right' });
  await using wrong = await startEditor(project.home, { folders: [project.dir], toldToken: 'guessed', name: 'Wrong' });
  await using link = openLink(project);
  expect(await link.connectBest()).toEqual({ ok: true, name: 'Right' });
  await right.stop();
  expect([wrong.refused(), wrong.initialized()]).toEqual([1, 0]);
});

test('an editor without a token is connected to, and gets no header', async () => {
  await using project = await createTempProject();
  await using editor = await startEditor(project.home, { folders: [`${project.dir}/`], hasToken: false });
  await using link = openLink(project);
  expect(await link.connectBest()).toEqual({ ok: true, name: 'Test Editor' });
  expect([editor.initialized(), editor.refused()]).toEqual([1, 0]);
});

test('an editor that has another folder open is connected to only when it is chosen', async () => {
  await using project = await createTempProject();
  await using _editor = await startEditor(project.home, { folders: ['/nowhere'] });
  await using link = openLink(project);
  expect(await link.connectBest()).toEqual({ ok: false, problem: 'no editor has this folder open' });
  const [found] = (await link.find()).editors;
  expect(found && (await link.connect(found))).toEqual({ ok: true, name: 'Test Editor' });
});

test('after a reload the link finds the editor at its new port, with its new token', async () => {
  await using project = await createTempProject();
  const first = await startEditor(project.home, { folders: [project.dir] });
  await using link = openLink(project);
  await link.connectBest();
  await first.stop();
  await link.until(() => link.states().at(-1) === 'lost');
  await using second = await startEditor(project.home, { folders: [project.dir] });
  await second.until(() => second.initialized() === 1);
  await link.until(() => link.states().at(-1) === 'connected');
  const state = link.getState();
  expect('editor' in state && state.editor.port).toBe(second.port);
});

test('after a reload the same window is found, although another window of the folder is newer', async () => {
  await using project = await createTempProject();
  const folders = [project.dir];
  const first = await startEditor(project.home, { folders });
  await using link = openLink(project);
  await link.connectBest();
  await using reloaded = await startEditor(project.home, { folders });
  await using other = await startEditor(project.home, { folders: [...folders, '/'] });
  await first.stop();
  await reloaded.until(() => reloaded.initialized() === 1);
  expect(other.initialized()).toBe(0);
});

test('another editor is not taken for the one that went away, and a disconnected link stays off', async () => {
  await using project = await createTempProject();
  const first = await startEditor(project.home, { folders: [project.dir], name: 'First' });
  await using other = await startEditor(project.home, { folders: ['/'], name: 'Other' });
  await using link = openLink(project);
  await link.connectBest();
  await first.stop();
  await link.until(() => link.states().at(-1) === 'lost');
  await link.disconnect();
  expect([link.getState().status, other.initialized()]).toEqual(['off', 0]);
});

test('a second editor that is chosen replaces the first, whose connection is closed', async () => {
  await using project = await createTempProject();
  await using first = await startEditor(project.home, { folders: [project.dir], name: 'First' });
  await using second = await startEditor(project.home, { folders: ['/'], name: 'Second' });
  await using link = openLink(project);
  await link.connectBest();
  const found = (await link.find()).editors.find(({ name }) => name === 'Second');
  expect(found && (await link.connect(found))).toEqual({ ok: true, name: 'Second' });
  await first.until(() => first.sockets() === 0);
  expect(second.sockets()).toBe(1);
});

test('the selection and mentions arrive, many selections in a row as one event; garbage is ignored', async () => {
  await using project = await createTempProject();
  await using editor = await startEditor(project.home, { folders: [project.dir] });
  await using link = openLink(project);
  await link.connectBest();
  editor.sendRaw('not json');
  editor.notify('selection_changed', { filePath: 'relative', text: 'x' });
  editor.notify('at_mentioned', { filePath: 7 });
  for (let line = 0; line < 500; line += 1)
    editor.notify('selection_changed', {
      text: 'abc',
      filePath: '/a.ts',
      selection: { start: { line, character: 0 }, end: { line: line + 2, character: 0 }, isEmpty: false },
    });
  editor.notify('at_mentioned', { filePath: '/a.ts', lineStart: 9, lineEnd: 19 });
  await link.until(() => link.events.some(({ type }) => type === 'mention'));
  await link.until(() => link.getFocus()?.selection?.firstLine === 500 && link.events.at(-1)?.type === 'focus');
  expect(link.getFocus()).toEqual({ path: '/a.ts', selection: { text: 'abc', firstLine: 500, lastLine: 501 } });
  expect(link.events.filter(({ type }) => type === 'mention')).toEqual([
    { type: 'mention', mention: { path: '/a.ts', lines: { first: 10, last: 20 } } },
  ]);
  expect(link.events.filter(({ type }) => type === 'focus').length).toBeLessThan(500);
});

test('a call that waits ends when the editor goes away', async () => {
  await using project = await createTempProject();
  const editor = await startEditor(project.home, { folders: [project.dir] });
  await using link = openLink(project);
  await link.connectBest();
  const diff = link.callTool('openDiff', { tab_name: 't' }, new AbortController().signal);
  const ended = expect(diff).rejects.toThrow();
  await editor.until(() => editor.openDiffs().length === 1);
  await rm(editor.lockFile);
  await editor.stop();
  await ended;
});
