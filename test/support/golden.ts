import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { CliRunOptions } from '../../src/contracts/frontend/cli-run-options.ts';
import type { SeenRequest } from './api/dialect.ts';
import { type Script, startApiServer } from './api/server.ts';
import { type Composed, composed } from './composed.ts';
import { createTempProject, type TempProject } from './temp-project.ts';

/** A conversation whose requests, events and session files are recorded. */
export type Scenario = {
  readonly files?: Readonly<Record<string, string>>;
  /** The user's own settings. */
  readonly settings?: object;
  readonly git?: 'repository';
  readonly options?: Partial<CliRunOptions>;
  readonly turns: Script['turns'];
  readonly side?: Script['side'];
  readonly contextWindowTokens?: number;
  /** Prepares what only this scenario needs. */
  readonly prepare?: (project: TempProject) => Promise<unknown>;
  /** Steps of the conversation; without it, the prompt `go`. */
  readonly steps?: (made: Composed, context: GoldenContext) => Promise<unknown>;
};

type GoldenContext = {
  readonly project: TempProject;
  /** Closes the conversation and opens another one in the same project. */
  readonly reopen: (options?: Partial<CliRunOptions>) => Promise<Composed>;
};

/** Plays a scenario and returns its record: every byte that is sent, emitted or stored, without ids, times and paths. */
async function recordScenario(scenario: Scenario): Promise<string> {
  await using project = await createTempProject(scenario.files);
  if (scenario.settings !== undefined)
    await project.write('../home/.ouro/settings.json', JSON.stringify(scenario.settings));
  await scenario.prepare?.(project);
  if (scenario.git === 'repository') await project.initGit();
  const { turns, side, contextWindowTokens } = scenario;
  await using server = await startApiServer({
    turns,
    ...(side && { side }),
    ...(contextWindowTokens && { contextWindowTokens }),
  });
  const opened: Composed[] = [];
  const open = async (options: Partial<CliRunOptions> = {}) => {
    await opened.at(-1)?.close();
    const made = await composed(project, server.url, { ...scenario.options, ...options });
    opened.push(made);
    return made;
  };
  const made = await open();
  try {
    if (scenario.steps === undefined) await made.conversation.agent.prompt('go');
    else await scenario.steps(made, { project, reopen: open });
  } finally {
    await opened.at(-1)?.close();
  }
  return createRecord(project, server.url, {
    requests: server.all(),
    events: opened.flatMap(({ events }) => events),
    records: await readSessionRecords(project),
  });
}

type Recorded = {
  readonly requests: readonly SeenRequest[];
  readonly events: readonly AgentEvent[];
  readonly records: readonly object[];
};

/** Formats what was recorded. */
export function createRecord(
  project: Pick<TempProject, 'dir' | 'home'>,
  url: string,
  { requests, events, records }: Recorded,
): string {
  const clean = createCleaner(project, url);
  const parts = [
    '# Requests',
    ...groupRequests(requests).flatMap((group) => formatRequests(group, clean)),
    '# Events',
    ...formatGroups(joinDeltas(events), clean),
    '# Session files',
    ...formatGroups(records, clean),
  ];
  // Offered where a sandbox works, which depends on the machine.
  return `${numberIds(parts.join('\n')).replaceAll(',"canSandbox":true', '')}\n`;
}

/** Requests with the same first message belong to one conversation; several may run at once. */
function groupRequests(requests: readonly SeenRequest[]): readonly (readonly SeenRequest[])[] {
  const groups = Map.groupBy(requests, ({ method, path, body }) =>
    JSON.stringify([method, path, body.model, body.messages?.[0]]).replaceAll(/,"cache_control":\{[^}]*\}/g, ''),
  );
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}

type Cleaner = (value: unknown) => string;

/** Formats the requests of one conversation: messages that were sent before are counted, long texts are hashed. */
function formatRequests(requests: readonly SeenRequest[], clean: Cleaner): readonly string[] {
  const earlier = new Map<string, readonly string[]>();
  const formatNew = (name: string, lines: readonly string[]) => {
    const before = earlier.get(name) ?? [];
    const changed = lines.findIndex((line, at) => line !== before[at]);
    const same = changed === -1 ? lines.length : changed;
    earlier.set(name, lines);
    const isUnchanged = same === lines.length && same === before.length;
    if (isUnchanged) return same === 0 ? [] : [`${name} as before`];
    return [...(same === 0 ? [] : [`${same} of ${name} as before`]), ...lines.slice(same)];
  };
  return requests.flatMap(({ method, path, body: { system, tools, messages, ...rest } }) => [
    `## ${method} ${path}`,
    ...formatNew('parameters', [clean(rest)]),
    ...formatNew(
      'system',
      list(system).map((part) => shorten(clean(part))),
    ),
    ...formatNew(
      'tools',
      list(tools).map((tool) => shorten(clean(tool))),
    ),
    ...formatNew(
      'messages',
      list(messages).map((message) => clean(message)),
    ),
  ]);
}

const list = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** A long text is compared by its hash, so that the record stays readable. */
function shorten(text: string): string {
  if (text.length < 400) return text;
  return `${createHash('sha256').update(text).digest('base64url').slice(0, 10)} ${text.slice(0, 70)}…`;
}

