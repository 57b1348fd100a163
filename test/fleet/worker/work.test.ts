import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import type { Beat, Claim } from '../../../src/contracts/fleet.ts';
import { fleetGit } from '../../../src/fleet/git/fleet-git.ts';
import { openMirrors } from '../../../src/fleet/git/mirrors.ts';
import { ownSecrets } from '../../../src/fleet/worker/own-secrets.ts';
import { doWork } from '../../../src/fleet/worker/work.ts';
import { createTempProject } from '../../support/temp-project.ts';

const SPEC = { prompt: 'sum up', mode: 'default', allowedTools: [], disallowedTools: [], env: [], minutes: 1 };
const CLAIM: Claim = {
  ...{ id: 'a', batch: 'b', key: 'k', token: 1, lane: 'l', title: 'k', signature: undefined },
  ...{ spec: SPEC, kind: 'summary', attempt: 1, budget: 1_000, booked: 0, before: undefined },
};

test('nothing is started before the queue knows the session that it is paid from', async () => {
  await using project = await createTempProject();
  const program = join(project.dir, 'stands-for-ouro');
  const started = join(project.dir, 'started');
  await writeFile(program, `#!/bin/sh\ntouch '${started}'\n`);
  await chmod(program, 0o755);
  const cwd = join(project.dir, 'cwd');
  await mkdir(cwd);
  const environment = readEnvironment();
  const git = fleetGit(environment);
  const parts = {
    ...{ environment, program, git, policy: {}, machine: 'here', keep: undefined, workRoot: project.dir },
    mirrors: openMirrors(project.dir, git),
    secrets: ownSecrets(environment, SPEC),
    scrub: async (text: string) => text,
    costOf: async () => 0,
    stored: async () => undefined,
    results: async () => [],
  };
  const session = { kind: 'new' as const, id: 'its-session' };
  const prepared = { folder: cwd, cwd, place: undefined, session, prompt: SPEC.prompt, unbooked: 7, notes: [] };
  const beats: Beat[] = [];
  const known = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<void>();
  const ears = {
    onBeat: (beat: Beat) => {
      beats.push(beat);
      heard.resolve();
      return known.promise;
    },
    onThrottle: () => undefined,
  };
  const work = doWork({ claim: CLAIM, prepared, parts }, ears, new AbortController().signal);
  await heard.promise;
  // What would be started without waiting is there before another one has come and gone several times.
  for (let at = 0; at < 5; at += 1) await promisify(execFile)('/bin/sh', ['-c', ':']);
  expect([beats, existsSync(started)]).toEqual([[{ cost: 7, session: 'its-session' }], false]);
  known.resolve();
  await work;
  expect(existsSync(started)).toBe(true);
});
