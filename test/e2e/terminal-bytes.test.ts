import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/contracts/json.ts';
import { calls, says, text, thinking, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { isWholeRun, someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

/** What would do something to a terminal, or show as something else. */
const EVIL = '\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u001b[31mred\u009b2J\u0007\u202egnp.exe\u2066';
/** Lists what is there. */
const LISTS = `
"$1" sessions
"$1" sessions show "$(ls "$HOME"/.ouro/projects/*/*.jsonl | sed 's/.*\\///; s/\\..*//')"
"$1" -p hello
"$1" settings
"$1" doctor
"$1" permissions explain Bash "$EVIL"`;
/** Begins in a folder and on a branch of such names, comes back to the conversation, and lists what is there. */
const STEPS = `
mkdir -p "$EVIL" && cd "$EVIL" && git init -q -b "$(printf 'b\\342\\200\\256x')" && printf '%s\n' "out $EVIL" > out
"$1" trust && "$@"
"$1" $FACE --continue${isWholeRun ? LISTS : ''}
echo ALL OVER`;
const SEQUENCES =
  /\u001b\[[?>=<]?[\d;]*[ ]?[A-Za-z]|\u001b\](?:2;[^\u0007\u001b]*|11;\?|133;[A-D]|9;4;\d;\d+|9;[^\u0007\u001b]*)\u0007/g;

/** Nothing but text and what the screen itself says to a terminal. */
function expectHarmless(bytes: string): void {
  expect(bytes).not.toMatch(/\u001b\[[23]J|\u001b\]52|[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(bytes.replaceAll(SEQUENCES, '').replaceAll(/[\r\n\t]/g, '')).not.toMatch(/[\u0000-\u001f\u007f]/);
}

const TURNS = [
  calls(
    thinking(`hm ${EVIL}`),
    text(`Look: ${EVIL} [link](https://example.com/${EVIL})\n\n\`\`\`${EVIL}\n${EVIL}\n\`\`\``),
    toolUse('Bash', { command: 'cat out; cat nothing', description: EVIL }),
    toolUse('Write', { file_path: `new ${EVIL}`, content: `one ${EVIL}\ntwo\n` }),
    toolUse(`mcp__${EVIL}__x`, { [EVIL]: EVIL }),
    toolUse(EVIL, { [EVIL]: EVIL }),
  ),
  says(`Told ${EVIL} all.`),
  says(`Printed ${EVIL}.`),
];

test.each(
  someOf(
    [
      ['on the screen', []],
      ['in lines', ['--a11y']],
    ],
    1,
  ),
)('names, output, changes and old conversations cannot inject terminal sequences, %s', async (_how, face) => {
  const args = [...face, '--model', `model ${EVIL}`, '--allowedTools', 'Edit', '--', `do it ${EVIL}`];
  const command = ['sh', '-c', STEPS, 'sh', LAUNCHER, ...args];
  const env = { EVIL, FACE: face.join(' ') };
  await using ouro = await openOuro(TURNS, { cols: 120, rows: 40, ready: /Told.*all/s, env, command });
  const { terminal } = ouro;
  terminal.type('/exit\r');
  // The second time: what was said is shown again on the screen.
  await terminal.waitForText(/Resume:.*(?:Told.*all|Type a message)/s);
  terminal.type('/exit\r');
  await terminal.waitForText(/ALL OVER/);
  expectHarmless(terminal.bytes());
  expect(terminal.logicalLines().join('\n')).toMatch(/1 \+ one <U\+001B>\]52.*red<U\+009B>2J<U\+0007><U\+202E>gnp/);
});

/** A server all of whose names and words are like that. */
const SERVER = `
import { createInterface } from 'node:readline';
const EVIL = process.env.EVIL;
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {}, prompts: {}, resources: {} }, instructions: EVIL,
    serverInfo: { name: EVIL, title: EVIL, version: EVIL },
  }),
  'tools/list': () => ({ tools: [{ name: 'nod ' + EVIL, title: EVIL, description: EVIL, inputSchema: { type: 'object' } }] }),
  'prompts/list': () => ({ prompts: [{ name: 'ask' + EVIL, description: EVIL, arguments: [{ name: EVIL }] }] }),
  'resources/list': () => ({ resources: [{ uri: 'evil://' + EVIL, name: EVIL, description: EVIL }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = ANSWERS[method];
  const said = answer === undefined ? { error: { code: -32601, message: EVIL } } : { result: answer(params) };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
}
`;

const QUOTED = JSON.stringify(EVIL);
/** What a project and its person may name so, by the file it stands in. */
const NAMED: Readonly<Record<string, string>> = {
  'server.mjs': SERVER,
  [`seen ${EVIL}.txt`]: EVIL,
  '.claude/agents/one.md': `---\nname: ${QUOTED}\ndescription: ${QUOTED}\n---\n${EVIL}`,
  '.claude/agents/two.md': `---\nname: two\ndescription: ${QUOTED}\ntools: ${QUOTED}\nmodel: ${QUOTED}\n---\n${EVIL}`,
  '.claude/skills/one/SKILL.md': `---\nname: ${QUOTED}\ndescription: ${QUOTED}\nallowed-tools: ${QUOTED}\n---\n${EVIL}`,
  [`.claude/skills/two${EVIL}/SKILL.md`]: `---\ndescription: ${QUOTED}\n---\n${EVIL}`,
  [`.claude/commands/go${EVIL}.md`]: `---\ndescription: ${QUOTED}\nargument-hint: ${QUOTED}\n---\n${EVIL}`,
  [`.claude/output-styles/loud${EVIL}.md`]: `---\nname: ${QUOTED}\ndescription: ${QUOTED}\n---\n${EVIL}`,
  [`.claude/rules/rule${EVIL}.md`]: EVIL,
  'CLAUDE.md': `${EVIL} @./none-${EVIL}.md`,
  '.claude/settings.json': JSON.stringify({ [EVIL]: EVIL, permissions: { deny: [`Bash(${EVIL})`, EVIL] } }),
};

const HOOK = `printf '%s' '{"systemMessage":${QUOTED.replaceAll("'", '')}}'`;
const hooksOf = (command: string) => [{ hooks: [{ type: 'command', command, statusMessage: EVIL }] }];

const PANEL = /^▌ [A-Z][\w -]+ {2}>/m;
/** A line that is typed, what is in sight when it was answered, and whether that is left by a key. */
const LOOKS: readonly (readonly [string, RegExp, 'panel' | 'words'])[] = [
  ['/mcp', PANEL, 'panel'],
  ['/agents', PANEL, 'panel'],
  ['/hooks', PANEL, 'panel'],
  ['/memory', PANEL, 'panel'],
  ['/permissions', PANEL, 'panel'],
  ['/skills', /SKILL\.md/, 'words'],
  ['/mcp login guarded', /refused.*gnp/, 'words'],
  ['/status', /key: ANTHROPIC_API_KEY/, 'words'],
];

/** A server that wants a login, and refuses it in such words. */
async function guardedServer() {
  const server = createServer((request, response) => {
    const at = `http://127.0.0.1:${portOf(server)}`;
    const json = (status: number, body: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    const path = request.url ?? '';
    const refusal = { error: `invalid_client_metadata ${EVIL}`, error_description: `refused ${EVIL}` };
    if (path.includes('oauth-protected-resource'))
      return json(200, { resource: `${at}/mcp`, authorization_servers: [at], resource_name: EVIL });
    if (path.includes('oauth-authorization-server')) {
      const endpoints = {
        authorization_endpoint: `${at}/go`,
        token_endpoint: `${at}/t`,
        registration_endpoint: `${at}/r`,
      };
      return json(200, {
        issuer: at,
        ...endpoints,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      });
    }
    if (path === '/r') return json(400, refusal);
    return json(401, refusal, {
      'www-authenticate': `Bearer resource_metadata="${at}/.well-known/oauth-protected-resource"`,
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${portOf(server)}/mcp`, [Symbol.asyncDispose]: async () => void server.close() };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

longTest('names of projects, files and servers cannot inject terminal sequences into lists and menus', async () => {
  await using project = await createTempProject(NAMED);
  await using guarded = await guardedServer();
  const server = { command: process.execPath, args: [`${project.dir}/server.mjs`], env: { EVIL } };
  const settings = {
    mcpServers: {
      stub: server,
      [`srv ${EVIL}`]: server,
      broken: { command: `no ${EVIL}` },
      guarded: { url: guarded.url },
    },
    statusLine: { type: 'command', command: `printf '%s\\n%s' "$EVIL" "$EVIL"` },
    hooks: {
      UserPromptSubmit: hooksOf(HOOK),
      SessionStart: hooksOf(`echo "$EVIL" >&2; exit 2`),
      Stop: hooksOf('exit 1'),
    },
  };
  await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  await using api = await startApiServer({ turns: () => says('Told all.') });
  const env = { ...terminalEnvironment(project, api.url), PATH: process.env.PATH ?? '', EVIL };
  await using terminal = openTerminal([LAUNCHER, '--trust', '--model', 'opus'], {
    ...{ cwd: project.dir, env, cols: 110, rows: 40 },
  });
  await terminal.waitForText(/^[▌|]/m);
  terminal.type('hello');
  await terminal.waitForText(/^[▌|] hello/m);
  terminal.press('enter');
  await terminal.waitForText(/Told all\./);
  for (const [line, seen, kind] of LOOKS) {
    terminal.type(line);
    await terminal.waitForText(new RegExp(`^[▌|] ${line}`, 'm'));
    terminal.press('enter');
    await terminal.waitForText(seen);
    if (kind === 'panel') terminal.press('esc');
    await terminal.waitForText(/^[▌|] Say what.*\n +ask/m);
  }
  terminal.type('look at @seen');
  await terminal.waitForText(/seen.*<U\+/);
  terminal.press('ctrl+u');
  terminal.type('/go');
  await terminal.waitForText(/go.*<U\+|go.*gnp/);
  expectHarmless(terminal.bytes());
});

/** Keys whose values a reader goes by: with other ones it is no record any more. */
const STRUCTURE =
  /^(?:type|id|uuid|parentUuid|sessionId|session|v|version|at|timestamp|role|kind|status|verdict|stage|reason|by|level|callId|tool_use_id|stop_reason|requestId)$/;

/** The same record with such words in every text that says something. */
function poisoned(value: JsonValue, key = ''): JsonValue {
  if (typeof value === 'string') return STRUCTURE.test(key) ? value : `${value} ${EVIL}`;
  if (Array.isArray(value)) return value.map((each) => poisoned(each, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poisoned(each ?? null, name)]));
}

/** The only session of a project, as somebody could have sent it: every text in it is like that. */
async function poison(project: TempProject): Promise<string> {
  const root = join(project.ouroHome, 'projects');
  const [folder = ''] = await readdir(root);
  const [name = ''] = (await readdir(join(root, folder))).filter((each) => each.endsWith('.jsonl'));
  const file = join(root, folder, name);
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  const bad = lines.map((line) => JSON.stringify(poisoned(JSON.parse(line))));
  // Words of a person stand there twice: as they are, so that the session is found, and like that.
  await writeFile(file, `${lines.slice(0, 1).concat(bad.slice(1)).join('\n')}\n`);
  return name.replace('.jsonl', '');
}

longTest.each(someOf([[[]], [['--a11y']]] as const, 1))(
  'a foreign conversation cannot inject terminal sequences when it is resumed or read %j',
  async (face) => {
    await using project = await createTempProject({ 'a.txt': 'one\n' });
    await using api = await startApiServer({
      turns: [
        calls(text('Look'), toolUse('Read', { file_path: 'a.txt' }), toolUse('Bash', { command: 'echo one; exit 3' })),
        calls(toolUse('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }), toolUse('none', {})),
        says('Told all.'),
        says('Told more.'),
      ],
    });
    const allowed = ['--allowedTools', 'Edit,Bash', '--trust'];
    expect(await runHere(project, ['-p', 'first words', ...allowed], api.url)).toMatchObject({ code: 0 });
    const id = await poison(project);
    const steps = `"$1" $FACE -r "${id}"; "$1" sessions; "$1" sessions show "${id}"; "$1" sessions export "${id}"
"$1" sessions export --format html "${id}"; "$1" sessions search Told; "$1" sessions check; "$1" -p again -r "${id}"; echo ALL OVER`;
    const env = { ...terminalEnvironment(project, api.url), PATH: process.env.PATH ?? '', FACE: face.join(' ') };
    await using terminal = openTerminal(['sh', '-c', steps, 'sh', LAUNCHER], {
      ...{ cwd: project.dir, env, cols: 110, rows: 40 },
    });
    await terminal.waitForText(/Told all\..*Say what you want|^You: /ms);
    terminal.type('/exit\r');
    await terminal.waitForText(/ALL OVER/);
    expectHarmless(terminal.bytes());
    expect(terminal.logicalLines().join('\n')).toMatch(/Told all\./);
  },
);
