import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { CloudSettings } from '../../../src/model/providers/cloud-settings.ts';
import { createModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { AWS_KEY, BEDROCK_DIALECT } from '../../support/api/cloud-dialects.ts';
import { errorAt } from '../../support/api/faults.ts';
import { says, status } from '../../support/api/reply.ts';
import { type Script, startServer } from '../../support/api/server.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { drain, REQUEST } from '../support.ts';

const SIGNED = { AWS_ACCESS_KEY_ID: AWS_KEY.id, AWS_SECRET_ACCESS_KEY: AWS_KEY.secret, AWS_REGION: 'eu-west-1' };
const MODEL = 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const ONCE = { limits: () => ({ maxRetries: 0 }) };

function portAt(url: string, settings: Partial<CloudSettings>, model = MODEL) {
  const variables = { PATH: process.env.PATH ?? '', ANTHROPIC_BEDROCK_BASE_URL: url, ...settings.variables };
  const choice = createModelRegistry({
    model,
    betas: ['fancy-2030-01-01'],
    retry: ONCE,
    clouds: { keys: {}, ...settings, variables },
  });
  if (!choice.ok) throw new Error(choice.problem);
  return choice;
}

/** Asks once, and tells what came of it and what the server saw. */
async function ask(
  settings: Partial<CloudSettings>,
  script: Script = { turns: [], after: says('Hello.') },
  model = MODEL,
) {
  await using server = await startServer(script, BEDROCK_DIALECT);
  const choice = portAt(server.url, settings, model);
  const { outcome } = await drain(choice.port, { request: { ...REQUEST, model: choice.model } });
  return { outcome, seen: server.requests(), choice };
}

describe('Amazon Bedrock', () => {
  test('a request is signed for the region, has the model in its path, and the binary reply is decoded', async () => {
    const { outcome, seen, choice } = await ask({ variables: SIGNED });
    expect(outcome).toMatchObject({ ok: true, message: { model: MODEL, blocks: [{ type: 'text', text: 'Hello.' }] } });
    expect(seen.at(-1)?.path).toBe('/model/eu.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream');
    expect(seen.at(-1)?.headers.authorization).toContain('/eu-west-1/bedrock/aws4_request');
    expect(choice.infoOf(MODEL)).toMatchObject({ contextWindow: 200_000, thinking: 'budget', price: { output: 16.5 } });
  });

  test('a refused beta is omitted from then on', async () => {
    const { outcome, seen } = await ask({ variables: SIGNED });
    expect(outcome.ok).toBe(true);
    expect(seen.map(({ raw }) => JSON.parse(raw).anthropic_beta)).toEqual([['fancy-2030-01-01'], undefined]);
  });

  test('a Bedrock API key needs no signature', async () => {
    const keys = { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key' };
    const script = { turns: [says('Hello.')], apiKey: 'bedrock-key' };
    const { outcome, seen } = await ask({ variables: { AWS_REGION: 'us-east-1' }, keys }, script);
    expect(outcome.ok).toBe(true);
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer bedrock-key');
  });

  test('a wrong secret is reported as refused credentials, without showing it', async () => {
    const secret = 'not-the-secret-at-all';
    const { outcome } = await ask({ variables: { ...SIGNED, AWS_SECRET_ACCESS_KEY: secret } });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'auth', status: 401 } });
    expect(JSON.stringify(outcome)).not.toContain(secret);
  });

  test.each([
    ['us-east-2/sonnet', 'us-east-2', '/model/global.anthropic.claude-sonnet-5-5/'],
    ['arn:aws:bedrock:ap-south-1:123:application-inference-profile/abc', 'ap-south-1', '/abc/'],
  ])('the region of %s is %s', async (name, region, path) => {
    const { outcome, seen } = await ask({ variables: SIGNED }, undefined, `bedrock/${name}`);
    expect(outcome.ok).toBe(true);
    expect(seen.at(-1)?.headers.authorization).toContain(`/${region}/bedrock/`);
    expect(decodeURIComponent(seen.at(-1)?.path ?? '')).toContain(path);
  });

  test('an exception during a stream is a failure of its kind', async () => {
    const overloaded = says('half of it', { faults: errorAt('content_block_stop') });
    const { outcome } = await ask({ variables: SIGNED }, { turns: [overloaded], after: overloaded });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'overloaded' } });
  });

  test.each([
    [429, 'Too many requests, please wait before trying again.', 'rate_limited'],
    [400, 'Input is too long for requested model.', 'too_long'],
    [404, 'Could not resolve the foundation model from the provided model identifier.', 'not_found'],
    [424, 'The model failed.', 'server'],
    [503, 'Bedrock is unable to process your request.', 'server'],
  ])('%i "%s" is %s', async (code, message, kind) => {
    const { outcome } = await ask({ variables: SIGNED }, { turns: [], after: status(code, message) });
    expect(outcome).toMatchObject({ ok: false, failure: { kind, status: code } });
  });
});

