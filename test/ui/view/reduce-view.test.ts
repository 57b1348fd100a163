import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { JsonObject } from '../../../src/contracts/json.ts';
import { activitySpans } from '../../../src/ui/status/activity-spans.ts';
import type { Drawing } from '../../../src/ui/text/drawing.ts';
import { ASCII_GLYPHS } from '../../../src/ui/theme/glyphs.ts';
import { type HistoryItem, waitingItems } from '../../../src/ui/view/history-item.ts';
import { reduceView } from '../../../src/ui/view/reduce-view.ts';
import { isFolded } from '../../../src/ui/view/slice-asks.ts';
import { initialView, type ViewState } from '../../../src/ui/view/view-state.ts';
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
} from '../components/events.ts';

const START = initialView({
  mode: 'default',
  model: 'sonnet-5',
  contextTokens: 0,
  contextWindow: 200_000,
  costUsd: 0,
  branch: undefined,
  changed: { added: 0, removed: 0 },
  background: 0,
  isDemo: false,
});

const told = (events: readonly AgentEvent[], from: ViewState = START, nowMs = 0) =>
  events.reduce((view, event) => reduceView(view, event, nowMs), from);

/** What is printed, in a word and its text. */
function printed({ outbox }: ViewState): readonly string[] {
  return waitingItems(outbox).map((item) => `${item.kind} ${wordsOf(item)}`.trim());
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

describe('an answer', () => {
  test('is printed block by block, and only what is open stays', () => {
    const view = told([begins(), asked('go'), opens('text'), grows('One.\n\nTwo.\n\nThr')]);
    expect(printed(view)).toEqual(['prompt go', 'markdown One.', 'markdown Two.']);
    expect(view.pieces).toHaveLength(1);
    expect(printed(told([grows('ee.'), said('One.\n\nTwo.\n\nThree.')], view)).at(-1)).toBe('markdown Three.');
  });

  test('that never streamed is taken from its block', () => {
    expect(printed(told([begins(), said('All at once.')]))).toEqual(['markdown All at once.']);
  });

  test('that streamed is not printed again when its block is complete', () => {
    const text = 'Only once.';
    expect(printed(told([begins(), grows(text), said(text), over()]))).toEqual(['markdown Only once.']);
  });

  test('that is void goes from the screen, as far as it is not printed', () => {
    const view = told([begins(), grows('Half an ans'), { type: 'tombstone', messageId: 'm1', why: 'retried' }, over()]);
    expect(printed(view)).toEqual([]);
  });

  test('that breaks off stays as far as it came', () => {
    const view = told([begins(), grows('Half an ans'), over('aborted_streaming')]);
    expect(printed(view)).toEqual(['markdown Half an ans', 'stopped']);
    expect(view.rest).toBe('stopped');
  });
});

describe('calls', () => {
  test('are printed together, when all before them are over', () => {
    const running = told([begins(), starts('a', 'Bash', 'x'), starts('b', 'Read', 'y'), ends('b', 'Read')]);
    expect(printed(running)).toEqual([]);
    expect(printed(told([ends('a', 'Bash')], running))).toEqual(['tools a b']);
  });

  test('hold back the text behind them', () => {
    const view = told([begins(), starts('a', 'Bash', 'x'), grows('Meanwhile.\n\n', 'm2'), said('Meanwhile.', 'm2')]);
    expect(printed(view)).toEqual([]);
    expect(printed(told([ends('a', 'Bash')], view))).toEqual(['tools a', 'markdown Meanwhile.']);
  });

  test('that never ended are ended with the run', () => {
    const view = told([begins(), starts('a', 'Bash', 'x'), over('aborted_tools')]);
    expect(printed(view)).toEqual(['tools a', 'stopped']);
    expect(view.pieces).toEqual([]);
  });

  test('wait for the person, whichever is told first, the question or the call', () => {
    const question = permission('a', 'Bash', { kind: 'shell' });
    for (const events of [
      [starts('a', 'Bash', 'x'), question],
      [question, starts('a', 'Bash', 'x')],
    ]) {
      const view = told([begins(), ...events]);
      expect(view.pieces).toMatchObject([{ entry: { state: { status: 'waiting' } } }]);
      expect(view.activity.status).toBe('waiting_for_answer');
    }
  });
});

describe('questions', () => {
  const shell = permission('a', 'Bash', { kind: 'shell' });

  test('are in sight at once, and hear nothing yet', () => {
    const { attention } = told([begins(), shell], START, 5000);
    expect(attention).toMatchObject({ stage: 'open', shownAtMs: 5000, armedAtMs: undefined });
  });

  test('fold while a draft is written', () => {
    const written = { ...START, editor: { ...START.editor, text: 'words', caret: 5 } };
    expect(isFolded(told([begins(), shell], START, 5000))).toBe(false);
    expect(isFolded(told([begins(), shell], written, 5000))).toBe(true);
  });

  test('come one after the other and end with the run', () => {
    const two = told([begins(), shell, permission('b', 'Bash', { kind: 'shell' })], START, 5000);
    expect(two.asks.map(({ id }) => id)).toEqual(['ask-a', 'ask-b']);
    const answered: AgentEvent = {
      type: 'permission_answer',
      requestId: 'ask-a',
      answer: { behavior: 'allow' },
      by: 'person',
    };
    const one = told([answered], two, 6000);
    expect(one.asks.map(({ id }) => id)).toEqual(['ask-b']);
    expect(one.attention.stage).toBe('open');
    expect(told([over()], one)).toMatchObject({ asks: [], attention: { stage: 'none' } });
  });

  test('give a lent composer back with the draft as it was, even when the run ends', () => {
    const armed = told([begins(), shell], START, 5000);
    if (armed.attention.stage !== 'open') throw new Error('not open');
    const kept = { ...START.editor, text: 'my draft', caret: 8 };
    const form = { ...armed.attention.form, writing: 'reason' as const, kept };
    const lent: ViewState = { ...armed, attention: { ...armed.attention, form } };
    expect(told([over('aborted_tools')], lent).editor.text).toBe('my draft');
  });

  test('about a plan print the plan, once', () => {
    const plan = asks('p', { kind: 'plan', plan: '# Plan' });
    expect(printed(told([begins(), plan, plan]))).toEqual(['shown']);
  });

  test('of a sub-agent are asked like any other', () => {
    const event: AgentEvent = { type: 'subagent', callId: 't', agentId: 'x', agentType: 'Explore', event: shell };
    expect(told([begins(), event]).asks).toHaveLength(1);
  });
});

test('a stop that comes too late leaves the screen at rest', () => {
  const late: AgentEvent = { type: 'status', status: 'stopping' };
  expect(told([begins(), over(), late]).activity.status).toBe('idle');
  expect(told([begins(), late]).activity.status).toBe('stopping');
});

test('what is done between two runs has a beginning of its own, and a line of the person’s own is no run at all', () => {
  const busy: AgentEvent = { type: 'status', status: 'running_tools' };
  expect(told([begins(), over(), busy], START, 500).activity).toMatchObject({ turnStartedAtMs: 500, sinceMs: 500 });
  const own: AgentEvent = { type: 'tool_start', callId: 'c', tool: 'Bash', title: 'ls', input: {}, messageId: '' };
  expect(told([own]).activity.status).toBe('idle');
});

test('a compaction by hand that was stopped leaves the screen at rest too, with no run to end', () => {
  const status = (what: 'compacting' | 'stopping' | 'idle'): AgentEvent => ({ type: 'status', status: what });
  expect(told([status('compacting'), status('stopping')]).activity.status).toBe('stopping');
  expect(told([status('compacting'), status('stopping'), status('idle')]).activity.status).toBe('idle');
});

describe('trouble', () => {
  const overloaded = { kind: 'overloaded', status: 529, message: 'Overloaded' } as const;

  test('counts down until the next request or word', () => {
    const waiting = told([begins(), asked('go'), fails(1, 4000, overloaded)], START, 100);
    expect(waiting.retry).toMatchObject({ attempt: 1, dueAtMs: 4100 });
    expect(told([grows('a')], waiting).retry).toBeUndefined();
    const sent: AgentEvent = { type: 'request_sent', attempt: 2, model: 'sonnet-5' };
    expect(told([sent], waiting).retry).toBeUndefined();
  });

  test('that nothing could be done about brings the message back into an empty draft', () => {
    const failure = { kind: 'auth', status: 401, message: 'invalid x-api-key' } as const;
    expect(told([begins(), asked('my words'), over('api_error', failure)]).editor.text).toBe('my words');
    const typing = { ...START, editor: { ...START.editor, text: 'new', caret: 3 } };
    expect(told([begins(), asked('my words'), over('api_error', failure)], typing).editor.text).toBe('new');
  });
});

test('what waits in the queue is there until it is delivered', () => {
  const one = queued('q1', 'next', 'first');
  const view = told([begins(), one, queued('q2', 'after', 'second')]);
  expect(view.queue.map(({ id }) => id)).toEqual(['q1', 'q2']);
  if (one.type !== 'queue') throw new Error('not a queue');
  expect(told([{ ...one, state: 'delivered' }], view).queue.map(({ id }) => id)).toEqual(['q2']);
});

test('a finished list of tasks is printed at the end, an open one stays in sight', () => {
  const todo = (status: 'completed' | 'pending') =>
    ends('t', 'TodoWrite', { display: { kind: 'todo', todos: [{ content: 'one', status }] } });
  const open = told([begins(), starts('t', 'TodoWrite', ''), todo('pending'), over()]);
  expect(open.todos).toHaveLength(1);
  const done = told([begins(), starts('t', 'TodoWrite', ''), todo('completed'), over()]);
  expect([done.todos, printed(done).at(-1)]).toEqual([[], 'todos']);
});

test('files and reminders that go with a message are not shown as its words', () => {
  const view = told([
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

describe('a sub-agent in the background', () => {
  const ask = permission('c1', 'Bash', { command: 'touch a' }, { agentId: 'agent_1' });
  const answer: AgentEvent = {
    type: 'permission_answer',
    requestId: 'ask-c1',
    answer: { behavior: 'allow' },
    by: 'person',
  };

  test('goes on asking when the run it was started by has ended', () => {
    const view = told([begins(), asked('go'), ask, over()], START, 1000);
    expect(view.asks.map(({ id }) => id)).toEqual(['ask-c1']);
    expect(view.attention.stage).not.toBe('none');
    expect(view.activity.status).toBe('idle');
  });

  test('asks and is answered while nothing else goes on, and nothing begins with that', () => {
    const view = told([begins(), asked('go'), over(), ask], START, 1000);
    expect([view.asks.length, view.activity.status]).toEqual([1, 'idle']);
    const answered = told([answer], view, 2000);
    expect([answered.asks.length, answered.activity.status]).toEqual([0, 'idle']);
  });

  test('a question of the run itself does not outlive it', () => {
    const view = told([begins(), permission('c1', 'Bash', { command: 'touch a' }), over('aborted_tools')], START, 1000);
    expect([view.asks.length, view.attention.stage]).toEqual([0, 'none']);
  });
});

test('a hook that is waited for is named, in its own words if it has some, until it answers', () => {
  const hook = (phase: 'started' | 'response', event: string, detail: JsonObject): AgentEvent => ({
    type: 'hook',
    phase,
    event,
    name: 'x',
    detail: { hook_id: event, ...detail },
  });
  const line = (events: readonly AgentEvent[], first = [begins()]) => {
    const drawing: Drawing = {
      width: 80,
      rows: 24,
      glyphs: ASCII_GLYPHS,
      nowMs: 2_500,
      spinner: '',
      cwd: '/project',
      links: 'printed',
      marks: 'hidden',
      highlight: undefined,
    };
    return activitySpans(told([...first, ...events]), drawing)
      .words.map(({ text }) => text)
      .join('');
  };
  expect(line([hook('started', 'Stop', { status_message: 'Tests\nrun' })])).toContain('Tests⏎run  2s');
  expect(line([hook('started', 'Stop', {})])).toContain('Stop hook  2s');
  expect(line([hook('started', 'Notification', {})])).not.toContain('hook');
  expect(line([hook('started', 'Stop', {}), hook('response', 'Stop', {})])).not.toContain('hook');
  // What begins at the start is named once the first prompt waits for it.
  expect(line([hook('started', 'SessionStart', {})], [])).toBe('');
  expect(line([hook('started', 'SessionStart', {}), begins()], [])).toContain('SessionStart hook  2s');
  expect(line([hook('started', 'UserPromptSubmit', {}), begins()], [])).not.toContain('hook');
});

test('a conversation that is cleared leaves no tasks; one that was made smaller keeps them', () => {
  const todos = [{ content: 'Build', status: 'pending', activeForm: 'Building' } as const];
  const boundary = { role: 'boundary', id: 'b', trigger: 'manual', preTokens: 900 } as const;
  const busy: ViewState = { ...START, todos };
  const cleared = told([{ type: 'compacted', boundary, messages: [boundary], postTokens: 0 }], busy);
  expect([cleared.todos, cleared.outbox]).toEqual([[], undefined]);
  const summary = { role: 'user', id: 's', origin: 'summary', blocks: [] } as const;
  const smaller = told([{ type: 'compacted', boundary, messages: [boundary, summary], postTokens: 9 }], busy);
  expect(smaller.todos).toEqual(todos);
});
