import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startOpenAiServer } from '../../support/api/openai-server.ts';
import { says, status } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { runHere } from '../../support/run-here.ts';
import { NO_SANDBOX } from '../../support/sandbox.ts';
import { createTempProject } from '../../support/temp-project.ts';

const env = { https_proxy: 'http://127.0.0.1:1' };

test('doctor --live asks one model per provider, and reports result, latency and cost', async () => {
  await using project = await createTempProject();
  await using anthropic = await startApiServer({ turns: [says('yes')] });
  await using fine = await startOpenAiServer({ turns: [says('yes')] });
  await using refusing = await startOpenAiServer({ turns: [status(401, 'Incorrect API key provided')] });
  const place = (url: string, apiKey: string) => ({ baseUrl: `${url}/v1`, apiKey });
  await mkdir(project.ouroHome, { recursive: true });
  const providers = {
    work: place(fine.url, 'secret-of-work'),
    lost: place(refusing.url, 'secret-of-lost'),
    gone: { baseUrl: 'http://127.0.0.1:1/v1' },
  };
  await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify({ providers }));
  const { code, stdout } = await runHere(project, ['doctor', '--live', '--json'], anthropic.url, { env });
  const live = JSON.parse(stdout).filter(({ name }: { name: string }) => name.startsWith('live'));
  expect(live).toEqual([
    {
      name: 'live Anthropic',
      state: 'ok',
      detail: expect.stringMatching(
        /^claude-haiku-5-5 answered in \d+ ms: \d+ tokens in, \d+ tokens out, for (?:\$0\.\d+|<\$0\.001)$/,
      ),
    },
    {
      name: 'live work',
      state: 'ok',
      detail: expect.stringMatching(/^work\/\S+ answered in \d+ ms: .*, at an unknown price$/),
    },
    { name: 'live lost', state: 'bad', detail: expect.stringMatching(/^lost\/\S+: .*401/) },
    { name: 'live gone', state: 'bad', detail: expect.stringContaining('http://127.0.0.1:1/v1 lists no models') },
  ]);
  expect(code).toBe(1);
  expect(stdout).not.toContain('secret-of');
  expect(anthropic.all()).toHaveLength(1);
});

test('without --live no model is asked', async () => {
  await using project = await createTempProject();
  await using anthropic = await startApiServer({ turns: [says('yes')] });
  const { stdout } = await runHere(project, ['doctor'], anthropic.url);
  expect(stdout).not.toContain('live');
  expect(stdout).toMatch(NO_SANDBOX === undefined ? /ok {4}sandbox / : /warn {2}sandbox +not available/);
  const { stdout: without } = await runHere(project, ['doctor'], anthropic.url, { env: { PATH: '/nowhere' } });
  expect(without).toMatch(
    /warn {2}sandbox +not available \(bwrap is not installed\), so most commands .* need approval/,
  );
  expect(anthropic.all()).toEqual([]);
});

test('where no model can be asked, that is reported', async () => {
  await using project = await createTempProject();
  const { stdout } = await runHere(project, ['doctor', '--live'], undefined, { env });
  expect(stdout).toMatch(/warn {2}live +No provider can be checked: none has a key/);
});
