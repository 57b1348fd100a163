import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { createTempProject } from '../support/temp-project.ts';

/** A variable of a shell or of a plugin. */
const ref = (name: string) => ['$', `{${name}}`].join('');
const hook = (command: string): JsonObject => ({ SessionStart: [{ hooks: [{ type: 'command', command }] }] });

test('scripts and files of plugins, skills and hooks are found below folders with blanks, without quotes around them', async () => {
  const parent = join(createTempFolder(), 'the home of Zoë');
  await mkdir(parent);
  await using project = await createTempProject({}, parent);
  const inKit = ref('CLAUDE_PLUGIN_ROOT');
  const body = `Ran: !\`${inKit}/say.sh\`, noted: @${inKit}/notes.md, !\`cat "${ref('CLAUDE_SKILL_DIR')}/own.md"\` @"my notes.md"`;
  const kit: Readonly<Record<string, string>> = {
    '.claude-plugin/plugin.json': JSON.stringify({
      name: 'kit',
      monitors: [{ name: 'poll', command: `until [ -e go ]; do sleep 0.05; done; ${inKit}/say.sh` }],
    }),
    'hooks/hooks.json': JSON.stringify({ hooks: hook(`${inKit}/say.sh > "$CLAUDE_PROJECT_DIR/plugin hook"`) }),
    'skills/tell/SKILL.md': `---\nname: tell\ndescription: Tells\nallowed-tools: Bash\n---\n${body}`,
    'skills/tell/own.md': 'beside the skill',
    'notes.md': 'of the plugin',
  };
  for (const [path, text] of Object.entries(kit)) await project.write(`../a kit/${path}`, text);
  for (const path of ['../a kit/say.sh', 'say.sh'])
    await chmod(await project.write(path, `#!/bin/sh\necho said in "$(basename "$(dirname "$0")")"\n`), 0o755);
  await project.write('my notes.md', 'of the user');
  const settings = JSON.stringify({ hooks: hook('$CLAUDE_PROJECT_DIR/say.sh > hook') });
  await project.write('.claude/settings.json', settings);
  await using server = await startApiServer({ turns: () => says('Done.') });
  const made = await composed(project, server.url, {
    pluginDirs: [{ folder: join(project.dir, '../a kit'), servers: 'started' }],
    frontend: 'screen',
    allowedTools: ['Read'],
  });
  const outcome = await made.conversation.runCommand('kit:tell');
  if (outcome.kind !== 'prompt') throw new Error(outcome.kind);
  await made.conversation.agent.prompt(outcome.blocks);
  const sent = server.requests()[0]?.raw ?? '';
  for (const text of ['Ran: said in a kit', 'of the plugin', 'beside the skill', 'of the user'])
    expect(sent).toContain(text);
  expect(await project.read('plugin hook')).toBe('said in a kit\n');
  expect(await project.read('hook')).toBe('said in project\n');
  await project.write('go', '');
  await vi.waitFor(() => expect(JSON.stringify(made.events)).toContain('said in a kit'));
  await made.close();
});
