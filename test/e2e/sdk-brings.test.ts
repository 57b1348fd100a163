import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Options, query } from '@anthropic-ai/claude-agent-sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startJsonServer } from '../support/json-server.ts';
import { someOf } from '../support/runs.ts';
import { conversation, createSdkHost, type SdkHost } from '../support/sdk-host.ts';

/** What a host brings to a run: plugins, hooks that guard, models of other places. */
let host: SdkHost;
beforeEach(async () => {
  host = await createSdkHost();
});
afterEach(() => host.close());

async function plugin(name: string): Promise<string> {
  const folder = join(host.root, name);
  await mkdir(join(folder, '.claude-plugin'), { recursive: true });
  await mkdir(join(folder, 'commands'));
  await writeFile(join(folder, '.claude-plugin/plugin.json'), JSON.stringify({ name, description: 'd' }));
  await writeFile(join(folder, 'commands/hello.md'), 'Say hello.');
  const servers = { mcpServers: { notes: { command: 'no-such-program' } } };
  await writeFile(join(folder, '.mcp.json'), JSON.stringify(servers));
  return folder;
}

async function asked<Answer>(options: Options, ask: (running: ReturnType<typeof query>) => Promise<Answer>) {
  const { prompts, end } = conversation();
  const running = query({ prompt: prompts, options: host.options(options) });
  const answer = await ask(running);
  end();
  running.close();
  return answer;
}

test.each(someOf(['argv', 'initialize'] as const))(
  'plugins passed by %s are loaded, with or without their servers',
  async (pluginDelivery) => {
    await host.api();
    const [all, quiet] = [await plugin('all'), await plugin('quiet')];
    const plugins: Options['plugins'] = [
      { type: 'local', path: all },
      { type: 'local', path: quiet, skipMcpDiscovery: true },
    ];
    const [initialized, servers] = await asked({ plugins, pluginDelivery }, async (running) => [
      await running.initializationResult(),
      await running.mcpServerStatus(),
    ]);
    const names = initialized.commands.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['all:hello', 'quiet:hello']));
    expect(servers.map(({ name }) => name)).toEqual(['plugin_all_notes']);
    expect(initialized).toMatchObject(pluginDelivery === 'initialize' ? { plugins_applied: true } : {});
  },
);

test('a missing plugin is not reported as applied', async () => {
  await host.api();
  const options: Options = {
    plugins: [{ type: 'local', path: join(host.root, 'none') }],
    pluginDelivery: 'initialize',
  };
  expect(await asked(options, (running) => running.initializationResult())).toMatchObject({ plugins_applied: false });
});

test.each(
  someOf([
    ['block', 0],
    ['continue', 1],
  ] as const),
)('a callback that throws and was to %s lets %i calls run', async (onFailure, count) => {
  await host.api(calls(toolUse('Bash', { command: 'touch made' }, 'toolu_1')), says('done'));
  let ran = 0;
  await host.ask('go', {
    allowedTools: ['Bash'],
    hooks: {
      PreToolUse: [{ onFailure, hooks: [async () => Promise.reject(new Error('broken'))] }],
      PostToolUse: [
        {
          hooks: [
            async () => {
              ran += 1;
              return {};
            },
          ],
        },
      ],
    },
  });
  expect(ran).toBe(count);
});

test('the models of all configured providers can be selected', async () => {
  await host.api();
  await using local = await startJsonServer({ '/v1/models': { data: [{ id: 'tiny' }] } });
  const settings = { providers: { mine: { baseUrl: `${local.url}/v1`, apiKey: 'k' } } };
  await mkdir(join(host.root, '.ouro'), { recursive: true });
  await writeFile(join(host.root, '.ouro/settings.json'), JSON.stringify(settings));
  const models = await asked({}, (running) => running.supportedModels());
  expect(models[0]).toMatchObject({ value: 'default' });
  expect(models.map(({ value }) => value)).toEqual(expect.arrayContaining(['claude-sonnet-5-5', 'mine/tiny']));
});
