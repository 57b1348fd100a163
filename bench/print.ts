import { says } from '../test/support/api/reply.ts';
import { LAUNCHER } from '../test/support/run-ouro.ts';
import { peakMemoryMb, timed, type Used, withApi } from './programs.ts';
import { type Measure, median, repeated } from './row.ts';

const ROUNDS = 11;

export const print: Measure = {
  name: 'print',
  description: 'one reply with -p',
  run: () =>
    withApi({ turns: () => says('Hello.') }, async ({ project, api }) => {
      const runs: Used[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        runs.push(await timed([LAUNCHER, '-p', 'hello'], project, api.url));
      const client = `await (await fetch(${JSON.stringify(`${api.url}/v1/models`)})).text()`;
      const bare: Used[] = [];
      const bareClient = [process.execPath, '--no-env-file', '-e', client];
      for (let round = 0; round < ROUNDS; round += 1) bare.push(await timed(bareClient, project, api.url));
      const peak = (command: readonly string[]) => repeated(5, () => peakMemoryMb(command, project, api.url));
      const of = (field: 'wallMs' | 'cpuMs', list: readonly Used[]) => median(list.map((run) => run[field]));
      return [
        { name: '`-p`, one answer', unit: 'ms', value: of('wallMs', runs), must: 120, floor: of('wallMs', bare) },
        { name: '`-p`, processor time', unit: 'ms', value: of('cpuMs', runs), must: 130, floor: of('cpuMs', bare) },
        {
          name: '`-p`, peak memory',
          unit: 'MB',
          value: await peak([LAUNCHER, '-p', 'hello']),
          must: 110,
          floor: await peak(bareClient),
        },
        { name: 'first request', unit: 'KB', value: (api.requests()[0]?.raw.length ?? Number.NaN) / 1024, must: 30 },
      ];
    }),
};
