import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readEnvironment } from '@ouro-cli/ouro/commands';
import { expect, test } from 'vitest';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import { createFleetGit } from '../../src/git/fleet-git.ts';
import { openRepositoryMirrors } from '../../src/git/repository-mirrors.ts';
import type { AttemptHeartbeat, TaskClaim } from '../../src/store/batch.ts';
import type { BatchTaskDeps } from '../../src/worker/batch-task-deps.ts';
import type { PreparedTaskAttempt } from '../../src/worker/prepare-task-attempt.ts';
import { runTaskUntilVerified, type TaskWorkListeners } from '../../src/worker/run-task-until-verified.ts';
import { openTaskSandbox } from '../../src/worker/task-sandbox.ts';
import { createTaskSecretRedactor } from '../../src/worker/task-secret-redactor.ts';

const SPEC = { prompt: 'sum up', mode: 'default', allowedTools: [], disallowedTools: [], env: [], minutes: 1 };
const CLAIM: TaskClaim = {
  ...{ id: 'a', batch: 'b', key: 'k', token: 1, lane: 'l', title: 'k', signature: undefined },
  ...{ spec: SPEC, kind: 'summary', attempt: 1, budget: 1_000, earlierCost: 0, previousAttempt: undefined },
};

test('the run starts only after the store knows its session', async () => {
  await using project = await createTempProject();
  const program = join(project.dir, 'stands-for-ouro');
  const started = join(project.dir, 'started');
  await writeFile(program, `#!/bin/sh\ntouch '${started}'\n`);
  await chmod(program, 0o755);
  const cwd = join(project.dir, 'cwd');
  await mkdir(cwd);
  const environment = readEnvironment();
  const git = createFleetGit(environment);
  const deps: BatchTaskDeps = {
    environment,
    program,
    git,
    policy: {},
    readSettings: async () => ({ layers: [], merged: {}, problems: [] }),
    machine: 'here',
    saveFile: undefined,
    workRoot: project.dir,
    mirrors: openRepositoryMirrors(project.dir, git),
    secrets: createTaskSecretRedactor(environment, SPEC),
    redactTranscript: async (text: string) => text,
    readSessionCost: async () => 0,
    loadFile: async () => undefined,
    listResults: async () => [],
  };
  const prepared: PreparedTaskAttempt = {
    folder: cwd,
    cwd,
    worktree: undefined,
    session: { kind: 'new', id: 'its-session' },
    prompt: SPEC.prompt,
    unreportedCost: 7,
    notes: [],
  };
  const beats: AttemptHeartbeat[] = [];
  const stored = Promise.withResolvers<void>();
  const reported = Promise.withResolvers<void>();
  const listeners: TaskWorkListeners = {
    onHeartbeat: (beat) => {
      beats.push(beat);
      reported.resolve();
      return stored.promise;
    },
    onThrottle: () => undefined,
  };
  const sandbox = await openTaskSandbox(deps, SPEC, { cwd, mirror: undefined });
  const work = runTaskUntilVerified({ claim: CLAIM, prepared, sandbox, deps }, listeners, new AbortController().signal);
  await reported.promise;
  // A run that did not wait would have started by the time several other processes have exited.
  for (let at = 0; at < 5; at += 1) await promisify(execFile)('/bin/sh', ['-c', ':']);
  expect([beats, existsSync(started)]).toEqual([[{ cost: 7, session: 'its-session' }], false]);
  stored.resolve();
  await work;
  expect(existsSync(started)).toBe(true);
});