/** Calls run at the same time, so only the order within a call, a reply, the bills and the rest is a promise. */
function formatGroups(values: readonly object[], clean: Cleaner): readonly string[] {
  const groups = Map.groupBy(values, (value) => groupOf(clean(value)));
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, members]) => [`## ${name}`, ...members.map((member) => shortenValues(clean(member)))]);
}

function groupOf(text: string): string {
  const call = /"(?:callId|tool_use_id)":"(toolu_\w+)"/.exec(text)?.[1];
  const type = /"type":"([\w-]+)"/.exec(text)?.[1];
  if (call !== undefined) return `${call} ${type}`;
  // A bill comes as soon as a reply has arrived, whose events may still wait for the listeners.
  if (type === 'spending') return type;
  if (type === 'background' || type === 'checkpoint' || type === 'child') return type;
  if (type === 'hook') return `hook ${/"event":"(\w+)"/.exec(text)?.[1]}`;
  return /"(?:messageId|id)":"(msg_\d+)"/.exec(text)?.[1] ?? 'the rest';
}

function shortenValues(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.){1500,}"/g, (long) => `"${shorten(long)}"`);
}

/** How a reply is cut into deltas depends on how the network delivers it. */
function joinDeltas(events: readonly AgentEvent[]): readonly object[] {
  const joined: Record<string, unknown>[] = [];
  const updates = new Map<string, Record<string, unknown>>();
  for (const event of events) {
    // How often the output of a command is shown depends on how long it takes.
    if (event.type === 'tool_update' && event.progress.kind === 'output') continue;
    const block = event.type === 'message_update' ? `${event.messageId} ${event.index}` : '';
    const update = updates.get(block);
    if (event.type === 'message_update' && update !== undefined) update.delta = `${update.delta}${event.delta}`;
    else {
      const first = { ...event };
      joined.push(first);
      if (event.type === 'message_update') updates.set(block, first);
    }
  }
  return joined;
}

/** Values that no two runs share: durations, and facts about this disk and its paths. */
const VOLATILE = /"(\w*(?:Ms|_ms|pgid|pid)|ino|size|mode|preTokens|postTokens)":-?[\d.]+/g;

const REPOSITORY = join(import.meta.dirname, '../..');

function createCleaner({ dir, home }: Pick<TempProject, 'dir' | 'home'>, url: string): Cleaner {
  const { root, slug } = { root: dir.replace(/\/project$/, ''), slug: dir.slice(1).replaceAll(/[^A-Za-z0-9]/g, '-') };
  return (value) =>
    JSON.stringify(value)
      .replaceAll(process.execPath, '/bin/runtime')
      .replaceAll(REPOSITORY, '/repository')
      .replaceAll(dir, '/project')
      .replaceAll(home, '/home/user')
      .replaceAll(root, '/root')
      .replaceAll(new RegExp(`${slug}[\\w-]*`, 'g'), 'project-slug')
      .replaceAll(url, 'http://api')
      .replaceAll(/Platform: [^"\\]*/g, 'Platform: any')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/\d{4}-\d\d-\d\d/g, '<date>')
      .replaceAll(/ [0-9a-f]{7,12} Start/g, ' <commit> Start')
      .replaceAll(/"owner":"\d+:\d+"/g, '"owner":"<owner>"')
      .replaceAll(/[\d.]+k? tokens/g, '<n> tokens')
      .replaceAll(VOLATILE, '"$1":0')
      .replaceAll(/"told":"[\d.]+\/\d+"/g, '"told":"<time and size>"')
      .replaceAll(/"version":"\d+\.\d+\.\d+[^"]*"/g, '"version":"<version>"');
}

/** Replaces ids and hashes by their number in the record. */
function numberIds(text: string): string {
  const names = new Map<string, string>();
  const id =
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{24,64}\b|(?<![\w-])[\w-]{43}(?==?")|agent_\w{8}|\b[0-9a-f]{40}\b/g;
  return text.replaceAll(id, (found) => {
    const name = names.get(found) ?? `<id ${names.size + 1}>`;
    names.set(found, name);
    return name;
  });
}

/** Reads all records of all session files, without their links to each other. */
async function readSessionRecords(project: TempProject): Promise<readonly object[]> {
  const names = await readdir(join(project.ouroHome, 'projects'), { recursive: true }).catch(() => []);
  const read = (name: string) => readFile(join(project.ouroHome, 'projects', name), 'utf8');
  const texts = await Promise.all(names.filter((name) => name.endsWith('.jsonl')).map(read));
  const files = texts.map((text) => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])));
  // The names are random; the last records tell which file is older.
  const byAge = files.sort((one, other) => (one.at(-1).timestamp < other.at(-1).timestamp ? -1 : 1));
  return byAge.flat().map(({ uuid, parentUuid, ...record }) => record);
}

/** Defines a test for each scenario, which compares its record with the stored one. */
export function testGolden(scenarios: Readonly<Record<string, Scenario>>): void {
  test.each(Object.entries(scenarios))('%s', async (name, scenario) => {
    const file = name.replaceAll(/[^a-z]+/gi, '-');
    await expect(await recordScenario(scenario)).toMatchFileSnapshot(`../golden/records/${file}.txt`);
  });
}
