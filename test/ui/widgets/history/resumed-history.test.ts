import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CliRunOptions } from '../../../../src/contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../../src/contracts/frontend/conversation.ts';
import type { Message } from '../../../../src/contracts/message.ts';
import { buildPastEvents } from '../../../../src/session/resume/past-events.ts';
import { reduceView } from '../../../../src/ui/app-state/reduce-view.ts';
import { createViewState } from '../../../../src/ui/app-state/view-state.ts';
import { getStatusLineFacts } from '../../../../src/ui/effects/conversation-facts.ts';
import { getLineText } from '../../../../src/ui/text/line.ts';
import { type HistoryItem, listUnprintedItems } from '../../../../src/ui/widgets/history/history-item.ts';
import {
  type HistoryRenderState,
  INITIAL_HISTORY_RENDER_STATE,
  renderHistoryItem,
} from '../../../../src/ui/widgets/history/history-lines.ts';
import { createResumedHistory } from '../../../../src/ui/widgets/history/resumed-history.ts';
import { calls, hang, reply, says, status, text, toolUse } from '../../../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../../../support/api/server.ts';
import { type Composed, composed } from '../../../support/composed.ts';
import { fakeConversation } from '../../../support/loop/fake-conversation.ts';
import { someOf } from '../../../support/runs.ts';
import { createTempProject, type TempProject } from '../../../support/temp-project.ts';
import { DRAWING } from '../screen/render-part.tsx';

let project: TempProject;
let server: ApiServer;
let opened: Composed[];

beforeEach(async () => {
  project = await createTempProject({
    'package.json': '{}\n',
    'src/cart.mjs': 'export const total = 1;\nexport const rate = 2;\n',
    'src/price.mjs': 'export const price = 1;\n',
    'test.mjs':
      'console.log("not ok 3 takes the discount once");\nconsole.log("# pass 3\\n# fail 1");\nprocess.exit(1);\n',
  });
  opened = [];
});

afterEach(async () => {
  for (const one of opened) await one.close();
  await server.close();
  await project.remove();
});

/** What items leave in the history of a terminal, without how long it took and what was in the composer then. */
function rowsOf(items: readonly HistoryItem[]): readonly string[] {
  let carry: HistoryRenderState = INITIAL_HISTORY_RENDER_STATE;
  return items.flatMap((item) => {
    const laid = renderHistoryItem(item, { ...DRAWING, width: 100, cwd: project.dir }, carry);
    carry = laid.state;
    return laid.lines.map((line) =>
      getLineText(line).replaceAll(/ *\b\d+(\.\d)?s\b| Your message is back in the draft.*/g, ''),
    );
  });
}

/** What is seen while it happens. */
function watch(conversation: Conversation): () => readonly string[] {
  const { agent } = conversation;
  let view = createViewState(getStatusLineFacts(conversation));
  agent.subscribe((event) => {
    view = reduceView({ ...view, facts: getStatusLineFacts(conversation) }, event, Date.now());
    if (event.type === 'permission_request') {
      const isFine = event.request.title !== 'git push';
      agent.answerPermission(
        event.request.id,
        isFine ? { behavior: 'allow' } : { behavior: 'deny', message: 'not yet' },
      );
    }
    if (event.type === 'question') {
      const { kind } = event.question;
      agent.answerQuestion(
        event.id,
        kind === 'plan' ? { kind, verdict: 'accept' } : { kind: 'questions', answers: ['Red'] },
      );
    }
  });
  return () => rowsOf(listUnprintedItems(view.outbox));
}

async function begin(turns: Script['turns'], options: Partial<CliRunOptions> = {}): Promise<Composed> {
  server = await startApiServer({ turns });
  return open(options);
}

async function open(options: Partial<CliRunOptions>): Promise<Composed> {
  const one = await composed(project, server.url, { frontend: 'screen', ...options });
  opened.push(one);
  return one;
}

/** The rows of a session that is taken up again. */
async function rowsAgain({ conversation }: Composed): Promise<readonly string[]> {
  const wanted = conversation.agent.sessionId;
  await conversation.close('other');
  const again = await open({ session: { kind: 'resume', wanted, fork: 'same' } });
  const { agent, pastTurns } = again.conversation;
  return rowsOf(
    createResumedHistory(pastTurns?.earlier ?? [], agent.state().messages, getStatusLineFacts(again.conversation))
      .items,
  );
}

const bash = (command: string) => toolUse('Bash', { command });
const file = (name: string) => `${project.dir}/${name}`;
const search = () => [
  toolUse('Glob', { pattern: '**/*.mjs' }),
  toolUse('Read', { file_path: file('src/cart.mjs') }),
  toolUse('Grep', { pattern: 'total' }),
];
const TODOS = [{ content: 'Find it', status: 'completed', activeForm: 'Finding it' }];
const QUESTION = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ],
};

