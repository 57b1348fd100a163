import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { Conversation } from '../../src/contracts/frontend/conversation.ts';
import { SETTING_KEYS } from '../../src/contracts/setting-keys.ts';
import type { SandboxSettings, Settings } from '../../src/contracts/settings.ts';
import { type ApiTurn, calls, says, status, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { someOf } from '../support/runs.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** A server with one tool that never answers. */
const SILENT = `
import { createInterface } from 'node:readline';
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
  if (method === 'tools/list') answer(id, { tools: [{ name: 'nod', inputSchema: { type: 'object' } }] });
}
`;

/** A conversation that goes on while its settings are edited. */
type Talk = {
  readonly project: TempProject;
  readonly conversation: Conversation;
  /** Writes the person's settings. */
  readonly edit: (settings: Settings) => Promise<void>;
  /** One prompt, what the API answers to it, and what became of it: each request and event. */
  readonly ask: (...turns: readonly ApiTurn[]) => Promise<Asked>;
};
type Asked = {
  readonly last: string;
  readonly models: readonly (string | undefined)[];
  readonly events: readonly AgentEvent[];
  /** This run cannot ask for approval: what would ask is refused. */
  readonly wasRefused: boolean;
};

/** Allows a command that changes something: those that only read run in a sandbox of their own. */
const TOUCH = { allow: ['Bash(touch:*)'] };

async function talking(act: (talk: Talk) => Promise<void>): Promise<void> {
  await using project = await createTempProject({ 'silent.mjs': SILENT, 'a.txt': 'alpha\n' });
  const bin = join(project.home, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'bwrap'), '#!/bin/sh\necho "BOXED $BUILD_TOKEN $*"\n');
  await chmod(join(bin, 'bwrap'), 0o755);
  let waiting: ApiTurn[] = [];
  await using server = await startApiServer({
    turns: () => waiting.shift() ?? says('Fine.'),
    // Who judges in mode auto.
    side: ({ raw }) => (raw.includes('You decide whether one tool call') ? says('ALLOW: it was asked for') : undefined),
  });
  const variables = { OURO_RETRY_BASE_MS: '', BUILD_TOKEN: 'for-builds', PATH: `${bin}:/usr/bin:/bin` };
  const made = await composed(project, server.url, {}, variables);
  const { agent } = made.conversation;
  try {
    await act({
      project,
      conversation: made.conversation,
      async edit(settings) {
        await mkdir(project.ouroHome, { recursive: true });
        await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify(settings));
      },
      async ask(...turns) {
        waiting = [...turns];
        const [sent, reported] = [server.requests().length, made.events.length];
        await agent.prompt('Go on.');
        const requests = server.requests().slice(sent);
        const events = made.events.slice(reported);
        return {
          last: requests.at(-1)?.raw ?? '',
          models: requests.map(({ body }) => body.model),
          events,
          wasRefused: events.some((event) => event.type === 'permission_decision' && event.verdict === 'deny'),
        };
      },
    });
  } finally {
    await made.close();
  }
}

const run = (command: string) => calls(toolUse('Bash', { command }));
const words = (events: readonly AgentEvent[]) => JSON.stringify(events);
const hook = (command: string): Settings => ({
  hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] },
});
/** Its library is outside the workspace, which the sandbox of servers does not show. */
const silent = ({ project }: Talk) => ({
  ...{ command: process.execPath, args: [join(project.dir, 'silent.mjs')], sandbox: 'off' as const },
});
const servers = ({ conversation }: Talk) =>
  conversation.info().mcpServers.map(({ name, status: is }) => `${name} ${is}`);
