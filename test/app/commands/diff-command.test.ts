import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PanelContent } from '../../../src/contracts/frontend/command.ts';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { type Composed, composed } from '../../support/composed.ts';
import { createTempProject } from '../../support/temp-project.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\r\n`);
const BEFORE = numbered(60).join('');
const AFTER = numbered(60).with(4, 'five\r\n').with(40, 'forty-one\r\n').join('');

async function panel(made: Composed): Promise<PanelContent> {
  const outcome = await made.conversation.runCommand('diff');
  if (outcome.kind !== 'panel') throw new Error(JSON.stringify(outcome));
  return outcome.panel;
}

async function review(made: Composed, line: string) {
  const outcome = await made.conversation.runCommand(line);
  return outcome.kind === 'review' ? outcome.review : undefined;
}

test('/diff shows what each prompt changed and undoes parts of it while keeping later changes by others', async () => {
  await using project = await createTempProject({ 'a.txt': BEFORE });
  await using server = await startApiServer({
    turns: [
      calls(
        toolUse('Read', { file_path: 'a.txt' }, 'c1'),
        toolUse('Write', { file_path: 'new.txt', content: 'fresh\n' }, 'c2'),
      ),
      calls(toolUse('Write', { file_path: 'a.txt', content: AFTER }, 'c3')),
      says('Done.'),
      says('And now?'),
    ],
  });
  const made = await composed(project, server.url, { allowedTools: ['Write'] });
  const file = join(project.dir, 'a.txt');
  try {
    expect(await panel(made)).toMatchObject({ rows: [], empty: 'No files changed in this session.' });
    await made.conversation.agent.prompt('count in words');
    await made.conversation.agent.waitForIdle();
    expect(await readFile(file, 'utf8')).toBe(AFTER);
    const rows = (await panel(made)).rows;
    expect(rows.map(({ group, cells }) => [group?.slice(7), ...cells])).toEqual([
      ['count in words', 'new.txt', '+1 −0', 'new'],
      ['count in words', 'a.txt', '+2 −2', ''],
    ]);
    const line = rows.find(({ cells }) => cells[0] === 'a.txt')?.actions[0]?.command ?? '';
    const shown = await review(made, line);
    expect(shown?.hunks.map(({ newStart }) => newStart)).toEqual([2, 38]);

    // Somebody else writes into the same file meanwhile.
    await writeFile(file, AFTER.replace('line 20\r\n', 'twenty, by me\r\n'));
    expect(await made.command(`${shown?.revertCommand} 2`)).toBe('Reverted in a.txt. /undo restores it.');
    const left = numbered(60).with(4, 'five\r\n').with(19, 'twenty, by me\r\n').join('');
    expect(await readFile(file, 'utf8')).toBe(left);
    expect((await review(made, line))?.hunks.map(({ newStart }) => newStart)).toEqual([2]);

    // Where the lines were changed again nothing is guessed.
    await writeFile(file, left.replace('five\r\n', '5\r\n'));
    expect(await made.command(`${shown?.revertCommand} 1`)).toContain('have changed since');
    await writeFile(file, left);
    expect(await made.command(`${shown?.revertCommand} 7`)).toBe('There is no such hunk.');
    expect(await made.command('diff 9 9')).toContain('There is no such change.');

    expect((await panel(made)).rows[0]?.group).toContain('a hunk of a.txt was reverted');
    await made.command('undo');
    expect(await readFile(file, 'utf8')).toBe(AFTER.replace('line 20\r\n', 'twenty, by me\r\n'));

    // Nothing is left of a file that was made: it goes, and comes back.
    const fresh = (await panel(made)).rows.find(({ cells }) => cells[0] === 'new.txt');
    expect(await made.command(`${fresh?.actions[0]?.command.replace('diff', 'diff back')} 1`)).toContain(
      'Reverted in new.txt',
    );
    await expect(readFile(join(project.dir, 'new.txt'))).rejects.toThrow(/ENOENT/);
    expect((await panel(made)).rows[0]?.cells).toEqual(['new.txt', '+0 −1', 'deleted']);
    const gone = (await panel(made)).rows[0]?.actions[0]?.command ?? '';
    expect(await made.command(`${gone.replace('diff', 'diff back')} 1`)).toContain('Reverted in new.txt');
    expect(await readFile(join(project.dir, 'new.txt'), 'utf8')).toBe('fresh\n');

    await made.conversation.agent.prompt('go on');
    await made.conversation.agent.waitForIdle();
    expect(server.requests().at(-1)?.raw).toMatch(/took this part of them back[^"]*-line 41[^"]*\+forty-one/);
  } finally {
    await made.close();
  }
});
