import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { diskFs } from '../../../src/permissions/paths/fs.ts';

test.runIf(process.platform === 'linux')('a process that ended and is not yet waited for hides nothing', async () => {
  // The parent becomes `cat`, which waits for nobody, before its child ends.
  const script = 'cat <&3 >/dev/null & echo $!; exec cat';
  const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore', 'pipe'] });
  const [told] = await once(parent.stdout, 'data');
  parent.stdin.write('are you cat?\n');
  await once(parent.stdout, 'data');
  const feed = parent.stdio[3];
  if (feed instanceof Writable) feed.end();
  const folder = `/proc/${String(told).trim()}`;
  await vi.waitFor(() => expect(readFileSync(`${folder}/stat`, 'utf8')).toContain(') Z '), { interval: 5 });
  expect(diskFs.readdir(`${folder}/net`)).toEqual([]);
  parent.stdin.end();
  await once(parent, 'close');
});
