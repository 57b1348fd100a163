import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { makeFixture, policyFor } from './fixture.ts';

test.runIf(process.platform === 'linux')('a zombie process hides nothing', async () => {
  // The parent becomes `cat`, which waits for nobody, before its child ends.
  const script = 'cat <&3 >/dev/null & echo $!; exec cat';
  const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore', 'pipe'] });
  const { stdin, stdout } = parent;
  const feed = parent.stdio[3];
  if (stdin === null || stdout === null || !(feed instanceof Writable)) throw new Error('It has no pipes.');
  const [reported] = await once(stdout, 'data');
  stdin.write('are you cat?\n');
  await once(stdout, 'data');
  feed.end();
  const folder = `/proc/${String(reported).trim()}`;
  await vi.waitFor(() => expect(readFileSync(`${folder}/stat`, 'utf8')).toContain(') Z '), { interval: 5 });
  expect(diskFs.readdir(`${folder}/net`)).toEqual([]);
  stdin.end();
  await once(parent, 'close');
});

test('a folder that only others can list hides nothing from a search, except from one as another user', () => {
  const fixture = makeFixture();
  const { ws } = fixture;
  // An ordinary user can give no folder away, but most belong to others; root owns those.
  const foreign = process.getuid?.() === 0 ? join(ws, 'docs') : '/usr';
  if (foreign !== '/usr') chownSync(foreign, 12_345, 12_345);
  const verdictIn = (folder: string, command: string) => {
    const deny = () => {
      throw Object.assign(new Error(`EACCES: permission denied, scandir '${folder}'`), { code: 'EACCES' });
    };
    const fs = { ...diskFs, readdir: (path: string) => (path === folder ? deny() : diskFs.readdir(path)) };
    const policy = policyFor(fixture, { mode: 'bypassPermissions', deny: ['Read(/secrets/**)'] });
    return decide(getToolFacts('Bash', { command }, policy.cwd), policy, fs).verdict;
  };
  const search = `grep -r KEY '${foreign}'`;
  expect(
    [search, `find '${foreign}' -exec cat {} +`, `cat '${foreign}'/*`].map((line) => verdictIn(foreign, line)),
  ).toEqual(['allow', 'allow', 'allow']);
  const elevated = [`sudo ${search}`, `s""udo -u x ${search}`, `ls && doas ${search}`, `bash -c "sudo ${search}"`];
  expect(elevated.map((line) => verdictIn(foreign, line))).toEqual(elevated.map(() => 'ask'));
  expect(verdictIn(join(ws, 'src'), 'grep -r KEY src')).toBe('ask');
});
