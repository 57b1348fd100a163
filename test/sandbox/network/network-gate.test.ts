import { expect, test } from 'vitest';
import type { PermissionAnswer, PermissionMode, PermissionRequest } from '../../../src/contracts/permission.ts';
import type { SandboxSettings } from '../../../src/contracts/settings.ts';
import { createPermissionPolicySource } from '../../../src/permissions/permission-policy-source.ts';
import { createNetworkGate } from '../../../src/sandbox/network/network-gate.ts';
import { testCore } from '../../support/core.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

type Given = {
  readonly settings?: SandboxSettings;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly mode?: PermissionMode;
  readonly canAsk?: boolean;
  readonly answer?: (request: PermissionRequest) => PermissionAnswer;
};

/** A gate with these rules, and what it asks. */
async function gateOf(project: TempProject, given: Given) {
  const { settings = {}, allow = [], deny = [], mode = 'default', canAsk = true, answer } = given;
  const core = await testCore(project);
  const asked: PermissionRequest[] = [];
  const granted: string[] = [...allow];
  const { getPolicy } = createPermissionPolicySource({
    options: { allowedTools: granted, disallowedTools: deny, addDirs: [] },
    environment: core.environment,
    cwd: project.dir,
    trusted: true,
    getLoadedSettings: core.settings.loaded,
    getLive: () => ({ mode, grants: granted.map((rule) => ({ rule, behavior: 'allow' as const })), directories: [] }),
    canBypass: true,
  });
  const gate = createNetworkGate({
    getSettings: () => settings,
    getPolicy,
    canAsk,
    async askUser(request) {
      asked.push(request);
      return answer?.(request) ?? { behavior: 'deny' };
    },
    rememberRules: async (rules) => void granted.push(...rules),
    changeMode: () => undefined,
    newId: core.newId,
  });
  const caller = (id = 'call') => ({ id, command: 'npm ci', cwd: project.dir, signal: new AbortController().signal });
  return { gate, asked, caller, ask: (host: string, port = 443) => gate(caller(), { host, port }) };
}

test.each([
  ['a host of the settings', { settings: { allowedDomains: ['*.npmjs.org'] } }, true],
  ['a rule of hosts', { allow: ['WebFetch(domain:registry.npmjs.org)'] }, true],
  ['a rule of hosts below', { allow: ['WebFetch(domain:*.npmjs.org)'] }, true],
  ['a mode that asks nothing', { mode: 'bypassPermissions' }, true],
  ['a rule about the tool as a whole', { allow: ['WebFetch'], canAsk: false }, false],
  ['nobody to ask', { canAsk: false }, false],
  ['mode dontAsk', { mode: 'dontAsk' }, false],
  ['mode plan', { mode: 'plan' }, false],
  ['a list that is strict', { settings: { strictAllowlist: true } }, false],
  ['a denied host', { settings: { allowedDomains: ['*'], deniedDomains: ['npmjs.org'] } }, false],
  ['a denied port', { settings: { allowedDomains: ['*'], deniedDomains: ['*:443'] } }, false],
  ['a rule that denies', { settings: { allowedDomains: ['*'] }, deny: ['WebFetch(domain:npmjs.org)'] }, false],
  ['a denial where nothing is asked', { mode: 'bypassPermissions', deny: ['WebFetch(domain:npmjs.org)'] }, false],
] as const satisfies readonly (readonly [string, Given, boolean])[])(
  '%s is answered without a question',
  async (_, given, ok) => {
    await using project = await createTempProject();
    const { ask, asked } = await gateOf(project, given);
    expect([(await ask('registry.npmjs.org')).ok, asked.length]).toEqual([ok, 0]);
  },
);

