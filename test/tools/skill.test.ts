import { expect, test } from 'vitest';
import { createSkillTool } from '../../src/tools/skill.ts';
import { callTool } from '../support/call-tool.ts';

const tool = createSkillTool({
  loadSkill: async (name, args) => (name === 'release' ? { content: `First tag ${args}.` } : undefined),
  listNames: () => ['release'],
});

test('a skill returns its text with its arguments', async () => {
  expect((await callTool(tool, { name: 'release', args: 'v2' })).content).toBe('First tag v2.');
});

test('the older name of the parameter is accepted', async () => {
  expect((await callTool(tool, { skill: 'release' })).content).toBe('First tag .');
});

test('an unknown skill is answered with the existing ones', async () => {
  await expect(callTool(tool, { name: 'deploy' })).rejects.toThrow('There are: release.');
});