const never = new Promise<never>(() => undefined);
/** What shows that an edit of each key counts from the next prompt on. */
const CASES: Readonly<Record<string, (talk: Talk) => Promise<void>>> = {
  async model({ ask, edit, conversation }) {
    expect((await ask()).models).toEqual(['claude-sonnet-5-5']);
    await edit({ model: 'opus' });
    expect((await ask()).models).toEqual(['claude-opus-5-5']);
    await conversation.setModel('sonnet');
    await edit({ model: 'fable' });
    expect((await ask()).models).toEqual(['claude-sonnet-5-5']);
  },
  async wakeOnBackground({ ask, edit, conversation }) {
    const inBackground = calls(toolUse('Bash', { command: 'touch b && sleep 0.3', run_in_background: true }));
    const allowed = { permissions: { allow: ['Bash(touch:*)', 'Bash(sleep:*)'] } };
    const seen: string[] = [];
    conversation.agent.subscribe((event) => {
      seen.push(event.type === 'background' ? event.state : event.type);
    });
    const count = (what: string) => seen.filter((one) => one === what).length;
    await edit(allowed);
    await ask(inBackground);
    await expect.poll(() => count('agent_end')).toBe(2);
    await edit({ ...allowed, wakeOnBackground: false });
    await ask(inBackground);
    await expect.poll(() => count('completed')).toBe(2);
    await conversation.agent.waitForIdle();
    expect(count('agent_start')).toBe(3);
  },
  async effort({ ask, edit }) {
    expect((await ask()).last).not.toContain('"effort":"high"');
    await edit({ effort: 'high' });
    expect((await ask()).last).toContain('"effort":"high"');
  },
  async formatter({ ask, edit, project }) {
    const write = (text: string) =>
      calls(toolUse('Write', { file_path: join(project.dir, `${text}.txt`), content: text }));
    await edit({ permissions: { defaultMode: 'acceptEdits', allow: ['Write'] } });
    await ask(write('x'));
    await edit({ permissions: { allow: ['Write'] }, formatter: 'sed -i s/b/formatted/' });
    await ask(write('b'));
    expect([await project.read('x.txt'), await project.read('b.txt')]).toEqual(['x', 'formatted']);
  },
  async linter({ ask, edit, project }) {
    const write = (text: string) =>
      calls(toolUse('Write', { file_path: join(project.dir, `${text}.txt`), content: text }));
    await edit({ permissions: { defaultMode: 'acceptEdits', allow: ['Write'] } });
    await ask(write('x'));
    await edit({ permissions: { allow: ['Write'] }, linter: 'sed -i s/b/fixed/' });
    await ask(write('b'));
    expect([await project.read('x.txt'), await project.read('b.txt')]).toEqual(['x', 'fixed']);
  },
  async projectPrograms({ ask, edit, project }) {
    const offer = /Known by name: [^"]*\bLSP\b/;
    await chmod(await project.write('node_modules/.bin/pyright-langserver', '#!/bin/sh\n'), 0o755);
    expect((await ask()).last).not.toMatch(offer);
    await edit({ projectPrograms: true });
    expect((await ask()).last).toMatch(offer);
  },
  async languageServers({ ask, edit }) {
    const offer = /Known by name: [^"]*\bLSP\b/;
    expect((await ask()).last).not.toMatch(offer);
    await edit({ languageServers: { words: { command: 'words', extensionToLanguage: { '.word': 'words' } } } });
    expect((await ask()).last).toMatch(offer);
  },
  async fallbackModels({ ask, edit }) {
    await edit({ maxRetries: 0 });
    expect((await ask(status(529))).models).toEqual(['claude-sonnet-5-5']);
    await edit({ maxRetries: 0, fallbackModels: ['opus'] });
    expect((await ask(status(529))).models).toEqual(['claude-sonnet-5-5', 'claude-opus-5-5']);
  },
  async language({ ask, edit }) {
    expect((await ask()).last).not.toContain('Answer in this language');
    await edit({ language: 'Italian' });
    expect((await ask()).last).toContain('whatever language the question is in: Italian.');
  },
  async outputStyle({ ask, edit, project }) {
    await project.write('../home/.ouro/output-styles/telegram.md', 'Answer like a telegram.');
    await ask();
    await edit({ outputStyle: 'telegram' });
    expect((await ask()).last).toContain('Answer like a telegram.');
  },
  async 'permissions.allow'({ ask, edit }) {
    expect((await ask(run('touch b'))).wasRefused).toBe(true);
    await edit({ permissions: { allow: ['Bash(touch:*)'] } });
    expect((await ask(run('touch b'))).wasRefused).toBe(false);
  },
  async 'permissions.ask'({ ask, edit }) {
    await edit({ permissions: TOUCH });
    expect((await ask(run('touch b'))).wasRefused).toBe(false);
    await edit({ permissions: { ...TOUCH, ask: ['Bash(touch:*)'] } });
    expect((await ask(run('touch b'))).wasRefused).toBe(true);
  },
  async 'permissions.deny'({ ask, edit }) {
    await edit({ permissions: TOUCH });
    expect((await ask(run('touch b'))).wasRefused).toBe(false);
    await edit({ permissions: { ...TOUCH, deny: ['Bash(touch:*)'] } });
    expect(words((await ask(run('touch b'))).events)).toContain('Bash(touch:*)');
  },
  async 'permissions.additionalDirectories'({ ask, edit, project }) {
    const file = await project.write('../elsewhere/b.txt', 'beta\n');
    const read = calls(toolUse('Read', { file_path: file }));
    expect((await ask(read)).wasRefused).toBe(true);
    await edit({ permissions: { additionalDirectories: [join(project.dir, '../elsewhere')] } });
    expect((await ask(calls(toolUse('Read', { file_path: file })))).wasRefused).toBe(false);
  },
  async 'sandbox.enabled'({ ask, edit }) {
    await edit({ permissions: TOUCH });
    expect((await ask(run('touch b'))).last).not.toContain('BOXED');
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).toContain('BOXED');
  },
  async 'autoMode.maxInARow'({ ask, edit, conversation }) {
    await conversation.setMode('auto');
    const two = calls(toolUse('Bash', { command: 'make b' }), toolUse('Bash', { command: 'make c' }));
    expect((await ask(two)).wasRefused).toBe(false);
    await edit({ autoMode: { maxInARow: 1 } });
    expect((await ask(two)).wasRefused).toBe(true);
  },
  async 'autoMode.maxUsd'({ ask, edit, conversation }) {
    await conversation.setMode('auto');
    expect((await ask(run('make b'))).wasRefused).toBe(false);
    await edit({ autoMode: { maxUsd: 1e-6 } });
    expect((await ask(run('make c'))).wasRefused).toBe(true);
  },
  async 'sandbox.autoAllow'({ ask, edit }) {
    await edit({ sandbox: { enabled: true } });
    expect((await ask(run('touch b.txt'))).wasRefused).toBe(true);
    await edit({ sandbox: { enabled: true, autoAllow: true } });
    expect((await ask(run('touch b.txt'))).wasRefused).toBe(false);
  },
  async 'sandbox.network'({ ask, edit }) {
    await edit({ permissions: TOUCH, sandbox: { enabled: true, network: true } });
    expect((await ask(run('touch b'))).last).not.toContain('--unshare-net');
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).toContain('--unshare-net');
  },
  async 'sandbox.allowWrite'({ ask, edit, project }) {
    await project.write('../open-place/x', '');
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).not.toContain('open-place');
    await edit({ permissions: TOUCH, sandbox: { enabled: true, allowWrite: [join(project.dir, '../open-place')] } });
    expect((await ask(run('touch b'))).last).toContain('open-place');
  },
  async 'sandbox.allowRead'({ ask, edit, project }) {
    await project.write('../home/.unknown-tool/x', '');
    const bound = /--ro-bind\S* (?:(?! --).)*\.unknown-tool/;
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).not.toMatch(bound);
    await edit({ permissions: TOUCH, sandbox: { enabled: true, allowRead: ['~/.unknown-tool'] } });
    expect((await ask(run('touch b'))).last).toMatch(bound);
  },
  async 'sandbox.allowEnv'({ ask, edit }) {
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).not.toContain('for-builds');
    await edit({ permissions: TOUCH, sandbox: { enabled: true, allowEnv: ['BUILD_TOKEN'] } });
    expect((await ask(run('touch b'))).last).toContain('for-builds');
  },
  async 'sandbox.denyRead'({ ask, edit, project }) {
    await project.write('../closed-place/x', '');
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).not.toContain('closed-place');
    await edit({ permissions: TOUCH, sandbox: { enabled: true, denyRead: [join(project.dir, '../closed-place')] } });
    expect((await ask(run('touch b'))).last).toContain('closed-place');
  },
  'sandbox.allowedDomains': (talk) => shownBySandbox(talk, { allowedDomains: ['good.test'] }, 'allowed: good.test'),
  'sandbox.deniedDomains': (talk) => shownBySandbox(talk, { deniedDomains: ['evil.test'] }, 'denied: evil.test'),
  'sandbox.strictAllowlist': (talk) => shownBySandbox(talk, { strictAllowlist: true }, 'allowed hosts only'),
  'sandbox.allowAllUnixSockets': (talk) => shownBySandbox(talk, { allowAllUnixSockets: true }, 'all Unix sockets'),
  'sandbox.allowLocalBinding': (talk) => shownBySandbox(talk, { allowLocalBinding: true }, 'ports of this machine'),
  async 'sandbox.allowUnixSockets'({ ask, edit }) {
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).not.toContain('a-daemon');
    await edit({ permissions: TOUCH, sandbox: { enabled: true, allowUnixSockets: ['/run/a-daemon'] } });
    expect((await ask(run('touch b'))).last).toContain('--bind-try /run/a-daemon /run/a-daemon');
  },
  async 'sandbox.denyWrite'({ ask, edit, project }) {
    await project.write('../kept-place/x', '');
    await edit({ permissions: TOUCH, sandbox: { enabled: true } });
    expect((await ask(run('touch b'))).last).not.toContain('kept-place');
    await edit({ permissions: TOUCH, sandbox: { enabled: true, denyWrite: [join(project.dir, '../kept-place')] } });
    expect((await ask(run('touch b'))).last).toContain('kept-place');
  },
  async hooks({ ask, edit }) {
    await ask();
    await edit(hook('echo the hook speaks'));
    expect((await ask()).last).toContain('the hook speaks');
  },
  async disableAllHooks({ ask, edit }) {
    await edit(hook('echo the hook speaks'));
    expect((await ask()).last.match(/the hook speaks/g)).toHaveLength(1);
    await edit({ ...hook('echo the hook speaks'), disableAllHooks: true });
    expect((await ask()).last.match(/the hook speaks/g)).toHaveLength(1);
  },
  async env({ ask, edit }) {
    const allowed = { permissions: { allow: ['Bash(printenv:*)'] } };
    await edit({ ...allowed, env: { OF_SETTINGS: 'first' } });
    expect((await ask(run('printenv OF_SETTINGS'))).last).toContain('first');
    await edit({ ...allowed, env: { OF_SETTINGS: 'second' } });
    expect((await ask(run('printenv OF_SETTINGS'))).last).toContain('second');
  },
  async projectVariables({ ask, edit, project }) {
    const allowed = { permissions: { allow: ['Bash(printenv:*)'] } };
    await project.write('.claude/settings.json', JSON.stringify({ env: { OF_PROJECT: 'from the project' } }));
    await edit(allowed);
    expect((await ask(run('printenv OF_PROJECT'))).last).not.toContain('from the project');
    await edit({ ...allowed, projectVariables: ['OF_PROJECT'] });
    expect((await ask(run('printenv OF_PROJECT'))).last).toContain('from the project');
  },
  async mcpServers(talk) {
    await talk.ask();
    await talk.edit({ mcpServers: { silent: silent(talk) } });
    await talk.ask();
    expect(servers(talk)).toEqual(['silent connected']);
  },
  async enabledMcpjsonServers(talk) {
    await talk.ask();
    await talk.project.write('.mcp.json', JSON.stringify({ mcpServers: { silent: silent(talk) } }));
    await talk.ask();
    expect(servers(talk)).not.toEqual(['silent connected']);
    await talk.edit({ enabledMcpjsonServers: ['silent'] });
    await talk.ask();
    expect(servers(talk)).toEqual(['silent connected']);
  },
  async disabledMcpjsonServers(talk) {
    await talk.edit({ mcpServers: { silent: silent(talk) } });
    await talk.ask();
    expect(servers(talk)).toEqual(['silent connected']);
    await talk.edit({ mcpServers: { silent: silent(talk) }, disabledMcpjsonServers: ['silent'] });
    await talk.ask();
    expect(servers(talk)).not.toEqual(['silent connected']);
  },
  async statusLine({ ask, edit, conversation }) {
    await ask();
    await edit({ statusLine: { command: 'echo my line' } });
    await ask();
    expect(await conversation.renderStatusLine?.()).toBe('my line');
    await edit({});
    await ask();
    expect(await conversation.renderStatusLine?.()).toBeUndefined();
  },
  async promptSuggestions({ ask, edit, conversation }) {
    // The small model is asked, and what that used is counted.
    const guesses = async () => {
      await ask();
      await conversation.suggestNextPrompt?.();
      return conversation.usage().models.find(({ model }) => model.includes('haiku'))?.replies ?? 0;
    };
    expect(await guesses()).toBe(0);
    await edit({ promptSuggestions: true });
    expect(await guesses()).toBe(1);
    await edit({ promptSuggestions: false });
    expect(await guesses()).toBe(1);
  },
  async commandTrial({ ask, edit }) {
    const isTried = async () => words((await ask(run('node -p 6*7'))).events).includes('throw-away copy');
    await edit({ commandTrial: 'off' });
    expect(await isTried()).toBe(false);
    await edit({ commandTrial: 'on' });
    expect(await isTried()).toBe(NO_SANDBOX === undefined);
  },
  async callSummaries({ ask, edit, conversation }) {
    const read = toolUse('Read', { file_path: 'a.txt' });
    const count = () => conversation.usage().models.find(({ model }) => model.includes('haiku'))?.replies ?? 0;
    for (const callSummaries of [false, true]) {
      await edit({ callSummaries });
      await ask(calls(read, read, read), says('Fine.'), says('Fine.'));
    }
    await vi.waitFor(() => expect(count()).toBe(1));
  },
  async 'loopGuard.enabled'({ ask, edit }) {
    expect(await countReminders(ask)).toBe(2);
    await edit({ loopGuard: { enabled: false } });
    expect(await countReminders(ask)).toBe(0);
  },
  async 'loopGuard.remindAfter'({ ask, edit }) {
    expect(await countReminders(ask)).toBe(2);
    await edit({ loopGuard: { remindAfter: 5 } });
    expect(await countReminders(ask)).toBe(1);
  },
  async 'loopGuard.stopAfter'({ ask, edit, conversation: { agent } }) {
    agent.subscribe((event) => {
      if (event.type === 'question') agent.answerQuestion(event.id, undefined);
    });
    await edit({ loopGuard: { stopAfter: 4 } });
    const { events } = await ask(...Array.from({ length: 5 }, readAgain));
    expect(events.findLast(({ type }) => type === 'agent_end')).toMatchObject({
      terminal: { reason: 'loop_detected' },
    });
  },
  async maxRetries({ ask, edit }) {
    await edit({ maxRetries: 1, timeouts: { retryBaseMs: 1 } });
    expect(limitsOfRetries((await ask(status(500))).events)).toEqual([1]);
    await edit({ maxRetries: 7, timeouts: { retryBaseMs: 1 } });
    expect(limitsOfRetries((await ask(status(500))).events)).toEqual([7]);
  },
  async 'timeouts.retryBaseMs'({ ask, edit }) {
    for (const retryBaseMs of [4, 40]) {
      await edit({ timeouts: { retryBaseMs } });
      const [retry] = (await ask(status(500))).events.flatMap((event) => (event.type === 'retry' ? [event] : []));
      expect(retry?.delayMs).toBeGreaterThanOrEqual(retryBaseMs * 0.75);
      expect(retry?.delayMs).toBeLessThanOrEqual(retryBaseMs);
    }
  },
  async 'timeouts.headerMs'({ ask, edit }) {
    await ask();
    await edit({ maxRetries: 0, timeouts: { headerMs: 80 } });
    expect(words((await ask({ kind: 'hang' })).events)).toContain('No response within');
  },
  async 'timeouts.streamIdleMs'({ ask, edit }) {
    await ask();
    await edit({ maxRetries: 0, timeouts: { streamIdleMs: 80 } });
    const stalls = says('Half', { faults: [{ at: 3, do: 'wait', until: never, pings: 'silence' }] });
    expect(words((await ask(stalls, stalls, stalls, stalls)).events)).toContain('stalled');
  },
  async 'timeouts.hookMs'({ ask, edit }) {
    await edit(hook('true'));
    await ask();
    await edit({ ...hook('sleep 60'), timeouts: { hookMs: 80 } });
    expect(words((await ask()).events)).toContain('did not answer within 0.08 s');
  },
  async 'timeouts.mcpMs'(talk) {
    await talk.ask();
    await talk.edit({ mcpServers: { slow: { command: 'sleep', args: ['60'] } }, timeouts: { mcpMs: 80 } });
    await talk.ask();
    expect(talk.conversation.info().mcpServers[0]?.error).toContain('0.08 s');
  },
  async 'timeouts.mcpCallMs'(talk) {
    await talk.edit({ mcpServers: { silent: silent(talk) } });
    await talk.ask();
    await talk.edit({ mcpServers: { silent: silent(talk) }, timeouts: { mcpCallMs: 80 } });
    await talk.ask();
    await expect(talk.conversation.control.callTool('mcp__silent__nod', {})).rejects.toThrow('did not respond');
  },
  async 'timeouts.bashMs'({ ask, edit }) {
    expect((await ask()).last).toContain('default 120000, at most 600000');
    const allowed = { permissions: { allow: ['Bash(touch:*)', 'Bash(sleep:*)'] } };
    await edit({ ...allowed, timeouts: { bashMs: 80 } });
    const { last } = await ask(run('sleep 60'));
    expect(last).toContain('default 80, at most 600000');
    expect(last).toContain('[stopped after');
  },
  async 'timeouts.bashMaxMs'({ ask, edit }) {
    await ask();
    await edit({ permissions: { allow: ['Bash(sleep:*)'] }, timeouts: { bashMaxMs: 90 } });
    const { last } = await ask(calls(toolUse('Bash', { command: 'sleep 60', timeout: 50_000 })));
    expect(last).toContain('at most 90)');
    expect(last).toContain('[stopped after');
  },
  async autoCompact({ ask, edit }) {
    const full = { usage: { input_tokens: 990_000 } };
    await edit({ autoCompact: false });
    await ask(says('Much.', full));
    expect(compactions((await ask(says('More.', full))).events)).toBe(0);
    await edit({});
    expect(compactions((await ask()).events)).toBe(1);
  },
  async autoCompactPercent({ ask, edit }) {
    const some = { usage: { input_tokens: 300_000 } };
    await ask(says('Much.', some));
    expect(compactions((await ask(says('More.', some))).events)).toBe(0);
    await edit({ autoCompactPercent: 10 });
    expect(compactions((await ask()).events)).toBe(1);
  },
};