/** What a session may hold, and a row it must be known by. */
const KINDS: readonly (readonly [string, () => Script['turns'], RegExp])[] = [
  [
    'look-ups of several turns',
    () => [calls(...search()), reply([text('Now I know.'), ...search()]), says('Done.')],
    /^✓ Looked {2}Glob .*Grep/,
  ],
  ['a command that fails', () => [calls(bash('node test.mjs')), says('It fails.')], /^│ ✗ takes the discount once$/],
  ['a command that says nothing', () => [calls(bash('true')), says('It works.')], /^✓ \$ true$/],
  ['a script', () => [calls(bash('cd src\nls\necho done')), says('Done.')], /^│ echo done$/],
  [
    'an edit',
    () => [
      calls(toolUse('Read', { file_path: file('src/cart.mjs') })),
      calls(toolUse('Edit', { file_path: file('src/cart.mjs'), old_string: 'total = 1', new_string: 'total = 3' })),
      says('`total` is three.'),
    ],
    /^✓ Edit src\/cart.mjs {2}\+1 −1$/,
  ],
  [
    'a new file',
    () => [calls(toolUse('Write', { file_path: file('new.md'), content: '# New\n' })), says('There.')],
    /^✓ Write new.md {2}\+1 \(new\)$/,
  ],
  [
    'a tool that cannot do it',
    () => [calls(toolUse('Read', { file_path: file('gone.txt') })), says('Gone.')],
    /^✗ Read gone.txt/,
  ],
  ['a tool that is not there', () => [calls(toolUse('Nothing', {})), says('Ah.')], /^✗ Nothing/],
  [
    'a call that was refused',
    () => [calls(bash('git push')), says('Then not.')],
    /^✗ \$ git push {2}denied by you: not yet$/,
  ],
  ['tasks that are done', () => [calls(toolUse('TodoWrite', { todos: TODOS })), says('Done.')], /^Tasks 1\/1$/],
  [
    'a question',
    () => [calls(toolUse('AskUserQuestion', { questions: [QUESTION] })), says('Red it is.')],
    /^│ Which colour\? Red$/,
  ],
  [
    'a sub-agent',
    () => [
      calls(toolUse('Task', { description: 'Survey', prompt: 'Look around', subagent_type: 'general-purpose' })),
      calls(toolUse('Glob', { pattern: '*.mjs' })),
      says('All is quiet.'),
      says('Nothing to see.'),
    ],
    /^✓ Survey {2}1 call/,
  ],
  ['a failure that nothing helps against', () => [status(401, 'no such key')], /^✗ .*401/],
  [
    'words before and behind calls',
    () => [reply([text('# First\n\nThis.'), bash('echo a'), bash('echo b')]), says('- one\n- two')],
    /^│ b$/,
  ],
];

test.each(someOf(KINDS))('%s: after a resume it looks the same as live', async (_, turns, row) => {
  const first = await begin(turns());
  const seen = watch(first.conversation);
  await first.conversation.agent.prompt('go on');
  const live = seen();
  expect(live).toContainEqual(expect.stringMatching(row));
  expect(await rowsAgain(first)).toEqual(live);
});

test('a plan, a command of the user and an aborted run look the same live and after a resume', async () => {
  const first = await begin([
    calls(toolUse('ExitPlanMode', { plan: '# The plan\n\n1. Find it\n2. Mend it' })),
    says('Accepted.'),
    reply([text('Now I begin.'), bash('node test.mjs')]),
    hang(),
  ]);
  const { agent, pastTurns, runShell, setMode } = first.conversation;
  setMode('plan');
  const seen = watch(first.conversation);
  await agent.prompt('plan it');
  await runShell('echo mine');
  const running = agent.prompt('do it');
  await server.waitForRequest(4);
  agent.abort('user');
  await running;
  const live = seen();
  for (const words of ['The plan', '! echo mine', '│ mine', 'Now I begin.'])
    expect(live).toContainEqual(expect.stringContaining(words));
  expect(live.at(-1)).toMatch(/^■ Stopped/);
  const facts = getStatusLineFacts(first.conversation);
  const latest = createResumedHistory((await pastTurns?.loadLatest(3)) ?? [], agent.state().messages, facts);
  expect(rowsOf(latest.items)).toEqual(live);
  expect(latest.lastRunEnd).toBe('stopped');
  expect(await rowsAgain(first)).toEqual(live);
});

test('only the last two turns are shown, with the number of earlier ones; a new session shows nothing', async () => {
  const first = await begin(() => says('Yes.'));
  const { agent, pastTurns } = first.conversation;
  const facts = getStatusLineFacts(first.conversation);
  expect(createResumedHistory(pastTurns?.earlier ?? [], agent.state().messages, facts).items).toEqual([]);
  for (const words of ['one', 'two', 'three']) await agent.prompt(words);
  const rows = await rowsAgain(first);
  expect(rows).toEqual(['… 1 earlier turn (ctrl+o)', '', '▌ two', '', 'Yes.', '', '▌ three', '', 'Yes.']);
});

test('a run killed during its answer shows where it was cut off, and how to continue', () => {
  const messages: readonly Message[] = [
    { role: 'user', id: 'u', origin: 'prompt', blocks: [{ type: 'text', text: 'why?' }] },
    { role: 'assistant', id: 'm', model: 'x', blocks: [{ type: 'text', text: 'Because of', cut: true }] },
    { role: 'user', id: 'i', origin: 'interrupt', blocks: [{ type: 'text', text: '[stopped]' }] },
  ];
  const { items, lastRunEnd } = createResumedHistory(
    buildPastEvents(messages, [], 2),
    messages,
    getStatusLineFacts(fakeConversation()),
  );
  expect(rowsOf(items)).toEqual([
    '▌ why?',
    '',
    'Because of',
    '',
    '! The reply was cut off here.',
    '',
    '■ The run was stopped here. Type what to do, or press enter to continue.',
  ]);
  expect(lastRunEnd).toBe('stopped');
});
