import { expect, test } from 'vitest';
import type { Draft } from '../../../src/contracts/face/conversation.ts';
import { edit } from '../../../src/ui/composer/edit.ts';
import { createEditor } from '../../../src/ui/composer/editor-state.ts';
import { journalled, keptWords, recallDraft } from '../../../src/ui/effects/draft-journal.ts';
import { statusFactsOf } from '../../../src/ui/effects/facts.ts';
import { createLeftover } from '../../../src/ui/effects/leftover-draft.ts';
import { openDialog } from '../../../src/ui/view/ask.ts';
import { initialView } from '../../../src/ui/view/view-state.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';

test('what was put aside comes back with the draft, and is on disk again before any key', async () => {
  const saved: Draft[] = [];
  const port = {
    load: async () => saved.at(-1),
    save: (draft: Draft) => void saved.push(draft),
    clear: async () => undefined,
  };
  const conversation = fakeConversation({ more: { draft: port } });
  const empty = initialView(statusFactsOf(conversation), []);
  let editor = createEditor({ draft: { text: 'first', caret: 5 } });
  for (const text of ['second', 'third']) {
    editor = edit(edit(editor, { type: 'stash' }, 0), { type: 'set-text', text }, 0);
  }
  saved.push(journalled({ ...empty, editor: edit(editor, { type: 'stash' }, 0) }));
  let view = empty;
  await recallDraft(
    conversation,
    (update) => {
      view = update(view);
    },
    0,
  );
  expect(view.hint?.text).toMatch(/put aside \(ctrl\+s on an empty line takes it back\)/);
  expect(edit(view.editor, { type: 'stash' }, 0).text).toBe('first\n\nsecond\n\nthird');
  expect(saved).toHaveLength(2);
  expect(saved[1]).toEqual(saved[0]);
});

test('what is being written for a question is on disk beside the draft', () => {
  const empty = initialView(statusFactsOf(fakeConversation()), []);
  const kept = createEditor({ draft: { text: 'my draft', caret: 8 } });
  const written = (text: string, start = ''): Draft => {
    const form = { ...openDialog(0).form, writing: 'own_words' as const, start, kept };
    const editor = createEditor({ draft: { text, caret: 0 } });
    return journalled({ ...empty, editor, attention: { ...openDialog(0), form } });
  };
  expect(written('own words')).toMatchObject({ text: 'my draft', stash: 'own words' });
  // What stood there already is nobody's.
  expect(written('npm test', 'npm test').stash).toBeUndefined();
});

test('somebody who types already goes on typing, and the draft from last time waits aside', async () => {
  const kept: Draft = { text: 'from last time', caret: 4, pastes: [], queue: [{ lane: 'next', text: 'queued' }] };
  const saved: Draft[] = [];
  const port = { load: async () => kept, save: (draft: Draft) => void saved.push(draft), clear: async () => undefined };
  const conversation = fakeConversation({ more: { draft: port } });
  let view = {
    ...initialView(statusFactsOf(conversation), []),
    editor: createEditor({ draft: { text: 'new', caret: 3 } }),
  };
  const change = (update: (now: typeof view) => typeof view) => {
    view = update(view);
  };
  await recallDraft(conversation, change, 0);
  expect(view.editor.text).toBe('new');
  expect(saved.at(-1)).toMatchObject({ text: 'new', stash: 'queued\n\nfrom last time' });
});

test('what another session left unsent is the newest of the earlier messages until it is sent', async () => {
  const dropped: string[] = [];
  const draft: Draft = {
    text: 'left behind',
    caret: 0,
    pastes: [],
    queue: [{ lane: 'next', text: 'queued' }],
    at: '2026-01-02T10:00:00Z',
  };
  const port = {
    ...fakeConversation().draft,
    leftover: async () => ({ draft, drop: async () => void dropped.push(draft.text) }),
  };
  const conversation = fakeConversation({ more: { draft: port } });
  let view = { ...initialView(statusFactsOf(conversation), []), editor: createEditor({ history: ['sent before'] }) };
  const change = (update: (now: typeof view) => typeof view) => {
    view = update(view);
  };
  const leftover = createLeftover({ conversation, change, now: () => 0 });
  await leftover.offer();
  expect(view.hint?.text).toBe('up: an unsent draft from 2026-01-02');
  const sending = [{ type: 'prompt', parts: [] }] as const;
  leftover.noteSent(view, sending); // Something else was sent: the offer stands.
  expect(dropped).toEqual([]);
  view = { ...view, editor: edit(view.editor, { type: 'older' }, 0) };
  expect(view.editor.text).toBe('queued\n\nleft behind');
  leftover.noteSent(view, sending);
  expect(dropped).toEqual(['left behind']);
});

test('whoever leaves is told how much is kept', () => {
  const empty = initialView(statusFactsOf(fakeConversation()), []);
  expect(keptWords(empty)).toBeUndefined();
  const editor = edit(createEditor({ draft: { text: 'aside', caret: 0 } }), { type: 'stash' }, 0);
  const message = { role: 'user', id: 'm', origin: 'steer', blocks: [{ type: 'text', text: 'next' }] } as const;
  expect(keptWords({ ...empty, editor, queue: [{ id: 'q', lane: 'next', message }] })).toBe(
    '1 queued message and 1 draft',
  );
});
