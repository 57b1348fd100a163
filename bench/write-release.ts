import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { SeenRequest } from '../test/support/api/dialect.ts';
import { type ApiTurn, calls, says, toolUse } from '../test/support/api/reply.ts';
import { startApiServer } from '../test/support/api/server.ts';
import { LAUNCHER, startProgram } from '../test/support/run-ouro.ts';
import { storedFiles } from '../test/support/stored-sessions.ts';
import { createTempProject } from '../test/support/temp-project.ts';

/**
 * Writes test/fixtures/releases/<version>: sessions recorded by a program, by default that of this checkout, and what a
 * resume must send of them. Arguments: the version and the launcher of another checkout.
 */
const [version = '', launcher = LAUNCHER] = process.argv.slice(2);
const target = join(import.meta.dirname, '../test/fixtures/releases', version);

const SUMMARY = 'They spoke of the first of May.';
/** Session ids. */
const WORK = '10000000-0000-4000-8000-000000000000';
const COMPACTED = '20000000-0000-4000-8000-000000000000';
const REWOUND = '30000000-0000-4000-8000-000000000000';
const KILLED = '40000000-0000-4000-8000-000000000000';

/** By session: texts that a resumed request holds and lacks, and the files as an undo leaves them. */
const EXPECTED = {
  [WORK]: {
    holds: ['edit the file', 'alpha', 'The file has beta.', 'delegate the search', 'The clerk found beta.'],
    lacks: [],
    undone: { 'a.txt': 'alpha\n', 'b.txt': null },
  },
  [COMPACTED]: { holds: [SUMMARY, 'go on after the summary', 'It goes on.'], lacks: [], undone: {} },
  [REWOUND]: {
    holds: ['take one way', 'It is taken.', 'take a better way', 'It is better.'],
    lacks: ['take another way'],
    undone: {},
  },
  [KILLED]: {
    holds: ['run without an end', 'interrupted; it may or may not have run', 'and then say why'],
    lacks: [],
    undone: { 'c.txt': null },
  },
};

await using project = await createTempProject({ 'a.txt': 'alpha\n' });
await using api = await startApiServer({ turns: answer });
const env = { IS_SANDBOX: '1' };
const start = (args: readonly string[], stdin?: 'open') =>
  startProgram(project, [resolve(launcher), '-p', ...args, '--dangerously-skip-permissions'], api.url, {
    env,
    ...(stdin && { stdin }),
  });

await run('--session-id', WORK, 'edit the file');
await run('--resume', WORK, 'delegate the search');
await run('--session-id', COMPACTED, 'tell a story');
await run('--resume', COMPACTED, 'tell a story again');
await run('--resume', COMPACTED, '/compact');
await run('--resume', COMPACTED, 'go on after the summary');
await run('--session-id', REWOUND, 'take one way');
const [firstReply] = (await recordsOf(REWOUND)).flatMap((record) =>
  record.type === 'reply' ? [record.messageId] : [],
);
await run('--resume', REWOUND, 'take another way');
await run('--resume', REWOUND, '--resume-session-at', firstReply ?? '', 'take a better way');
await recordKilled();
await writeFixture();

async function run(...args: readonly string[]): Promise<void> {
  const end = await start(args).ended;
  if (end.code !== 0) throw new Error(`${args.join(' ')} ended with ${end.code}.\n${end.stdout}${end.stderr}`);
}

/** Records a run that is killed during a command, with another prompt in its queue. */
async function recordKilled(): Promise<void> {
  const host = ['--input-format=stream-json', '--output-format=stream-json', '--verbose', '--session-id', KILLED];
  const running = start(host, 'open');
  const say = (content: string) => running.sendLine({ type: 'user', message: { role: 'user', content } });
  say('run without an end');
  while (!existsSync(join(project.dir, 'c.txt'))) await setTimeout(20);
  say('and then say why');
  while (!(await recordsOf(KILLED)).some(({ type }) => type === 'queue')) await setTimeout(20);
  await running.kill();
}

async function recordsOf(session: string) {
  return (await storedFiles(project)).find(({ id }) => id === session)?.records ?? [];
}

function answer(request: SeenRequest): ApiTurn {
  const last = JSON.stringify(request.body.messages?.at(-1)?.content);
  if (/take (?:one|another) way/.test(last)) return says('It is taken.');
  if (last.includes('take a better way')) return says('It is better.');
  if (last.includes('tell a story')) return says('Once upon a time. '.repeat(1_000), { chunk: 20_000 });
  if (last.includes('go on after the summary')) return says('It goes on.');
  if (last.includes('run without an end')) return calls(toolUse('Bash', { command: 'echo half > c.txt; sleep 305' }));
  if (last.includes('search the file')) return says('The clerk found beta.');
  if (last.includes('delegate the search')) {
    return calls(toolUse('Task', { description: 'search', prompt: 'search the file', subagent_type: 'Explore' }));
  }
  if (last.includes('The clerk found')) return says('It is found.');
  if (last.includes('edit the file')) return calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_read'));
  if (last.includes('toolu_read')) {
    const edit = { file_path: 'a.txt', old_string: 'alpha', new_string: 'beta' };
    return calls(toolUse('Edit', edit, 'toolu_edit'), toolUse('Bash', { command: 'echo made > b.txt' }));
  }
  if (last.includes('toolu_edit')) return says('The file has beta.');
  return says(`<summary>${SUMMARY}</summary>`);
}

/** Copies the sessions and the files of the project, with names in place of what belongs to this machine. */
async function writeFixture(): Promise<void> {
  const [slug = ''] = await readdir(join(project.ouroHome, 'projects'));
  const from = join(project.ouroHome, 'projects', slug);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await cp(project.dir, join(target, 'files'), { recursive: true });
  for (const name of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const path = join(name.parentPath, name.name);
    const to = join(target, 'sessions', path.slice(from.length + 1));
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, neutralize(await readFile(path, 'latin1')), 'latin1');
  }
  await writeFile(join(target, 'expected.json'), `${JSON.stringify(EXPECTED, undefined, 2)}\n`);
}

function neutralize(content: string): string {
  return content
    .replaceAll(project.dir, '<project>')
    .replaceAll(project.home, '<home>')
    .replaceAll(/"pid":\d+,"startTime":"[^"]*","host":"[^"]*"/g, '"pid":99999999,"startTime":"1","host":"<host>"')
    .replaceAll(release(), '<kernel>')
    .replaceAll(api.url, '<api>')
    .replaceAll(/"owner":"\d+:\d+"/g, '"owner":"<owner>"')
    .replaceAll(/"pgid":\d+/g, '"pgid":99999999');
}
