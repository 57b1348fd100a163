import { expect, test } from 'vitest';
import { createSkillTool } from '../../../src/tools/skill/skill.ts';
import { callTool } from '../../support/call-tool.ts';

const tool = createSkillTool({
  find: async (name) => (name === 'release' ? { name, text: 'First tag.', folder: '/skills/release' } : undefined),
  names: () => ['release'],
});

test('the text of a skill comes with its folder and what it was given', async () => {
  const { content } = await callTool(tool, { name: 'release', args: 'v2' });
  expect(content).toContain('/skills/release');
  expect(content).toMatch(/First tag\.\n\nArguments: v2$/);
});

test('the older name of the parameter is understood', async () => {
  expect((await callTool(tool, { skill: 'release' })).content).toContain('First tag.');
});

test('an unknown skill names those there are', async () => {
  await expect(callTool(tool, { name: 'deploy' })).rejects.toThrow('There are: release.');
});
