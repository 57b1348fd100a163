import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { JsonObject } from '../../../src/contracts/json.ts';
import { filterCommands } from '../../../src/ui/app-state/overlay.ts';
import { reduceView } from '../../../src/ui/app-state/reduce-view.ts';
import { createViewState, type ViewState } from '../../../src/ui/app-state/view-state.ts';
import type { RenderContext } from '../../../src/ui/text/render-context.ts';
import { ASCII_GLYPHS } from '../../../src/ui/theme/glyphs.ts';
import { type HistoryItem, listUnprintedItems } from '../../../src/ui/widgets/history/history-item.ts';
import type { DialogForm } from '../../../src/ui/widgets/permission-dialog/dialog-state.ts';
import { isDialogCollapsed } from '../../../src/ui/widgets/permission-dialog/reduce-dialog.ts';
import { describeActivity } from '../../../src/ui/widgets/status-line/status-segments.ts';
import {
  asked,
  asks,
  begins,
  ends,
  fails,
  grows,
  opens,
  over,
  permission,
  queued,
  said,
  starts,
} from '../widgets/screen/events.ts';

const START = createViewState({
  mode: 'default',
  model: 'sonnet-5',
  contextTokens: 0,
  contextWindow: 200_000,
  costUsd: 0,
  branch: undefined,
  changedLines: { added: 0, removed: 0 },
  backgroundTasks: 0,
  isDemo: false,
});

const reported = (events: readonly AgentEvent[], from: ViewState = START, nowMs = 0) =>
  events.reduce((view, event) => reduceView(view, event, nowMs), from);

/** What is printed, in a word and its text. */
function printed({ outbox }: ViewState): readonly string[] {
  return listUnprintedItems(outbox).map((item) => `${item.kind} ${wordsOf(item)}`.trim());
}

function wordsOf(item: HistoryItem): string {
  switch (item.kind) {
    case 'prompt':
    case 'notice':
      return item.text;
    case 'markdown':
      return item.block.source;
    case 'tools':
      return item.entries.map(({ callId }) => callId).join(' ');
    default:
      return '';
  }
}

test('the prompt of a command is printed as the command that was typed', () => {
  const message = { role: 'user', id: 'u', origin: 'prompt', command: '/review', blocks: [] } as const;
  const blocks = [{ type: 'text', text: 'Review the change.\n\nReport defects first.' }] as const;
  const view = reported([begins(), { type: 'message_end', message: { ...message, blocks } }]);
  expect(printed(view)).toEqual(['prompt /review']);
  expect(view.lastPrompt).toBe('/review');
});

test('a command is listed under the alias that is typed', () => {
  const cost = { name: 'cost', aliases: ['usage'], description: 'tokens and cost', source: 'builtin' } as const;
  const listed = (query: string) => filterCommands([cost], query).map(({ id, label }) => [id, label]);
  expect([listed('usage'), listed('us'), listed('co'), listed('')]).toEqual([
    [['usage', '/usage']],
    [['usage', '/usage']],
    [['cost', '/cost']],
    [['cost', '/cost']],
  ]);
});

describe('an answer', () => {
  test('is printed block by block, and only the open one stays live', () => {
    const view = reported([begins(), asked('go'), opens('text'), grows('One.\n\nTwo.\n\nThr')]);
    expect(printed(view)).toEqual(['prompt go', 'markdown One.', 'markdown Two.']);
    expect(view.pieces).toHaveLength(1);
    expect(printed(reported([grows('ee.'), said('One.\n\nTwo.\n\nThree.')], view)).at(-1)).toBe('markdown Three.');
  });

  test('that did not stream is taken from its block', () => {
    expect(printed(reported([begins(), said('All at once.')]))).toEqual(['markdown All at once.']);
  });

  test('that streamed is not printed again when its block is complete', () => {
    const text = 'Only once.';
    expect(printed(reported([begins(), grows(text), said(text), over()]))).toEqual(['markdown Only once.']);
  });

  test('that was discarded is removed from the screen, unless already printed', () => {
    const view = reported([
      begins(),
      grows('Half an ans'),
      { type: 'tombstone', messageId: 'm1', why: 'retried' },
      over(),
    ]);
    expect(printed(view)).toEqual([]);
  });

  test('that breaks off stays as far as it was shown', () => {
    const view = reported([begins(), grows('Half an ans'), over('aborted_streaming')]);
    expect(printed(view)).toEqual(['markdown Half an ans', 'stopped']);
    expect(view.lastRunEnd).toBe('stopped');
  });
});

