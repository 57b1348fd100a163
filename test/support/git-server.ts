import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { bareEnvironment } from './environment.ts';
import type { TempProject } from './temp-project.ts';

/** Repositories of a project as another machine has them, to be fetched from and pushed to. */
export type GitServer = {
  readonly url: string;
  readonly folderOf: (name: string) => string;
  readonly close: () => Promise<void>;
};

/** Serves bare copies of `repos/<name>` as `<url>/<name>.git`. */
export async function gitServer(project: TempProject, names: readonly string[]): Promise<GitServer> {
  const base = join(project.dir, 'served');
  const folderOf = (name: string) => join(base, `${name}.git`);
  for (const name of names) await project.git('clone', '-q', '--bare', join('repos', name), folderOf(name));
  const port = await freePort();
  const listen = ['--listen=127.0.0.1', `--port=${port}`, '--reuseaddr', '--verbose'];
  const child = spawn(
    'git',
    ['daemon', ...listen, `--base-path=${base}`, '--export-all', '--enable=receive-pack', base],
    { env: bareEnvironment(project), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ready = Promise.withResolvers<void>();
  // It goes on to write there: a stream that is closed would end it.
  child.stderr.on('data', (chunk) => String(chunk).includes('Ready to rumble') && ready.resolve());
  await ready.promise;
  return {
    url: `git://127.0.0.1:${port}`,
    folderOf,
    async close() {
      const gone = once(child, 'exit');
      child.kill();
      await gone;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * A program that stands for `gh`, in `bin` of the project: it notes in `gh-calls` what it was called with, and knows one
 * pull request for each branch.
 */
export async function fakeGh(project: TempProject): Promise<void> {
  const program = await project.write(
    'bin/gh',
    `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require('node:fs');
const args = process.argv.slice(2);
if (args[1] === 'view') {
  console.log(JSON.stringify({ state: 'MERGED', isDraft: false, statusCheckRollup: [{ conclusion: 'SUCCESS' }, { conclusion: 'FAILURE' }] }));
  process.exit(0);
}
const at = args.indexOf('--body-file');
const body = readFileSync(args[at + 1], 'utf8');
const log = ${JSON.stringify(join(project.dir, 'gh-calls'))};
let known = [];
try { known = readFileSync(log, 'utf8').trim().split('\\n').map((line) => JSON.parse(line).args); } catch {}
const note = () => appendFileSync(log, JSON.stringify({ args: args.slice(0, at), body }) + '\\n');
if (args[1] === 'edit') {
  note();
  process.exit(0);
}
const created = known.filter((other) => other[1] === 'create');
const number = created.findIndex((other) => other[3] === args[3] && other[5] === args[5]) + 1;
if (number > 0) {
  console.error('a pull request for branch "x" into branch "main" already exists:\\nhttps://example.com/pull/' + number);
  process.exit(1);
}
note();
console.log('https://example.com/pull/' + (created.length + 1));
`,
  );
  await chmod(program, 0o755);
}
