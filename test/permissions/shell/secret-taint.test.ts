import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Decision, Policy } from '../../../src/contracts/permission.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { diskFs } from '../../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../../src/tools/tool-traits.ts';
import { runs } from '../../support/runs.ts';
import { NO_SANDBOX } from '../../support/sandbox.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { createDecidedRuns } from '../decided-run.ts';
import { decideBash, decideTool, makeFixture, policyFor, type Setup } from '../fixture.ts';

const fixture = makeFixture();
const CANARY = 'canary-7f3a';
writeFileSync(join(fixture.ws, '.env'), `TOKEN=${CANARY}\n`);
writeFileSync(join(fixture.ws, 'certs/server.pem'), `${CANARY}\n`);

const PROGRAMS = 'cp mv ln install dd rsync tar zip gzip bzip2 xz split openssl tee sed awk'.split(' ');
const ALLOW = PROGRAMS.map((name) => `Bash(${name}:*)`);
const secret = fc.constantFrom('.env', './.env', 'certs/server.pem', 'certs/../.env', '".env"', 'src/../.env');
const target = fc.constantFrom('x', './x', 'docs/x', 'README.md', 'src/new.ts', '"x"', 'docs/../x', '.env.example');
const COPYING: readonly ((from: string, to: string) => string)[] = [
  (from, to) => `cp ${from} ${to}`,
  (from, to) => `cp -f -- ${from} ${to}`,
  (from, to) => `cp package.json ${from} docs && cp docs/${from.replace(/^.*\/|"/g, '')} ${to}`,
  (from, to) => `cp ${from} y; cp y ${to}`,
  (from, to) => `mv ${from} ${to}`,
  (from, to) => `ln ${from} ${to}`,
  (from, to) => `ln -s "$PWD"/${from} ${to}`,
  (from, to) => `ln -sf $(pwd)/${from} ${to}`,
  (from, to) => `install -m 600 ${from} ${to}`,
  (from, to) => `dd if=${from} of=${to} status=none`,
  (from, to) => `tar cf ${to} ${from}`,
  (_from, to) => `tar -cf ${to} certs`,
  (from, to) => `tar c ${from} > ${to}`,
  (from, to) => `tee ${to} < ${from} > /dev/null`,
  (from, to) => `dd < ${from} > ${to}`,
  (from, to) => `sed -n w${to.replaceAll('"', '')} ${from}`,
  (from, to) => `sed "" ${from} > ${to}`,
  (from, to) => `openssl enc -in ${from} -out ${to}`,
  (from, to) => `cd docs && cp ../${from} ../${to}; cd ..`,
  (from, to) => `(cp ${from} ${to})`,
  (from, to) => `for f in ${from}; do cp "$f" ${to}; done`,
  (from, to) => `cp {${from},${to}}`.replaceAll('"', ''),
  (from, to) => `cat ${from} | tee ${to}`,
  (from, to) => `base64 < ${from} | dd of=${to}`,
  (from) => `split ${from} x`,
];
const READING: readonly ((file: string) => string)[] = [
  (file) => `cat ${file}`,
  (file) => `cat < ${file}`,
  (file) => `head -c 99 ${file}; tail ${file}`,
  (file) => `grep -a . ${file}`,
  () => 'grep -ra canary .',
  () => 'cat *',
  () => 'cat x* docs/*',
  () => 'git diff --no-index /dev/null x',
  (file) => `strings ${file} | sort`,
  (file) => `wc -l ${file}; nl ${file}`,
  (file) => `for f in ${file}; do cat "$f"; done`,
  () => 'find . -name x -exec cat {} +',
  () => 'find . -type f | xargs cat',
  (file) => `diff ${file} /dev/null`,
  (file) => `cut -c1-50 ${file}`,
];
const line = fc.tuple(
  secret,
  target,
  fc.constantFrom(...COPYING),
  fc.constantFrom(...READING),
  fc.constantFrom(';', '&&', '\n'),
);

const setup: Setup = {
  allow: ALLOW,
  mode: 'acceptEdits',
  ...(NO_SANDBOX === undefined ? {} : { readOnlySandbox: 'none' }),
};
const runDecided = createDecidedRuns(fixture);

type Judged = { readonly command: string; readonly decision: Decision; readonly policy: Policy };

/** A workspace of its own, and what is decided and printed in it. */
function inWorkspace<Answer>(
  use: (
    judge: (command: string, copiedSecrets?: readonly string[]) => Judged,
    run: (judged: Judged) => string,
  ) => Answer,
): Answer {
  const ws = createTempFolder(fixture.home);
  cpSync(fixture.ws, ws, { recursive: true, verbatimSymlinks: true });
  const wide = { ...policyFor(fixture, setup), cwd: ws, workspaceRoots: [ws] };
  const answer = use(
    (command, taintedPaths = []) => {
      const policy = { ...wide, taintedPaths };
      return { command, policy, decision: decide(getToolFacts('Bash', { command }, ws), policy, diskFs) };
    },
    ({ command, decision, policy }) => {
      const { stdout, stderr } = runDecided(command, { decision, policy });
      return `${stdout}${stderr}`;
    },
  );
  rmSync(ws, { recursive: true });
  return answer;
}

/** Runs unasked, and as it stands: a search that leaves secrets out is told to when it runs. */
function isFree({ decision: { verdict, hardens } }: Judged): boolean {
  return verdict === 'allow' && !hardens.includes('search');
}

test('copies of a secret file are not read unasked, in the command and afterwards', () => {
  fc.assert(
    fc.property(line, ([from, to, copying, reading, between]) => {
      const copy = copying(from, to);
      const read = reading(to);
      const whole = `${copy} ${between} ${read}`;
      const shown = inWorkspace((judge, run) => {
        const atOnce = judge(whole);
        if (isFree(atOnce)) return run(atOnce);
        const first = judge(copy);
        if (!isFree(first) || ANYWHERE.test(copy)) return '';
        run(first);
        const second = judge(read, first.decision.copies);
        return isFree(second) ? run(second) : '';
      });
      expect([whole, shown]).toEqual([whole, expect.not.stringContaining(CANARY)]);
    }),
    runs(200),
  );
});

/** Programs that write where none of their words says, as far as anybody knows: only the line itself is kept. */
const ANYWHERE = /^(?:sed -n|split) /;

test('every tool protects such a copy, and other files are not affected', () => {
  const { copies = [] } = decideBash(fixture, 'cp .env x; cp README.md y; cp -r src z', { allow: ALLOW });
  expect(copies).toEqual([join(fixture.ws, 'x')]);
  const policy: Policy = { ...policyFor(fixture), taintedPaths: copies };
  const verdict = (file: string) =>
    decide(getToolFacts('Read', { file_path: file }, fixture.ws), policy, diskFs).verdict;
  expect(['x', 'y', 'README.md', 'z/a.ts'].map(verdict)).toEqual(['ask', 'allow', 'allow', 'allow']);
  expect(decideTool(fixture, 'Read', { file_path: 'x' }).verdict).toBe('allow');
  const free = ['cp README.md x; cat x', 'cp .env x; cat README.md', 'cp .env x; ls', 'tar cf x.tar src; tar tf x.tar'];
  expect(free.filter((each) => decideBash(fixture, each, { allow: ALLOW }).verdict !== 'allow')).toEqual([]);
  expect(readFileSync(join(fixture.ws, '.env'), 'utf8')).toContain(CANARY);
});