describe('AWS credentials', () => {
  const expired = status(403, 'The security token included in the request is expired');

  test('a profile is read from the usual files, and again after awsAuthRefresh has signed in', async () => {
    await using project = await createTempProject();
    const file = join(project.dir, 'credentials');
    const profile = (secret: string) =>
      `[work]\naws_access_key_id = ${AWS_KEY.id}\naws_secret_access_key = ${secret}\n`;
    await writeFile(file, profile('stale'));
    await writeFile(join(project.dir, 'fresh'), profile(AWS_KEY.secret));
    const variables = {
      AWS_PROFILE: 'work',
      AWS_REGION: 'us-east-1',
      AWS_SHARED_CREDENTIALS_FILE: file,
      AWS_CONFIG_FILE: join(project.dir, 'none'),
    };
    const said = 'echo "Open this page:"; echo "https://device.example/ABCD" >&2';
    const refresh = `${said}; echo run >> '${project.dir}/runs'; cp '${project.dir}/fresh' '${file}'`;
    const received: string[] = [];
    const onSignIn = (setting: string, line: string) => void received.push(`${setting}: ${line}`);
    const { outcome } = await ask({ variables, awsAuthRefresh: refresh, onSignIn });
    expect(outcome.ok).toBe(true);
    expect(received.toSorted()).toEqual([
      'awsAuthRefresh: Open this page:',
      'awsAuthRefresh: https://device.example/ABCD',
    ]);
    expect(await readFile(join(project.dir, 'runs'), 'utf8')).toBe('run\n');
  });

  test('without credentials the message says what to do, and nothing is sent', async () => {
    await using project = await createTempProject();
    const none = join(project.dir, 'none');
    const variables = {
      AWS_PROFILE: 'gone',
      AWS_REGION: 'us-east-1',
      AWS_SHARED_CREDENTIALS_FILE: none,
      AWS_CONFIG_FILE: none,
    };
    const { outcome, seen } = await ask({ variables });
    expect(outcome).toMatchObject({
      failure: { kind: 'auth', message: expect.stringMatching(/^No AWS credentials found: .*aws sso login/) },
    });
    expect(seen).toEqual([]);
  });

  longTest('awsCredentialExport prints them; it is run again when they expire or are refused', async () => {
    await using project = await createTempProject();
    const credentials = (token: string, Expiration?: string) =>
      JSON.stringify({
        Credentials: { AccessKeyId: AWS_KEY.id, SecretAccessKey: AWS_KEY.secret, SessionToken: token, Expiration },
      });
    await writeFile(join(project.dir, 'first'), credentials('one', '2020-01-01T00:00:00Z'));
    await writeFile(join(project.dir, 'second'), credentials('two'));
    const command = `cd '${project.dir}'; if [ -e asked ]; then cat second; else touch asked; cat first; fi`;
    const { seen } = await ask(
      { variables: { AWS_REGION: 'us-east-1' }, awsCredentialExport: command },
      { turns: [], after: expired },
    );
    expect(seen.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['two']);
  });

  longTest('a failing command is named', async () => {
    const { outcome } = await ask({
      variables: { AWS_REGION: 'us-east-1' },
      awsCredentialExport: 'echo no safe >&2; exit 3',
    });
    expect(outcome).toMatchObject({
      failure: { kind: 'auth', message: 'The awsCredentialExport command failed: no safe' },
    });
  });
});

