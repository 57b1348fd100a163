import { expect, test } from 'vitest';
import { createSkillTool } from '../../../src/tools/skill/skill.ts';
import { callTool } from '../../support/call-tool.ts';

const tool = createSkillTool({
  open: async (name, args) => (name === 'release' ? { content: `First tag ${args}.` } : undefined),
  names: () => ['release'],
});

test('a skill says its words with what it was given', async () => {
  expect((await callTool(tool, { name: 'release', args: 'v2' })).content).toBe('First tag v2.');
});

test('the older name of the parameter is understood', async () => {
  expect((await callTool(tool, { skill: 'release' })).content).toBe('First tag .');
});

test('an unknown skill names those there are', async () => {
  await expect(callTool(tool, { name: 'deploy' })).rejects.toThrow('There are: release.');
});
