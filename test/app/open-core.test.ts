import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createConversation } from '../../src/app/compose.ts';
import { readEnvironment } from '../../src/app/environment.ts';
import { runDoctorChecks } from '../../src/app/setup/doctor.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { bareEnvironment } from '../support/environment.ts';
import { runHere } from '../support/run-here.ts';
import { runOptions } from '../support/run-options.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

test.each(someOf(['{"anthropic":', '[]', '{"anthropic":7}', '{"v":2}']))(
  'a key stored in a file that contains %j is reported with its location; keyless providers start',
  async (text) => {
    await using project = await createTempProject();
    const file = join(project.ouroHome, 'keys.json');
    await mkdir(project.ouroHome);
    await writeFile(file, text);
    const { ANTHROPIC_API_KEY: _, ...variables } = bareEnvironment(project);
    const environment = readEnvironment(variables);
    const start = (model?: string) =>
      createConversation(
        runOptions({ cwd: project.dir, demoProject: { folder: undefined }, ...(model === undefined ? {} : { model }) }),
        environment,
      );

    const problem = expect.stringContaining(`${file} `);
    expect(await start()).toEqual({ ok: false, problem });
    const demo = await start('demo');
    expect(demo.ok).toBe(true);
    if (demo.ok) await demo.conversation.close('tested');

    const findings = await runDoctorChecks({ environment, cwd: project.dir, isTty: false });
    expect(findings.find(({ name }) => name === 'key')).toEqual({ name: 'key', state: 'bad', detail: problem });
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

test('settings of a folder that is not trusted are a warning for doctor, and fine once it is trusted', async () => {
  const text = '{"permissions":{"allow":["Bash(npm test)"]}}';
  await using project = await createTempProject({ '.claude/settings.json': text });
  const context = { environment: readEnvironment(bareEnvironment(project)), cwd: project.dir, isTty: false };
  const checkSettings = async () => (await runDoctorChecks(context)).filter(({ name }) => name === 'settings');
  expect(await checkSettings()).toEqual([
    { name: 'settings', state: 'warn', detail: expect.stringContaining('not trusted yet') },
  ]);
  await runHere(project, ['trust']);
  expect(await checkSettings()).toEqual([{ name: 'settings', state: 'ok', detail: 'no problems found' }]);
});

test.each(['print', 'host', 'editor', 'screen'] as const)(
  'the events of a %s run have the whole text, and for a program each delta',
  async (frontend) => {
    const words = 'ten chars '.repeat(1_000);
    await using project = await createTempProject();
    await using api = await startApiServer({ turns: [says(words, { chunk: 10 })] });
    const { conversation, events, close } = await composed(project, api.url, { frontend });
    await conversation.agent.prompt('go');
    await close();
    const deltas = events.flatMap((event) => (event.type === 'message_update' ? [event.delta] : []));
    expect(deltas.join('')).toBe(words);
    if (frontend === 'screen') expect(deltas.length).toBeLessThan(1_000);
    else expect(deltas).toHaveLength(1_000);
  },
);
