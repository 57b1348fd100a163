import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EventBus } from '../../../src/app/core.ts';
import { createMentionExpander } from '../../../src/app/loop/mention-expander.ts';
import { createSessionPermissions } from '../../../src/app/permissions/session-permissions.ts';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { CliRunOptions } from '../../../src/contracts/frontend/cli-run-options.ts';
import { testCore } from '../../support/core.ts';
import { runOptions } from '../../support/run-options.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

/** As much of a picture as tells how large it is. */
const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from([0, 0, 0, 2, 0, 0, 0, 3, 8, 6, 0, 0, 0]),
]);

async function mentions(project: TempProject, frontend: CliRunOptions['frontend']) {
  const reported: AgentEvent[] = [];
  const core = await testCore(project, {
    options: runOptions({ cwd: project.dir, frontend }),
    live: { cwd: `${project.dir}/deep` },
  });
  const bus: EventBus = { ...core.bus, emit: async (event: AgentEvent) => void reported.push(event) };
  const permissions = createSessionPermissions(core, { sessionFolder: project.home });
  return {
    ...createMentionExpander({ ...core, bus }, { permissions, mcp: { readMention: async () => undefined } }),
    reported,
  };
}

test('images and documents are attached to a prompt, and paths are relative to the folder of the session', async () => {
  await using project = await createTempProject({ 'deep/a.md': 'deep down', 'b.pdf': '%PDF-1.4 /Type /Page' });
  await writeFile(join(project.dir, 'a.png'), PNG);
  const { expandPrompt } = await mentions(project, 'host');
  const prompt = await expandPrompt('compare @a.png with @b.pdf and @deep/a.md');
  expect(typeof prompt === 'string' ? [] : prompt.map(({ type }) => type)).toEqual([
    'text',
    'text',
    'image',
    'text',
    'document',
    'text',
  ]);
  expect(JSON.stringify(prompt)).toContain(PNG.toString('base64'));
  expect(JSON.stringify(prompt)).toContain('deep down');
});

test('a mention that does not exist is reported before sending; on a screen it is asked about first', async () => {
  await using project = await createTempProject();
  const words = 'read @src/gone.ts#L3';
  const host = await mentions(project, 'host');
  expect(await host.expandPrompt(words)).toBe(words);
  expect(host.reported).toEqual([
    { type: 'notice', level: 'warn', topic: 'mention', text: '@src/gone.ts#L3 was not found.' },
  ]);
  const screen = await mentions(project, 'screen');
  await screen.expandPrompt(words);
  expect(screen.reported).toEqual([]);
  expect(await screen.listUnresolvedMentions(words)).toEqual(['@src/gone.ts#L3 was not found.']);
});
