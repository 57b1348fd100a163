import { createServer as createPages } from 'node:http';
import type { Server } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { SandboxNetworkDeps } from '../../src/sandbox/network/sandbox-network.ts';
import { longTest } from '../support/long-test.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject } from '../support/temp-project.ts';

async function listening<Made extends Server | ReturnType<typeof createPages>>(server: Made) {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

const pages = () => listening(createPages((request, response) => response.end(`page of ${request.headers.host}\n`)));

const all: SandboxNetworkDeps['decideHost'] = async () => ({ ok: true });

describe.skipIf(NO_SANDBOX !== undefined)(`network of the sandbox (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test('a command reaches allowed hosts with any protocol, and the model learns about the others', async () => {
    await using project = await createTempProject();
    await using server = await pages();
    const named = `127.0.0.1:${server.port}`;
    const asked: string[] = [];
    const { run, sandbox } = await createTestSandbox(project, {
      settings: { allowedDomains: [named] },
      names: { 'good.test': '127.0.0.1', 'inner.test': '10.0.0.1', 'evil.test': '127.0.0.1' },
      async decide({ command }, { host }) {
        asked.push(`${command.split('\n')[0]} ${host}`);
        return host === 'evil.test' ? { ok: false, problem: 'nobody wants it' } : { ok: true };
      },
    });
    const printed = await run(`true
      exec 2>/dev/null
      curl -s http://good.test:${server.port}/
      curl -s --socks5-hostname "\${HTTP_PROXY#http://}" http://good.test:${server.port}/
      curl -s http://evil.test:${server.port}/ -o /dev/null -w '%{http_code}\n'
      curl -s https://evil.test/ || echo "curl ended with $?"
      curl -s http://inner.test/
      curl -s http://missing.test/
      curl -s http://169.254.169.254/ -o /dev/null -w '%{http_code}\n'
      curl -s --noproxy '*' http://127.0.0.1:${server.port}/ || echo "around it $?"
      curl -s --noproxy '*' http://1.1.1.1/ || echo "without it $?"`);
    sandbox.close();
    const page = `page of good.test:${server.port}`;
    expect(printed.split('\n')).toEqual([
      ...[page, page],
      '403',
      'curl ended with 56',
      'The sandbox blocks the connection to inner.test:80: inner.test resolves to an address that is not public.',
      'missing.test could not be resolved',
      '403',
      'around it 7',
      'without it 7',
      `[blocked by the sandbox: evil.test:${server.port} (nobody wants it), evil.test:443 (nobody wants it), inner.test:80 (inner.test resolves to an address that is not public), 169.254.169.254:80 (169.254.169.254 resolves to an address that is not public)]`,
    ]);
    expect(new Set(asked.map((each) => each.split(' ')[0]))).toEqual(new Set(['true']));
  });

  longTest('a server started by one command is reached by the next', async () => {
    await using project = await createTempProject();
    const { run, sandbox } = await createTestSandbox(project, { settings: {}, decide: all });
    const serving = run(
      `node -e 'require("node:http").createServer((_, answer) => answer.end("served")).listen(8099)' >/dev/null 2>&1 & until [ -e stop ]; do sleep 0.05; done; kill %1`,
    );
    const got = await run(
      'for i in $(seq 200); do curl -s http://localhost:8099/a.txt && break; sleep 0.05; done; touch stop',
    );
    expect(got).toBe('served');
    await serving;
    sandbox.close();
  });

  longTest('git and npm work through the proxy', async () => {
    await using project = await createTempProject();
    await using pack = await npmRegistry(project.home);
    await using repository = await gitServer(project.home);
    const { run, sandbox } = await createTestSandbox(project, {
      settings: { allowedDomains: [`127.0.0.1:${pack.port}`, `127.0.0.1:${repository.port}`] },
      names: { 'registry.test': '127.0.0.1', 'git.test': '127.0.0.1' },
      decide: all,
    });
    const printed = await run(
      `git clone -q http://git.test:${repository.port}/r.git cloned && cat cloned/a
       mkdir p && cd p && echo '{}' > package.json
       npm_config_cache=/tmp/c npm_config_userconfig=/dev/null npm install --silent --no-audit --registry http://registry.test:${pack.port}/ tiny && cat node_modules/tiny/index.js`,
    );
    sandbox.close();
    expect(printed).toBe('of the repository\nof the package\n');
  });

  longTest('without the proxy the sandbox has no network, and the reason is reported', async () => {
    await using project = await createTempProject();
    const { run, sandbox } = await createTestSandbox(project, { settings: {}, env: { PATH: '/nowhere' } });
    await expect(run('true')).rejects.toThrow('bwrap is not installed');
    sandbox.close();
  });
});

/** A registry with one package, made by npm itself. */
async function npmRegistry(home: string) {
  const { execFileSync } = await import('node:child_process');
  const { mkdirSync, readFileSync, writeFileSync } = await import('node:fs');
  const folder = `${home}/tiny`;
  mkdirSync(folder);
  writeFileSync(`${folder}/package.json`, '{"name":"tiny","version":"1.0.0"}');
  writeFileSync(`${folder}/index.js`, 'of the package\n');
  execFileSync('tar', ['czf', `${home}/tiny.tgz`, '--transform', 's,^tiny,package,', 'tiny'], { cwd: home });
  const server = createPages((request, response) => {
    if (request.url?.endsWith('.tgz') === true) return void response.end(readFileSync(`${home}/tiny.tgz`));
    const tarball = `http://${request.headers.host}/tiny.tgz`;
    const version = { name: 'tiny', version: '1.0.0', dist: { tarball } };
    return void response.end(
      JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }),
    );
  });
  return listening(server);
}

/** A bare repository as plain files, as git can read it. */
async function gitServer(home: string) {
  const { execFileSync } = await import('node:child_process');
  const { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } = await import('node:fs');
  const source = `${home}/source`;
  mkdirSync(source);
  writeFileSync(`${source}/a`, 'of the repository\n');
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgSign=false', ...words], {
      cwd: source,
      stdio: 'ignore',
    });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'one');
  git('clone', '-q', '--bare', '.', `${home}/r.git`);
  execFileSync('git', ['update-server-info'], { cwd: `${home}/r.git` });
  const server = createPages((request, response) => {
    const path = `${home}${(request.url ?? '').split('?')[0]}`;
    if (existsSync(path) && statSync(path).isFile()) response.end(readFileSync(path));
    else response.writeHead(404).end();
  });
  return listening(server);
}
