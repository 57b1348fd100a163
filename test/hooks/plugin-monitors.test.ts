import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CliRunOptions } from '../../src/contracts/frontend/cli-run-options.ts';
import type { JsonObject } from '../../src/contracts/json.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { type Composed, composed } from '../support/composed.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject();
  server = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('use the skill') && !raw.includes('toolu_skill')
        ? calls(toolUse('Skill', { name: 'deploy' }, 'toolu_skill'))
        : says('Seen.'),
  });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

const WAIT_FOR_GO = 'until [ -e go ]; do sleep 0.05; done';

async function opened(manifest: JsonObject, options: Partial<CliRunOptions> = {}): Promise<Composed> {
  const write = (path: string, text: string) => project.write(`../kit/${path}`, text);
  await write('.claude-plugin/plugin.json', JSON.stringify({ name: 'kit', ...manifest }));
  await write('skills/deploy/SKILL.md', '---\nname: deploy\ndescription: Deploys\n---\nDeploy it.');
  return composed(project, server.url, {
    pluginDirs: [{ folder: join(project.dir, '../kit'), servers: 'started' }],
    frontend: 'screen',
    ...options,
  });
}

const commandsOf = async (made: Composed) => made.command('ps');
const noticesOf = ({ events }: Composed) => events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));

test('each line of a monitor reaches the model and starts a turn; the end of the session ends it', async () => {
  const command = `${WAIT_FOR_GO}; echo; echo "build $CLAUDE_PLUGIN_ROOT failed"; sleep 300`;
  const made = await opened({ monitors: [{ name: 'build', command, description: 'The build' }] });
  await made.conversation.agent.prompt('hello');
  expect(await commandsOf(made)).toContain('kit:build');
  // Nothing that the user began, so nothing to lose when ouro exits.
  expect(made.conversation.background()).toEqual([]);
  await project.write('go', '');
  const { raw } = await server.waitForRequest(2);
  expect(raw).toContain(`The monitor kit:build printed: build ${join(project.dir, '../kit')} failed`);
  await made.close();
  expect(made.events.filter(({ type }) => type === 'background').at(-1)).toMatchObject({
    title: 'kit:build',
    state: 'stopped',
  });
  await expectNoProcessesLeft(project.marker);
});

test('options are variables of the shell, which it does not run', async () => {
  const entry = { name: 'poll', command: `echo "at \${user_config.url}"`, description: 'Polls' };
  await project.write('../kit/watch.json', JSON.stringify([entry]));
  const made = await opened({
    userConfig: { url: { type: 'string', title: 'Address', default: '$(touch ran)' } },
    experimental: { monitors: './watch.json' },
  });
  expect((await server.waitForRequest(1)).raw).toContain('The monitor kit:poll printed: at $(touch ran)');
  await made.close();
  await expect(project.read('ran')).rejects.toThrow('ENOENT');
});

test.each(
  someOf([
    ['the model', 'use the skill'],
    ['the user', '/kit:deploy'],
  ]),
)('a monitor of a skill starts when %s uses the skill', async (_, prompt) => {
  const entry = { name: 'log', command: 'echo watching; sleep 300', when: 'on-skill-invoke:deploy' };
  const made = await opened({ monitors: [entry] });
  await made.conversation.agent.prompt('hello');
  expect(await commandsOf(made)).not.toContain('kit:log');
  const outcome = prompt.startsWith('/') ? await made.conversation.runCommand(prompt.slice(1)) : undefined;
  await made.conversation.agent.prompt(outcome?.kind === 'prompt' ? outcome.blocks : prompt);
  await vi.waitFor(async () => expect(await commandsOf(made)).toContain('kit:log'));
  await made.close();
});

test.each<[string, JsonObject, Partial<CliRunOptions>]>(
  someOf([
    ['in print mode', {}, { frontend: 'print' }],
    ['when hooks are disabled', {}, { settings: '{"disableAllHooks": true}' }],
    ['that leaves its folder', { monitors: '../other.json' }, {}],
  ]),
)('no monitor runs %s', async (_, manifest, options) => {
  const list = [{ name: 'm', command: 'sleep 300', description: '' }];
  await project.write('../other.json', JSON.stringify(list));
  const made = await opened({ monitors: list, ...manifest }, options);
  await made.conversation.agent.prompt('hello');
  expect(await commandsOf(made)).toContain('Nothing runs');
  await made.close();
});

longTest('an invalid monitor is named, and the others run', async () => {
  const made = await opened({ monitors: [{ name: 'x' }, { name: 'good', command: 'sleep 300' }] });
  await made.conversation.agent.prompt('hello');
  expect(await commandsOf(made)).toContain('kit:good');
  expect(made.conversation.info().warnings.join()).toContain('plugin.json: monitor 1 is ignored');
  expect(noticesOf(made).join()).not.toContain('could not be started');
  await made.close();
});
