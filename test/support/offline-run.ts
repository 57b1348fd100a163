import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { calls, says, toolUse } from './api/reply.ts';
import { startApiServer } from './api/server.ts';
import { runOuro } from './run-ouro.ts';
import { createTempProject } from './temp-project.ts';

/** Runs ouro on a machine with only loopback, and reports how many packets had no route. */
await using project = await createTempProject({ 'a.txt': 'alpha\n' });
await using api = await startApiServer({
  turns: [calls(toolUse('Read', { file_path: 'a.txt' })), says('It says alpha.')],
});
const before = await packetsWithoutWay();
const { code, stdout } = await runOuro(project, ['-p', 'what does it say?'], api.url);
const during = await packetsWithoutWay();
await attempt('192.0.2.1');
const afterAnAttempt = await packetsWithoutWay();
process.stdout.write(
  JSON.stringify({ code, stdout, attempts: during - before, seen: afterAnAttempt - during > 0 ? 'yes' : 'no' }),
);

/** Returns the number of packets that the kernel could not route, DNS queries included. */
async function packetsWithoutWay(): Promise<number> {
  const [names = '', values = ''] = (await readFile('/proc/net/snmp', 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('Ip:'));
  const four = Number(values.split(' ')[names.split(' ').indexOf('OutNoRoutes')]);
  const six = /Ip6OutNoRoutes\s+(\d+)/.exec(await readFile('/proc/net/snmp6', 'utf8').catch(() => ''));
  return four + Number(six?.[1] ?? 0);
}

function attempt(host: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(443, host);
    socket.on('error', () => resolve());
    socket.on('connect', () => resolve(socket.destroy() && undefined));
  });
}
