import { expect, test } from 'vitest';
import type { CliRunOptions } from '../../src/contracts/frontend/cli-run-options.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

const head = (name: string, words: string) => `---\nname: ${name}\ndescription: ${words}\n---\n${words}`;
const runs = (command: string) => [{ hooks: [{ type: 'command', command }] }];

/** Everything by which a folder could say something; each says a word that can be found again. */
const FOLDER = {
  'CLAUDE.md': 'M-CLAUDE @imported.md',
  'imported.md': 'M-IMPORTED',
  'AGENTS.md': 'M-AGENTS',
  'CLAUDE.local.md': 'M-LOCAL',
  '.claude/rules/r.md': 'M-RULE',
  '.claude/commands/go.md': head('go', 'M-COMMAND'),
  '.claude/skills/s/SKILL.md': head('s', 'M-SKILL'),
  '.agents/skills/t/SKILL.md': head('t', 'M-OTHER-SKILL'),
  '.claude/agents/a.md': head('a', 'M-AGENT'),
  '.claude/output-styles/o.md': head('o', 'M-STYLE'),
  '.claude/settings.json': JSON.stringify({
    ...{ outputStyle: 'o', language: 'M-LANGUAGE', env: { SAID: 'M-VARIABLE' } },
    hooks: { SessionStart: runs('echo M-START'), UserPromptSubmit: runs('echo M-PROMPT') },
  }),
  '.claude/settings.local.json': JSON.stringify({ hooks: { UserPromptSubmit: runs('echo M-MINE') } }),
};

/** What reaches the model, and what the person is told, when somebody asks in this folder. */
async function received(options: Partial<CliRunOptions>) {
  await using project = await createTempProject(FOLDER);
  await using server = await startApiServer({ turns: () => says('ok') });
  const made = await composed(project, server.url, { trust: undefined, ...options });
  await made.conversation.agent.prompt('hello');
  const { warnings, instructions } = made.conversation.info();
  await made.close();
  const raw = server.requests().map((request) => request.raw);
  return {
    marks: [...new Set(raw.join('\n').match(/M-[A-Z-]+/g))],
    instructions,
    said: warnings.filter((words) => words.includes('not read')),
  };
}

const FACES = ['screen', 'print', 'host', 'editor'] as const;
const NAMED = 'CLAUDE.md, AGENTS.md, CLAUDE.local.md, .claude/rules/r.md';

test.each(someOf(FACES))('an untrusted folder has no effect, and the output says so: %s', async (frontend) => {
  expect(await received({ frontend })).toEqual({
    marks: [],
    instructions: [],
    said: [
      `This folder is not trusted, so its instructions are not read (${NAMED}). Run "ouro trust" to trust it, or pass --trust for one run.`,
    ],
  });
  expect(await received({ frontend, settingSources: [] })).toEqual({
    marks: [],
    instructions: [],
    said: [
      `This folder is not trusted, and --setting-sources excludes project settings, so its instructions are not read (${NAMED}).`,
    ],
  });
});

test.each(someOf(FACES.toReversed()))(
  'where no setting source applies, a trusted folder is not mentioned either: %s',
  async (frontend) => {
    const none: Partial<CliRunOptions> = { frontend, trust: 'this-run' };
    for (const settingSources of [[], ['user']]) {
      expect(await received({ ...none, settingSources })).toEqual({ marks: [], instructions: [], said: [] });
    }
    const all = await received(none);
    expect(all.marks).toEqual(
      expect.arrayContaining(['M-CLAUDE', 'M-IMPORTED', 'M-RULE', 'M-SKILL', 'M-PROMPT', 'M-MINE']),
    );
    expect(all.instructions).toEqual(NAMED.split(', '));
  },
);