test('unprefixed names belong to the cloud that a variable selects, including the small model', () => {
  const variables = { AWS_REGION: 'us-east-1' };
  const choice = createModelRegistry({
    model: 'opus',
    defaultCloud: { cloud: 'bedrock', modelIds: {} },
    clouds: { variables, keys: {} },
  });
  expect(choice).toMatchObject({ ok: true, model: 'bedrock/global.anthropic.claude-opus-5-5' });
  expect(choice.ok && choice.getSmallModel(choice.model)).toBe('bedrock/global.anthropic.claude-haiku-5-5');
});

test('without a region the message names the variable', () => {
  expect(createModelRegistry({ model: 'bedrock/sonnet', clouds: { variables: {}, keys: {} } })).toEqual({
    ok: false,
    problem: expect.stringMatching(/needs a region\. Set AWS_REGION/),
  });
});

test('an abort ends the wait for a slow sign-in', async () => {
  await using project = await createTempProject();
  const none = join(project.dir, 'none');
  // What bears the mark of the project ends with it.
  const [mark = '', value = ''] = project.marker.split('=');
  const variables = {
    [mark]: value,
    AWS_PROFILE: 'gone',
    AWS_SHARED_CREDENTIALS_FILE: none,
    AWS_CONFIG_FILE: none,
    AWS_REGION: 'us-east-1',
  };
  const awsAuthRefresh = `touch '${project.dir}/began'; exec sleep 60`;
  const { port, model } = portAt('http://127.0.0.1:1', { variables, awsAuthRefresh });
  const stop = new AbortController();
  const asked = drain(port, { request: { ...REQUEST, model }, signal: stop.signal });
  await vi.waitFor(() => readFile(join(project.dir, 'began')));
  stop.abort();
  expect((await asked).outcome).toMatchObject({ ok: false, failure: { kind: 'aborted' } });
});

test('concurrent requests with an expired token sign in once', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, 'credentials');
  const profile = (secret: string) => `[work]\naws_access_key_id = ${AWS_KEY.id}\naws_secret_access_key = ${secret}\n`;
  await writeFile(file, profile('stale'));
  await writeFile(join(project.dir, 'fresh'), profile(AWS_KEY.secret));
  const variables = { AWS_PROFILE: 'work', AWS_REGION: 'us-east-1', AWS_SHARED_CREDENTIALS_FILE: file };
  const awsAuthRefresh = `echo run >> '${project.dir}/runs'; cp '${project.dir}/fresh' '${file}'`;
  await using server = await startServer({ turns: [], after: says('Hello.') }, BEDROCK_DIALECT);
  const { port, model } = portAt(server.url, { variables, awsAuthRefresh });
  const asked = Array.from({ length: 5 }, () => drain(port, { request: { ...REQUEST, model } }));
  expect((await Promise.all(asked)).map(({ outcome }) => outcome.ok)).toEqual([true, true, true, true, true]);
  expect(await readFile(join(project.dir, 'runs'), 'utf8')).toBe('run\n');
});

test('a failed sign-in is reported instead of the refusal', async () => {
  const { outcome } = await ask({
    variables: { ...SIGNED, AWS_SECRET_ACCESS_KEY: 'old' },
    awsAuthRefresh: 'echo no net >&2; exit 1',
  });
  expect(outcome).toMatchObject({ failure: { kind: 'auth', message: 'The awsAuthRefresh command failed: no net' } });
});

test('an unknown field of a provider is omitted from then on', async () => {
  const words = 'thinking.adaptive.display: Extra inputs are not permitted';
  await using server = await startServer({ turns: [status(400, words)], after: says('Hello.') }, BEDROCK_DIALECT);
  const { port, model } = portAt(server.url, { variables: SIGNED }, 'bedrock/us.anthropic.claude-sonnet-4-6');
  const request = { ...REQUEST, model, effort: 'low', maxOutputTokens: 8000 } as const;
  expect((await drain(port, { request })).outcome.ok).toBe(true);
  expect(server.requests().map(({ body }) => body.thinking)).toMatchObject([
    { type: 'adaptive', display: 'summarized' },
    { type: 'adaptive' },
  ]);
});

test('a gateway with authentication gets its own token', async () => {
  const variables = { AWS_REGION: 'us-east-1', CLAUDE_CODE_SKIP_BEDROCK_AUTH: '1' };
  const keys = { ANTHROPIC_AUTH_TOKEN: 'gateway' };
  const { outcome } = await ask({ variables, keys }, { turns: [], after: says('Hello.'), apiKey: 'gateway' });
  expect(outcome.ok).toBe(true);
});