describe('calls', () => {
  test('are printed together when all before them have ended', () => {
    const running = reported([begins(), starts('a', 'Bash', 'x'), starts('b', 'Read', 'y'), ends('b', 'Read')]);
    expect(printed(running)).toEqual([]);
    expect(printed(reported([ends('a', 'Bash')], running))).toEqual(['tools a b']);
  });

  test('hold back the text after them', () => {
    const view = reported([
      begins(),
      starts('a', 'Bash', 'x'),
      grows('Meanwhile.\n\n', 'm2'),
      said('Meanwhile.', 'm2'),
    ]);
    expect(printed(view)).toEqual([]);
    expect(printed(reported([ends('a', 'Bash')], view))).toEqual(['tools a', 'markdown Meanwhile.']);
  });

  test('that never ended are ended with the run', () => {
    const view = reported([begins(), starts('a', 'Bash', 'x'), over('aborted_tools')]);
    expect(printed(view)).toEqual(['tools a', 'stopped']);
    expect(view.pieces).toEqual([]);
  });

  test('wait for the user, whether the question or the call is reported first', () => {
    const question = permission('a', 'Bash', { kind: 'shell' });
    for (const events of [
      [starts('a', 'Bash', 'x'), question],
      [question, starts('a', 'Bash', 'x')],
    ]) {
      const view = reported([begins(), ...events]);
      expect(view.pieces).toMatchObject([{ entry: { state: { status: 'waiting' } } }]);
      expect(view.activity.status).toBe('waiting_for_answer');
    }
  });
});

describe('questions', () => {
  const shell = permission('a', 'Bash', { kind: 'shell' });

  test('are visible at once, and accept no key yet', () => {
    const { dialog } = reported([begins(), shell], START, 5000);
    expect(dialog).toMatchObject({ stage: 'open', shownAtMs: 5000, armedAtMs: undefined });
  });

  test('fold while a draft is typed', () => {
    const written = { ...START, editor: { ...START.editor, text: 'words', caret: 5 } };
    expect(isDialogCollapsed(reported([begins(), shell], START, 5000))).toBe(false);
    expect(isDialogCollapsed(reported([begins(), shell], written, 5000))).toBe(true);
  });

  test('are shown one after the other and end with the run', () => {
    const two = reported([begins(), shell, permission('b', 'Bash', { kind: 'shell' })], START, 5000);
    expect(two.dialogRequests.map(({ id }) => id)).toEqual(['ask-a', 'ask-b']);
    const answered: AgentEvent = {
      type: 'permission_answer',
      requestId: 'ask-a',
      answer: { behavior: 'allow' },
      by: 'person',
    };
    const one = reported([answered], two, 6000);
    expect(one.dialogRequests.map(({ id }) => id)).toEqual(['ask-b']);
    expect(one.dialog.stage).toBe('open');
    expect(reported([over()], one)).toMatchObject<Partial<ViewState>>({
      dialogRequests: [],
      dialog: { stage: 'none' },
    });
  });

  test('return the composer with its draft, even when the run ends', () => {
    const armed = reported([begins(), shell], START, 5000);
    if (armed.dialog.stage !== 'open') throw new Error('not open');
    const userDraft = { ...START.editor, text: 'my draft', caret: 8 };
    const form: DialogForm = { ...armed.dialog.form, typing: 'reason', userDraft };
    const lent: ViewState = { ...armed, dialog: { ...armed.dialog, form } };
    expect(reported([over('aborted_tools')], lent).editor.text).toBe('my draft');
  });

  test('about a plan print the plan, once', () => {
    const plan = asks('p', { kind: 'plan', plan: '# Plan' });
    expect(printed(reported([begins(), plan, plan]))).toEqual(['shown']);
  });

  test('of a sub-agent are asked like any other', () => {
    const event: AgentEvent = { type: 'subagent', callId: 't', agentId: 'x', agentType: 'Explore', event: shell };
    expect(reported([begins(), event]).dialogRequests).toHaveLength(1);
  });
});