test.each([
  ['this program', 'Outside(npm:* host:registry.npmjs.org)', true],
  ['this program, by a star', 'Outside(npm:* host:*.npmjs.org)', true],
  ['these words and this port', 'Outside(npm ci host:registry.npmjs.org:443)', true],
  ['every command', 'Outside(host:registry.npmjs.org)', true],
  ['another program', 'Outside(yarn:* host:registry.npmjs.org)', false],
  ['another port', 'Outside(npm:* host:registry.npmjs.org:80)', false],
  ['another host', 'Outside(npm:* host:npmjs.org)', false],
  ['a place', 'Outside(npm:* write:~/registry.npmjs.org)', false],
  ['leaving wholly', 'Outside(npm:*)', false],
  ['everything', 'Outside', false],
])('a rule opens a host to %s', async (_, rule, ok) => {
  await using project = await createTempProject();
  for (const mode of ['default', 'dontAsk'] as const) {
    const { ask } = await gateOf(project, { allow: [rule], mode });
    expect([mode, (await ask('registry.npmjs.org')).ok]).toEqual([mode, ok]);
  }
  const denied = await gateOf(project, {
    allow: ['Outside(host:*.npmjs.org)', 'WebFetch(domain:*.npmjs.org)'],
    deny: [rule],
  });
  // A denial is meant widely: what is below the host, too.
  const isDenied = ok || rule === 'Outside(npm:* host:npmjs.org)';
  expect((await denied.ask('registry.npmjs.org')).ok).toBe(!isDenied);
  const closed = await gateOf(project, { allow: ['Outside(host:127.0.0.1)'] });
  expect((await closed.ask('127.0.0.1')).ok).toBe(false);
});

test('a host can be opened to one program only, where the command is certain', async () => {
  await using project = await createTempProject();
  const { asked, ask } = await gateOf(project, { answer: () => ({ behavior: 'deny' }) });
  await ask('a.test');
  expect(asked[0]?.ofPrograms).toEqual({ names: ['npm'], rules: ['Outside(npm:* host:a.test)'] });
});

test.each(['localhost', '127.0.0.1', '10.0.0.1', '169.254.169.254', 'db.internal', 'router', '::1'])(
  '%s is not asked about: it is in the settings or refused',
  async (host) => {
    await using project = await createTempProject();
    for (const mode of ['default', 'bypassPermissions'] as const) {
      const { ask, asked } = await gateOf(project, { mode, allow: [`WebFetch(domain:${host})`] });
      expect([(await ask(host)).ok, asked.length]).toEqual([false, 0]);
    }
    const named = host.includes(':') ? `[${host}]` : host;
    const { ask } = await gateOf(project, { settings: { allowedDomains: [named] } });
    expect((await ask(host)).ok).toBe(true);
  },
);

test('a new host is asked about once per command, with the command and the rule that would allow it', async () => {
  await using project = await createTempProject();
  const { gate, asked, caller } = await gateOf(project, { answer: () => ({ behavior: 'allow' }) });
  const one = caller();
  const goal = { host: 'registry.npmjs.org', port: 443 };
  const both = await Promise.all([gate(one, goal), gate(one, goal), gate(one, goal)]);
  expect(both.every(({ ok }) => ok)).toBe(true);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({
    callId: 'call',
    title: 'registry.npmjs.org:443',
    facts: { kind: 'fetch', command: 'npm ci', url: 'https://registry.npmjs.org:443/' },
    suggestions: [{ rule: 'WebFetch(domain:registry.npmjs.org)' }],
  });
  await gate(caller('next'), goal);
  expect(asked).toHaveLength(2);
});

test('"no" applies to the command, "always" to all later ones, and waiting ones are settled', async () => {
  await using project = await createTempProject();
  const refusing = await gateOf(project, { answer: () => ({ behavior: 'deny', message: 'not today' }) });
  const one = refusing.caller();
  const goal = { host: 'a.test', port: 80 };
  expect(await refusing.gate(one, goal)).toEqual({ ok: false, problem: 'the user refused it and says: not today' });
  expect(await refusing.gate(one, goal)).toEqual({ ok: false, problem: 'the user refused it and says: not today' });
  expect(refusing.asked).toHaveLength(1);
  const always = await gateOf(project, {
    answer: ({ suggestions }) => ({
      behavior: 'allow',
      remember: { rules: suggestions.map(({ rule }) => rule), destination: 'session' },
    }),
  });
  const all = await Promise.all(['x', 'y', 'z'].map((id) => always.gate(always.caller(id), goal)));
  expect([all.every(({ ok }) => ok), always.asked.length]).toEqual([true, 1]);
});
