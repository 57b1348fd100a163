import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { longTest } from '../support/long-test.ts';
import { processesNaming } from '../support/processes.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { type OpenOuro, openOuro } from '../support/terminal/open-ouro.ts';

const SCRIPT = `fs.writeFileSync('a.txt','two\\n');fs.writeFileSync('new.txt','n\\n');console.log('it ran')`;
const turns = [calls(toolUse('Bash', { command: `node -e "${SCRIPT}"` })), says('Understood.')];
const QUESTION = /Keep what this command changed\?[\s\S]*(?:↑↓|up down) enter/;

async function openWithTrials(size = {}) {
  const ouro = await openOuro(turns, {
    settings: { commandTrial: 'on', dialogDelayMs: 0 },
    args: ['--trust'],
    ...size,
  });
  await ouro.project.write('a.txt', 'one\n');
  ouro.terminal.type('go');
  await ouro.terminal.waitForText(/^[▌|] go/m);
  ouro.terminal.press('enter');
  await ouro.terminal.waitForText(QUESTION);
  return ouro;
}

const readWorkspace = async ({ project }: OpenOuro) => [
  (await readdir(project.dir)).filter((name) => !name.startsWith('.')).toSorted(),
  await readFile(join(project.dir, 'a.txt'), 'utf8'),
];
const UNCHANGED = [['a.txt'], 'one\n'];
const CHANGED = [['a.txt', 'new.txt'], 'two\n'];

/** Waits until no process of a trial of this project is left. */
async function expectNoLayers({ project }: OpenOuro) {
  await vi.waitFor(async () => {
    const left = await processesNaming(project.dir);
    expect(left.filter(({ command }) => command.includes('unshare'))).toEqual([]);
  });
}

describe.skipIf(NO_SANDBOX !== undefined)('the question about what a command changed', () => {
  for (const size of [
    { cols: 120, rows: 40 },
    { cols: 80, rows: 24 },
  ])
    longTest(
      `shows its diff and what it printed on ${size.cols} columns; yes keeps it, and undo takes it back`,
      async () => {
        await using ouro = await openWithTrials(size);
        const shown = ouro.terminal.screen().join('\n');
        for (const part of ['it ran', '- one', '+ two', 'new.txt', 'copy of the workspace'])
          expect(shown).toContain(part);
        expect(await readWorkspace(ouro)).toEqual(UNCHANGED);
        ouro.terminal.press('y');
        await ouro.terminal.waitForText(/Understood\./);
        expect(await readWorkspace(ouro)).toEqual(CHANGED);
        await expectNoLayers(ouro);
        ouro.terminal.type('/undo');
        await ouro.terminal.waitForText(/^[▌|] \/undo/m);
        ouro.terminal.press('enter');
        await vi.waitFor(async () => expect(await readWorkspace(ouro)).toEqual(UNCHANGED), { timeout: 20_000 });
      },
    );

  longTest('escape at the question keeps nothing, and ends the layer', async () => {
    await using ouro = await openWithTrials();
    ouro.terminal.press('esc');
    await ouro.terminal.waitForScreen((rows) => !QUESTION.test(rows.join('\n')));
    await expectNoLayers(ouro);
    expect(await readWorkspace(ouro)).toEqual(UNCHANGED);
  });

  longTest('a kill at the question keeps nothing, and ends the layer', async () => {
    await using ouro = await openWithTrials();
    await ouro.terminal.kill();
    await expectNoLayers(ouro);
    expect(await readWorkspace(ouro)).toEqual(UNCHANGED);
  });
});