test('a late abort leaves the screen idle', () => {
  const late: AgentEvent = { type: 'status', status: 'stopping' };
  expect(reported([begins(), over(), late]).activity.status).toBe('idle');
  expect(reported([begins(), late]).activity.status).toBe('stopping');
});

test('work between two runs has its own start, and a user command is not a run', () => {
  const busy: AgentEvent = { type: 'status', status: 'running_tools' };
  expect(reported([begins(), over(), busy], START, 500).activity).toMatchObject({ turnStartedAtMs: 500, sinceMs: 500 });
  const own: AgentEvent = { type: 'tool_start', callId: 'c', tool: 'Bash', title: 'ls', input: {}, messageId: '' };
  expect(reported([own]).activity.status).toBe('idle');
});

test('an aborted /compact leaves the screen idle too, with no run to end', () => {
  const status = (what: 'compacting' | 'stopping' | 'idle'): AgentEvent => ({ type: 'status', status: what });
  expect(reported([status('compacting'), status('stopping')]).activity.status).toBe('stopping');
  expect(reported([status('compacting'), status('stopping'), status('idle')]).activity.status).toBe('idle');
});

describe('errors', () => {
  const overloaded = { kind: 'overloaded', status: 529, message: 'Overloaded' } as const;

  test('count down until the next request or text', () => {
    const waiting = reported([begins(), asked('go'), fails(1, 4000, overloaded)], START, 100);
    expect(waiting.retry).toMatchObject({ attempt: 1, dueAtMs: 4100 });
    expect(reported([grows('a')], waiting).retry).toBeUndefined();
    const sent: AgentEvent = { type: 'request_sent', attempt: 2, model: 'sonnet-5' };
    expect(reported([sent], waiting).retry).toBeUndefined();
  });

  test('count down at once, unless it is the first and soon over', () => {
    const line = (attempt: number, delayMs: number) =>
      describeAt(100, reported([begins(), asked('go'), fails(attempt, delayMs, overloaded)], START, 100));
    expect(line(1, 400)).not.toContain('try');
    expect(line(1, 4000)).toContain('try 2 of 11 in 4s');
    expect(line(2, 400)).toContain('try 3 of 11 in 1s');
  });

  test('without recovery return the message to an empty draft', () => {
    const failure = { kind: 'auth', status: 401, message: 'invalid x-api-key' } as const;
    expect(reported([begins(), asked('my words'), over('api_error', failure)]).editor.text).toBe('my words');
    const typing = { ...START, editor: { ...START.editor, text: 'new', caret: 3 } };
    expect(reported([begins(), asked('my words'), over('api_error', failure)], typing).editor.text).toBe('new');
  });
});

test('queued messages are shown until they are delivered', () => {
  const one = queued('q1', 'next', 'first');
  const view = reported([begins(), one, queued('q2', 'after', 'second')]);
  expect(view.queue.map(({ id }) => id)).toEqual(['q1', 'q2']);
  if (one.type !== 'queue') throw new Error('not a queue');
  expect(reported([{ ...one, state: 'delivered' }], view).queue.map(({ id }) => id)).toEqual(['q2']);
});

test('a completed task list is printed at the end, an open one stays visible', () => {
  const todo = (status: 'completed' | 'pending') =>
    ends('t', 'TodoWrite', { display: { kind: 'todo', todos: [{ content: 'one', status }] } });
  const open = reported([begins(), starts('t', 'TodoWrite', ''), todo('pending'), over()]);
  expect(open.todos).toHaveLength(1);
  const done = reported([begins(), starts('t', 'TodoWrite', ''), todo('completed'), over()]);
  expect([done.todos, printed(done).at(-1)]).toEqual([[], 'todos']);
});

