import { expect, test } from 'vitest';
import { withFaults } from '../../src/model/with-faults.ts';
import { checkAgent } from '../../src/sdk/agent/check-agent.ts';
import { createAgent, resumeAgent } from '../../src/sdk/agent/create-agent.ts';
import { connectMcp } from '../../src/sdk/mcp.ts';
import { connectAgent } from '../../src/sdk/remote/connect-agent.ts';
import { serveAgent } from '../../src/sdk/remote/serve-agent.ts';
import { openSession } from '../../src/sdk/session.ts';
import { buildApplicationTool } from '../../src/tools/definition/application-tool.ts';
import { scripted } from '../support/loop/scripted.ts';

const { model } = scripted([]);
const agent = createAgent({ model });

/** Calls a function as an application without types may. */
const call = async (target: (...args: never[]) => unknown, args: readonly unknown[]) =>
  Reflect.apply(target, undefined, args);

test.each<[string, (...args: never[]) => unknown, readonly unknown[], string]>([
  ['openSession', openSession, [], 'openSession: the argument: must be an object.'],
  ['openSession', openSession, ['./x'], 'openSession: the argument: must be an object.'],
  ['connectAgent', connectAgent, [], 'connectAgent: undefined is not a URL.'],
  ['connectAgent', connectAgent, ['not a url'], 'connectAgent: "not a url" is not a URL.'],
  ['connectAgent', connectAgent, ['http://127.0.0.1', { tokn: 'x' }], 'unknown field "tokn". Did you mean "token"?'],
  ['serveAgent', serveAgent, [], 'serveAgent: the argument: must be an object.'],
  ['serveAgent', serveAgent, [agent, { tokn: 'x' }], 'Did you mean "token"?'],
  ['resumeAgent', resumeAgent, [], 'resumeAgent: the argument: must be an object.'],
  ['resumeAgent', resumeAgent, ['x', { answer: true }], 'resumeAgent: the capsule is not JSON.'],
  ['withFaults', withFaults, [], 'withFaults: pass a port'],
  ['withFaults', withFaults, [model, 'hangs'], 'the plan must be a list of faults'],
  ['withFaults', withFaults, [model, ['explodes']], 'unknown fault explodes'],
  ['checkAgent', checkAgent, [], 'checkAgent: pass a function that creates the agent.'],
  ['connectMcp', connectMcp, [], 'connectMcp: the argument: must be an object.'],
  ['connectMcp', connectMcp, [{ servers: { a: {} } }], 'servers.a: a server needs a command or a url.'],
  ['buildTool', buildApplicationTool, [], 'buildTool: pass a definition'],
  ['buildTool', buildApplicationTool, ['x'], 'buildTool: pass a definition'],
  ['answerPermission', agent.answerPermission, ['x', 'perhaps'], 'answerPermission: answer must be true, false'],
  ['setQueueMode', agent.setQueueMode, ['steering', 'all'], "the queue must be 'next' or 'after'"],
  ['setQueueMode', agent.setQueueMode, ['next', 'some'], "the mode must be 'all' or 'one-at-a-time'"],
])('%s refuses a wrong argument by name', async (_, target, args, words) => {
  await expect(call(target, args)).rejects.toThrow(words);
});

test('a check without an agent is refused', async () => {
  const report = await checkAgent(() => Reflect.get(globalThis, 'nothing'));
  expect(report.checks[0]).toMatchObject({ ok: false, problem: 'make() returned no agent' });
});