const readAgain = () => calls(toolUse('Read', { file_path: 'a.txt' }));

/** Counts the reminders in a run that makes the same call five times, the first time with another result. */
async function countReminders(ask: Talk['ask']): Promise<number> {
  const { events } = await ask(...Array.from({ length: 5 }, readAgain));
  return events.filter((event) => event.type === 'transition' && event.reason === 'loop_reminder').length;
}

async function shownBySandbox(
  { ask, edit, conversation }: Talk,
  settings: SandboxSettings,
  shown: string,
): Promise<void> {
  const page = async () => JSON.stringify(await conversation.runCommand('sandbox'));
  await edit({ permissions: TOUCH, sandbox: { enabled: true } });
  await ask();
  expect(await page()).not.toContain(shown);
  await edit({ permissions: TOUCH, sandbox: { enabled: true, ...settings } });
  await ask();
  expect(await page()).toContain(shown);
}

function limitsOfRetries(events: readonly AgentEvent[]): readonly number[] {
  return events.flatMap((event) => (event.type === 'retry' ? [event.limit] : []));
}

function compactions(events: readonly AgentEvent[]): number {
  return events.filter(({ type }) => type === 'compacted').length;
}

const NEEDS_NO_CASE = ['sandbox.failIfUnavailable'];

test('each key that takes effect at once has a case here', () => {
  const now = SETTING_KEYS.filter(({ takesEffect }) => takesEffect === 'now').map(({ key }) => key);
  expect([...Object.keys(CASES), ...NEEDS_NO_CASE].toSorted()).toEqual(now.toSorted());
});

test.concurrent.each(someOf(Object.entries(CASES), 2))('an edit of %s takes effect with the next prompt', (_, act) =>
  talking(act),
);
