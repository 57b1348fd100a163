import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { calls, delayed, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment, terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { isWholeRun, someOf } from '../support/runs.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const ROOT = join(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The lines of the shell blocks that call ouro, without what is said about them. */
const lines = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/ {2,}#.*$/, '').trim())
  .filter((line) => /(?:^|\| )ouro\b/.test(line));

/** The words of a line as a shell would split it. */
function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return words.map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

test.each(
  someOf(
    lines.filter((line) => line.includes(' -p ')),
    2,
  ),
)('%s works', async (line) => {
  await using project = await createTempProject({ 'a.txt': 'a' });
  await using api = await startApiServer({ turns: () => says('Three things.') });
  const [, called = line] = line.split(' | ');
  const stdin = line.includes(' | ') ? { stdin: 'diff --git a b' } : {};
  const { code, stdout } = await runHere(project, wordsOf(called).slice(1), api.url, stdin);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Three things.')]);
});

longTest('README shows the first screen and the demo as they are today', async () => {
  // Machines without a sandbox do not offer it.
  const readme = NO_SANDBOX === undefined ? README : README.replace(/^▌ {3}4 {2}w .*\n/m, '');
  const shown = [...readme.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, block = '']) => normalizeRows(block));
  await using project = await createTempProject();
  await using terminal = openTerminal([LAUNCHER], {
    cwd: project.dir,
    env: terminalEnvironment(project),
    cols: 100,
    rows: 40,
  });
  const seen = async (fits: RegExp) =>
    normalizeRows((await terminal.waitForScreen((rows) => fits.test(rows.join('\n')))).join('\n'));
  expect(await seen(/no server found[\s\S]*esc exit/)).toBe(shown[0]);
  terminal.press('d');
  expect(await seen(/↑↓ enter · s this[\s\S]*waiting for you \d+s/)).toContain(shown[1]);
});

/** Replaces what differs between machines and moments: the version, the folder and the seconds. */
function normalizeRows(text: string): string {
  const rows = text.split('\n').map((row) => row.trimEnd());
  return rows
    .join('\n')
    .replace(/^ouro \d\S*\n.*$/m, 'ouro VERSION\nFOLDER')
    .replace(/you \d+s/, 'you TIME')
    .trim();
}

let prefix: TempProject;
let ouro: string;

// Packing takes as long as twenty tests, and only whole runs start what was packed.
beforeAll(async () => {
  if (!isWholeRun) return undefined;
  prefix = await createTempProject();
  ouro = installed(prefix.dir);
  return () => prefix.remove();
});

/** What `npm pack` makes, laid out as an installation does; the libraries are those of the checkout. */
function installed(prefix: string): string {
  const quietly = (file: string, args: readonly string[]) => execFileSync(file, args, { cwd: ROOT, stdio: 'pipe' });
  const modules = join(prefix, 'lib', 'node_modules');
  mkdirSync(modules, { recursive: true });
  // The build that prepack would make has been made before the first test.
  quietly('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', prefix]);
  const archive = readdirSync(prefix).find((name) => name.endsWith('.tgz')) ?? '';
  quietly('tar', ['-xzf', join(prefix, archive), '-C', modules]);
  renameSync(join(modules, 'package'), join(modules, 'ouro'));
  symlinkSync(join(ROOT, 'node_modules'), join(modules, 'ouro', 'node_modules'));
  const command = join(prefix, 'ouro');
  symlinkSync('lib/node_modules/ouro/bin/ouro', command);
  return command;
}

longTest(
  'a new user starts, follows the demo to its edit, exits, resumes, and asks once, from the packed tarball',
  async () => {
    expect(lines).toEqual(expect.arrayContaining(['ouro', 'ouro -c', 'ouro -r']));
    await using project = await createTempProject();
    const options = { cwd: project.dir, env: terminalEnvironment(project), cols: 100, rows: 40 };
    const session = await (async () => {
      await using terminal = openTerminal([ouro], options);
      await terminal.waitForText(/d {2}The demo: a scripted model/);
      // What README shows of the first screen is on it.
      for (const row of ['No API key was found on this machine', 'k  An API key: Anthropic', 'esc exit']) {
        expect([row, README.includes(row)]).toEqual([row, true]);
        await terminal.waitForText(new RegExp(row));
      }
      terminal.press('d');
      const questions = [
        /Run the tests of[\s\S]*(?:↑↓|up down) enter/,
        /Change src\/cart\.mjs\?[\s\S]*(?:↑↓|up down) enter/,
        /Run the tests again[\s\S]*(?:↑↓|up down) enter/,
      ];
      for (const question of questions) {
        await terminal.waitForText(question);
        terminal.press('y');
      }
      await terminal.waitForText(/receipt[\s\S]*(?:↑↓|up down) enter/);
      terminal.press('y');
      await terminal.waitForScreen(
        (rows) => /That was the tour/.test(rows.join('\n')) && !/esc stop/.test(rows.join('\n')),
      );
      terminal.press('ctrl+c');
      await terminal.waitForText(/ctrl\+c again to exit/);
      terminal.press('ctrl+c');
      await terminal.exited;
      return /ouro --resume (\S+)/.exec(terminal.logicalLines().join('\n'))?.[1];
    })();
    expect(session).toBeDefined();
    {
      await using again = openTerminal([ouro, '--model', 'demo', '--resume', session ?? ''], options);
      await again.waitForText(/receipt|discount/);
    }
    const asked = spawnSync(ouro, ['-p', 'What does this project do?', '--model', 'demo'], {
      cwd: project.dir,
      env: bareEnvironment(project),
      encoding: 'utf8',
    });
    expect(asked).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('demo') });
  },
);

longTest(
  'a running session continues, whatever tool is needed first, while an update replaces the installation',
  async () => {
    const cell = { cell_type: 'code', id: 'c', source: 'alpha', metadata: {}, outputs: [], execution_count: null };
    const notebook = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });
    await using project = await createTempProject({ 'a.ipynb': notebook });
    const path = join(project.dir, 'a.ipynb');
    const edit = toolUse('NotebookEdit', { notebook_path: path, cell_id: 'c', new_source: 'beta' });
    const turns = [
      delayed(1_200, calls(toolUse('Read', { file_path: path }))),
      says('Ready.'),
      calls(edit),
      says('Done.'),
    ];
    await using api = await startApiServer({ turns });
    const options = { cwd: project.dir, env: terminalEnvironment(project, api.url), cols: 100, rows: 40 };
    await using terminal = openTerminal([ouro, '--trust', '--allowedTools', 'Read', 'NotebookEdit'], options);
    await terminal.waitForText(/^▌ /m);
    terminal.type('Are you there?');
    terminal.press('enter');
    await terminal.waitForText(/Ready\./);
    const root = join(prefix.dir, 'lib', 'node_modules', 'ouro');
    renameSync(root, `${root}-before`);
    mkdirSync(root);
    terminal.type('Now edit it');
    terminal.press('enter');
    await terminal.waitForText(/Done\./);
    expect(readFileSync(path, 'utf8')).toContain('beta');
  },
);
