import { expect, test } from 'vitest';
import type { Draft } from '../../../src/contracts/conversation.ts';
import { edit } from '../../../src/ui/composer/edit.ts';
import { createEditor } from '../../../src/ui/composer/editor-state.ts';
import { journalled, recallDraft } from '../../../src/ui/run/draft-journal.ts';
import { factsOf } from '../../../src/ui/run/facts.ts';
import { initialView } from '../../../src/ui/view/view-state.ts';
import { fakeConversation } from '../../support/fake-conversation.ts';

test('what was put aside comes back with the draft, and is on disk again before any key', async () => {
  const saved: Draft[] = [];
  const port = {
    load: async () => saved.at(-1),
    save: (draft: Draft) => void saved.push(draft),
    clear: async () => undefined,
  };
  const conversation = fakeConversation({ more: { draft: port } });
  const empty = initialView(factsOf(conversation), []);
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

test('somebody who types already goes on typing, and the draft from last time waits aside', async () => {
  const kept: Draft = { text: 'from last time', caret: 4, pastes: [], queue: [{ lane: 'next', text: 'queued' }] };
  const saved: Draft[] = [];
  const port = { load: async () => kept, save: (draft: Draft) => void saved.push(draft), clear: async () => undefined };
  const conversation = fakeConversation({ more: { draft: port } });
  let view = { ...initialView(factsOf(conversation), []), editor: createEditor({ draft: { text: 'new', caret: 3 } }) };
  const change = (update: (now: typeof view) => typeof view) => {
    view = update(view);
  };
  await recallDraft(conversation, change, 0);
  expect(view.editor.text).toBe('new');
  expect(saved.at(-1)).toMatchObject({ text: 'new', stash: 'queued\n\nfrom last time' });
});
