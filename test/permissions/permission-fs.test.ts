import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { diskFs } from '../../src/permissions/permission-fs.ts';

test.runIf(process.platform === 'linux')('a zombie process hides nothing', async () => {
  // The parent becomes `cat`, which waits for nobody, before its child ends.
  const script = 'cat <&3 >/dev/null & echo $!; exec cat';
  const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore', 'pipe'] });
  const { stdin, stdout } = parent;
  const feed = parent.stdio[3];
  if (stdin === null || stdout === null || !(feed instanceof Writable)) throw new Error('It has no pipes.');
  const [told] = await once(stdout, 'data');
  stdin.write('are you cat?\n');
  await once(stdout, 'data');
  feed.end();
  const folder = `/proc/${String(told).trim()}`;
  await vi.waitFor(() => expect(readFileSync(`${folder}/stat`, 'utf8')).toContain(') Z '), { interval: 5 });
  expect(diskFs.readdir(`${folder}/net`)).toEqual([]);
  stdin.end();
  await once(parent, 'close');
});
