import type { Message } from '../../src/contracts/message.ts';
import type { SessionRecord } from '../../src/contracts/session.ts';
import type { SeenRequest } from '../support/api/dialect.ts';
import { type ApiTurn, calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { processesMarked } from '../support/processes.ts';
import { runOuro, startOuro } from '../support/run-ouro.ts';
import { storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const PROMPTS = ['prompt one', 'prompt two', 'prompt three'];
const HOST = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
export const AFTER = 'after the crash';
const FREE = '--dangerously-skip-permissions';

/** One crash and what was found after it. */
export type CrashReport = {
  /** What is wrong, in sentences; none if nothing is. */
  readonly faults: readonly string[];
  readonly records: number;
  /** Whether the run had ended by itself before it could be killed. */
  readonly ended: 'killed' | 'by itself';
};

/** The whole run without a kill: three prompts, parallel calls, a sub-agent, a shell in the background. */
export async function wholeRun(): Promise<{ readonly durationMs: number; readonly records: readonly SessionRecord[] }> {
  await using project = await newProject();
  await using server = await startApiServer({ turns: script });
  const startedAt = performance.now();
  await talk(project, server).ended;
  const durationMs = performance.now() - startedAt;
  const [file] = await storedFiles(project);
  return { durationMs, records: file?.records ?? [] };
}

/** Kills the run after so many milliseconds, then resumes it and looks at everything that had been accepted. */
export async function crashAfter(delayMs: number): Promise<CrashReport> {
  await using project = await newProject();
  await using server = await startApiServer({ turns: script });
  const running = talk(project, server);
  const timer = setTimeout(() => running.child.kill('SIGKILL'), delayMs);
  const { signal } = await running.ended;
  clearTimeout(timer);
  const before = [...server.requests()];
  const [file] = await storedFiles(project);
  const ended = signal === null ? 'by itself' : 'killed';
  if (file === undefined || file.records.length === 0) {
    const faults = before.length === 0 ? [] : ['A request was sent, and no record is on disk.'];
    return { faults, records: 0, ended };
  }
  const resumed = await runOuro(project, ['-p', '--continue', AFTER], server.url);
  const request = server.requests()[before.length];
  const left = await processesMarked(project.marker);
  const faults = [
    ...(resumed.code === 0 ? [] : [`The resume ended with ${resumed.code}: ${resumed.stderr}`]),
    ...(request === undefined ? ['The resume sent nothing.'] : requestFaults(request, file.records, before)),
    ...left.map(({ command }) => `Still alive: ${command}`),
  ];
  return { faults, records: file.records.length, ended };
}

function newProject(): Promise<TempProject> {
  return createTempProject({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
}

function talk(project: TempProject, server: ApiServer) {
  const stdin = PROMPTS.map(
    (content) =>
      `${JSON.stringify({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' })}\n`,
  ).join('');
  return startOuro(project, [...HOST, FREE], server.url, { stdin, env: { IS_SANDBOX: '1' } });
}

const isResult = (block: unknown): boolean => JSON.stringify(block).startsWith('{"type":"tool_result"');

function script(request: SeenRequest): ApiTurn {
  const last = request.body.messages?.at(-1);
  const content = Array.isArray(last?.content) ? last.content : [];
  const said = JSON.stringify(content);
  const paced = (turn: ApiTurn): ApiTurn => (turn.kind === 'reply' ? { ...turn, delayMs: 4, chunk: 60 } : turn);
  if (content.some(isResult)) return paced(says(`Done with ${content.length} results. ${crypto.randomUUID()}`));
  if (said.includes('prompt one')) {
    return paced(
      calls(
        text('I read both files and the list.'),
        toolUse('Read', { file_path: 'a.txt' }),
        toolUse('Read', { file_path: 'b.txt' }),
        toolUse('Bash', { command: 'echo one >> c.txt; sleep 0.02; ls' }),
      ),
    );
  }
  if (said.includes('prompt two')) {
    return paced(
      calls(
        text('Somebody digs meanwhile.'),
        toolUse('Task', { description: 'dig', prompt: 'deep down', subagent_type: 'general-purpose' }),
        toolUse('Bash', { command: 'setsid sleep 300', run_in_background: true }),
      ),
    );
  }
  if (said.includes('deep down')) {
    return paced(calls(text('I dig.'), toolUse('Bash', { command: 'sleep 0.02; cat a.txt' })));
  }
  return paced(says(`Nothing to do for this one. ${crypto.randomUUID()}`));
}

/** Everything on record must be sent exactly once, and nothing the server had seen may be missing. */
export function requestFaults(
  request: Pick<SeenRequest, 'body' | 'violation'>,
  records: readonly SessionRecord[],
  before: readonly Pick<SeenRequest, 'raw'>[],
  prompts: readonly string[] = PROMPTS,
): readonly string[] {
  const blocks = (request.body.messages ?? []).flatMap(({ content }) =>
    Array.isArray(content) ? content.map((block) => JSON.stringify({ ...block, cache_control: undefined })) : [],
  );
  const times = (text: string) => blocks.filter((block) => block.includes(text)).length;
  const once = (what: string, text: string) => {
    const found = times(text);
    return found === 1 ? [] : [`${what} is sent ${found} times: ${text.slice(0, 120)}`];
  };
  const dead = new Set(records.flatMap((record) => (record.type === 'tombstone' ? [record.messageId] : [])));
  const seen = prompts.filter((words) => before.some(({ raw }) => raw.includes(words)));
  return [
    ...(request.violation === undefined ? [] : [request.violation]),
    ...[...seen, AFTER].flatMap((words) => once('A prompt', JSON.stringify(words))),
    ...records.flatMap((record) => {
      if (record.type === 'user' && !dead.has(record.message.id))
        return promptsOf(record.message).flatMap((words) => once('A prompt on record', words));
      if (record.type === 'assistant' && !dead.has(record.messageId) && stays(record, records)) {
        const { block } = record;
        if (block.type === 'text') return once('A text', JSON.stringify(block.text));
        if (block.type === 'tool_use')
          return once('A call', JSON.stringify({ type: 'tool_use', id: block.id }).slice(0, -1));
      }
      if (record.type === 'result') return once('A result', JSON.stringify(record.result).slice(0, -1));
      return [];
    }),
  ];
}

/** A call that was not complete when somebody stopped the reply does not join. */
function stays({ messageId, index }: Extract<SessionRecord, { type: 'assistant' }>, records: readonly SessionRecord[]) {
  const reply = records.find((record) => record.type === 'reply' && record.messageId === messageId);
  return reply?.type !== 'reply' || reply.kept.includes(index);
}

function promptsOf(message: Message): readonly string[] {
  if (message.role !== 'user' || message.origin !== 'prompt') return [];
  return message.blocks.flatMap((block) =>
    block.type === 'text' && !block.text.startsWith('<reminder>') ? [JSON.stringify(block.text)] : [],
  );
}
