import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ApiTurn, calls, hang, says, toolUse } from '../../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../../support/api/server.ts';
import { type Composed, composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;
let opened: Composed[] = [];

beforeEach(async () => {
  project = await createTempProject();
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await server.close();
  await project.remove();
});

async function open(turns: readonly ApiTurn[] = [], wanted?: string): Promise<Composed> {
  if (wanted === undefined) server = await startApiServer({ turns });
  const session =
    wanted === undefined ? ({ kind: 'new' } as const) : ({ kind: 'resume', wanted, fork: 'same' } as const);
  const made = await composed(project, server.url, { session, frontend: 'screen', allowedTools: ['Bash(sleep:*)'] });
  opened.push(made);
  return made;
}

async function resumed(before: Composed): Promise<Composed> {
  await before.close();
  opened = opened.filter((one) => one !== before);
  return open([], before.conversation.agent.sessionId);
}

test('a resumed session shows its cost, context usage and timeline', async () => {
  const first = await open([says('one'), says('two')]);
  await first.conversation.agent.prompt('go');
  await first.conversation.agent.prompt('on');
  const cost = first.conversation.usage().costUsd;
  const tokens = first.conversation.info().contextTokens;
  const again = await resumed(first);
  expect(again.conversation.info()).toMatchObject({ earlierCostUsd: cost, contextTokens: tokens });
  expect(tokens).toBeGreaterThan(0);
  const timeline = await again.command('timeline');
  expect(timeline).toMatch(/\| 1 [\s\S]*\| 2 /);
  expect(timeline).toContain('the session was resumed');
  const third = await resumed(again);
  expect(third.conversation.info().earlierCostUsd).toBe(cost);
});

test('a resumed session reports once which background work ended with the previous run', async () => {
  const first = await open([
    calls(toolUse('Bash', { command: 'sleep 300', run_in_background: true })),
    says('It runs.'),
  ]);
  await first.conversation.agent.prompt('go');
  const again = await resumed(first);
  const words = 'Ended with the last run of this session: sleep 300.';
  expect(again.conversation.info().warnings).toContain(words);
  await again.conversation.agent.prompt('and now');
  expect(server.requests().at(-1)?.raw).toContain(words);
  const third = await resumed(again);
  expect(third.conversation.info().warnings).not.toContain(words);
});

longTest('background work is also reported when a reply was still being written', async () => {
  const first = await open([
    calls(toolUse('Bash', { command: 'sleep 300', run_in_background: true })),
    says('It runs.'),
    hang(),
  ]);
  await first.conversation.agent.prompt('go');
  const cut = first.conversation.agent.prompt('and now');
  await server.waitForRequest(3);
  const again = await resumed(first);
  await cut;
  expect(again.conversation.info().warnings).toContain('Ended with the last run of this session: sleep 300.');
});

test('a resumed session knows what was refused, with the user’s words', async () => {
  const first = await open([calls(toolUse('Bash', { command: 'make all' }, 'c1')), says('Then not.')]);
  const { agent } = first.conversation;
  const running = agent.prompt('build');
  await vi.waitFor(() => expect(agent.state().pendingPermissions).toHaveLength(1));
  const [asked] = agent.state().pendingPermissions;
  agent.answerPermission(asked?.id ?? '', { behavior: 'deny', message: 'use ninja instead' });
  await running;
  const again = await resumed(first);
  expect(again.conversation.info().permissionDenials).toMatchObject([
    {
      tool: 'Bash',
      callId: 'c1',
      input: { command: 'make all' },
      reason: 'The user refused this call; nothing was run or changed. They say: use ninja instead',
    },
  ]);
});

test('/clear starts a new conversation without tasks; the old session can be resumed', async () => {
  const todos = [{ content: 'Build', status: 'pending', activeForm: 'Building' }];
  const first = await open([calls(toolUse('TodoWrite', { todos })), says('Planned.')]);
  await first.conversation.agent.prompt('plan it');
  expect(first.conversation.info().todos).toHaveLength(1);
  expect(await first.command('clear')).toBe('New conversation started. /resume reopens the old one.');
  expect(first.conversation.info().todos).toEqual([]);
  const [old] = (await first.conversation.sessions?.()) ?? [];
  expect(old?.label).toContain('plan it');
  const back = await open([], old?.id ?? '');
  expect(JSON.stringify(back.conversation.agent.state().messages)).toContain('Planned.');
  expect(back.conversation.info().todos).toHaveLength(1);
  expect(await first.command('clear')).toBe('New conversation started.');
});

test('skills, commands and sub-agents written during a run can be used in it', async () => {
  const write = (path: string, content: string, id: string) => toolUse('Write', { file_path: path, content }, id);
  const made = await open([
    calls(
      write('.claude/skills/greet/SKILL.md', '---\nname: greet\ndescription: greets\n---\nSay ahoy.', 't1'),
      write('.claude/agents/scout.md', '---\nname: scout\ndescription: looks ahead\n---\nLook.', 't2'),
      write('.claude/commands/ship.md', 'Ship it.', 't3'),
    ),
    calls(toolUse('Skill', { skill: 'greet' }, 't4')),
    says('Ahoy.'),
  ]);
  const { agent, setMode } = made.conversation;
  setMode('acceptEdits');
  agent.subscribe((event) => {
    if (event.type === 'permission_request') agent.answerPermission(event.request.id, { behavior: 'allow' });
  });
  await agent.prompt('make them');
  const [, second, third] = server.requests();
  expect(second?.raw).toMatch(/New or changed skills:[^"]*greet/);
  expect(second?.raw).toMatch(/New or changed kinds of sub-agents:[^"]*scout/);
  expect(JSON.stringify(second?.body.tools)).toContain('"name":"Skill"');
  expect(third?.raw).toContain('Say ahoy.');
  expect(await made.command('ship')).toBe('prompt');
});
