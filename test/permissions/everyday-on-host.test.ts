import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Decision } from '../../src/contracts/permission.ts';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { buildShellEnvironment } from '../../src/tools/bash/start-command.ts';
import { createCallGuards } from '../../src/tools/call-guards.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { WAIT_MS } from '../support/runs.ts';
import { ALLOWED } from './corpus/allowed.ts';
import { ALLOWED_DAILY } from './corpus/allowed-daily.ts';
import { ALLOWED_LINES } from './corpus/allowed-lines.ts';
import { EVERYDAY } from './corpus/everyday.ts';
import { makeFixture, policyFor, type Setup } from './fixture.ts';

const fixture = makeFixture();
const LINES = [...new Set([...Object.values(EVERYDAY).flat(), ...ALLOWED, ...ALLOWED_DAILY, ...ALLOWED_LINES])];

/** Programs of the system that read files, processes or services, and load no code from the working folder. */
const READERS = new Set(
  [
    '[ break cat cd continue echo egrep exit false fgrep find grep head jobs ls nice nohup printf pwd rg stdbuf',
    'tail test time timeout true type wait wc :',
    'arch basename cal date dirname free groups hostname id nproc seq sleep tty uname uptime whoami',
    'cut jq sed sort tr uniq which',
    'docker gh git helm ip journalctl kubectl lsof netstat ps ss systemctl',
  ].flatMap((names) => names.split(' ')),
);
/** These start helpers that the configuration of a repository names, unless variables forbid it. */
const USING_GIT = ['git', 'gh'];

const decideLine = (command: string, setup: Setup): Decision => {
  const policy = policyFor(fixture, setup);
  return decide(getToolFacts('Bash', { command }, policy.cwd), policy, diskFs);
};

/** The programs that a decision is about; its other steps are about files that they read. */
const listPrograms = ({ trace }: Decision) =>
  trace.flatMap(({ subject = '', text }) =>
    text === `${subject} is read-only.`
      ? [subject.replace(/^(?:\w+=\S* )*(?:\S*\/)?/, '').replace(/ [\s\S]*/, '')]
      : [],
  );

/** The allowed lines that run outside the sandbox, each with its decision. */
const listOnHost = (setup: Setup) =>
  LINES.map((line) => ({ line, decision: decideLine(line, setup) })).filter(
    ({ decision: { verdict, enforce } }) => verdict === 'allow' && enforce === undefined,
  );

test.each([
  ['with a sandbox', 40, {}],
  ['without a sandbox', 200, { readOnlySandbox: 'missing' }],
] as const)('%s, everyday lines run programs on the host that only read', (_, expected, setup) => {
  const onHost = listOnHost(setup);
  expect(onHost.length).toBeGreaterThan(expected);
  const unsafe = onHost.flatMap(({ line, decision }) => {
    const programs = listPrograms(decision);
    const needed = programs.some((name) => USING_GIT.includes(name))
      ? ['path', 'variables', 'helpers']
      : ['path', 'variables'];
    const isSafe =
      programs.length > 0 &&
      programs.every((name) => READERS.has(name)) &&
      needed.every((name) => decision.hardens.some((has) => has === name));
    return isSafe ? [] : [[line, ...programs, ...decision.hardens]];
  });
  expect(unsafe).toEqual([]);
});

test('none of them starts a file of the project, also not one that PATH or git configuration names', () => {
  const trapped = join(fixture.home, 'trapped');
  const trap = `#!/bin/sh\necho "$0 $*" >> '${trapped}'\n`;
  const folder = join(fixture.ws, 'node_modules/.bin');
  mkdirSync(folder, { recursive: true });
  for (const name of [...READERS, 'less', 'pager', 'trap']) {
    if (!/^\w/.test(name)) continue;
    writeFileSync(join(folder, name), trap);
    chmodSync(join(folder, name), 0o755);
  }
  const program = join(folder, 'trap');
  const own = { PATH: `${folder}:.:/usr/bin:/bin`, HOME: fixture.home };
  const all = {
    ...own,
    GIT_PAGER: program,
    GIT_EXTERNAL_DIFF: program,
    GIT_SSH_COMMAND: program,
    PAGER: program,
    BASH_ENV: program,
  };
  const onHost = listOnHost({ readOnlySandbox: 'missing' });
  const guards = createCallGuards(
    () => ({ all, own }),
    () => policyFor(fixture),
    diskFs,
  );
  const run = (command: string, variables: Readonly<Record<string, string | undefined>>) =>
    spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', command], {
      ...{ cwd: fixture.ws, input: '', timeout: WAIT_MS },
      env: buildShellEnvironment(all, variables, 'x'),
    });
  for (const { line, decision } of onHost) {
    const request = {
      tool: 'Bash',
      callId: line,
      input: { command: line },
      cwd: fixture.ws,
      title: line,
      isReadOnly: true,
    };
    guards.record({ request, input: { command: line }, verdict: 'allow', by: 'decision', decision });
    const { error } = run(line, guards.takeShellVariables(line));
    expect([line, error]).toEqual([line, undefined]);
  }
  expect(existsSync(trapped) ? readFileSync(trapped, 'utf8') : '').toBe('');
  // The traps work where nothing is hardened.
  run('ls', {});
  expect(readFileSync(trapped, 'utf8')).toContain('ls');
});