test('attached files and reminders are not shown as text of the message', () => {
  const view = reported([
    {
      type: 'message_end',
      message: {
        role: 'user',
        id: 'u',
        origin: 'prompt',
        blocks: [
          { type: 'text', text: 'look at @a.ts' },
          { type: 'text', text: '<reminder>\nThe user named a.ts. It reads: …\n</reminder>' },
        ],
      },
    },
  ]);
  expect(printed(view)).toEqual(['prompt look at @a.ts']);
});

describe('a background sub-agent', () => {
  const ask = permission('c1', 'Bash', { command: 'touch a' }, { agentId: 'agent_1' });
  const answer: AgentEvent = {
    type: 'permission_answer',
    requestId: 'ask-c1',
    answer: { behavior: 'allow' },
    by: 'person',
  };

  test('keeps asking when the run that started it has ended', () => {
    const view = reported([begins(), asked('go'), ask, over()], START, 1000);
    expect(view.dialogRequests.map(({ id }) => id)).toEqual(['ask-c1']);
    expect(view.dialog.stage).not.toBe('none');
    expect(view.activity.status).toBe('idle');
  });

  test('asks and is answered while idle, and starts no run', () => {
    const view = reported([begins(), asked('go'), over(), ask], START, 1000);
    expect([view.dialogRequests.length, view.activity.status]).toEqual([1, 'idle']);
    const answered = reported([answer], view, 2000);
    expect([answered.dialogRequests.length, answered.activity.status]).toEqual([0, 'idle']);
  });

  test('a question of the run itself ends with it', () => {
    const view = reported(
      [begins(), permission('c1', 'Bash', { command: 'touch a' }), over('aborted_tools')],
      START,
      1000,
    );
    expect([view.dialogRequests.length, view.dialog.stage]).toEqual([0, 'none']);
  });
});

/** The line about what the run does at a time. */
function describeAt(nowMs: number, view: ViewState): string {
  const drawing: RenderContext = {
    width: 80,
    rows: 24,
    glyphs: ASCII_GLYPHS,
    nowMs,
    spinner: '',
    cwd: '/project',
    links: 'printed',
    markup: 'hidden',
    highlight: undefined,
  };
  return describeActivity(view, drawing)
    .text.map(({ text }) => text)
    .join('');
}

test('a running hook is shown, with its status message if any, until it answers', () => {
  const hook = (phase: 'started' | 'response', event: string, detail: JsonObject): AgentEvent => ({
    type: 'hook',
    phase,
    event,
    name: 'x',
    detail: { hook_id: event, ...detail },
  });
  const line = (events: readonly AgentEvent[], first = [begins()]) =>
    describeAt(2_500, reported([...first, ...events]));
  expect(line([hook('started', 'Stop', { status_message: 'Tests\nrun' })])).toContain('Tests⏎run  2s');
  expect(line([hook('started', 'Stop', {})])).toContain('Stop hook  2s');
  expect(line([hook('started', 'Notification', {})])).not.toContain('hook');
  expect(line([hook('started', 'Stop', {}), hook('response', 'Stop', {})])).not.toContain('hook');
  // What begins at the start is named once the first prompt waits for it.
  expect(line([hook('started', 'SessionStart', {})], [])).toBe('');
  expect(line([hook('started', 'SessionStart', {}), begins()], [])).toContain('SessionStart hook  2s');
  expect(line([hook('started', 'UserPromptSubmit', {}), begins()], [])).not.toContain('hook');
});

test('a cleared conversation has no tasks; a compacted one keeps them', () => {
  const todos = [{ content: 'Build', status: 'pending', activeForm: 'Building' } as const];
  const boundary = { role: 'boundary', id: 'b', trigger: 'manual', preTokens: 900 } as const;
  const busy: ViewState = { ...START, todos };
  const cleared = reported([{ type: 'compacted', boundary, messages: [boundary], postTokens: 0 }], busy);
  expect([cleared.todos, cleared.outbox]).toEqual([[], undefined]);
  const summary = { role: 'user', id: 's', origin: 'summary', blocks: [] } as const;
  const smaller = reported([{ type: 'compacted', boundary, messages: [boundary, summary], postTokens: 9 }], busy);
  expect(smaller.todos).toEqual(todos);
});
