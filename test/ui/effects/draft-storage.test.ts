import { expect, test } from 'vitest';
import type { PromptDraft, PromptDraftPort } from '../../../src/contracts/frontend/conversation.ts';
import { createViewState } from '../../../src/ui/app-state/view-state.ts';
import { getStatusLineFacts } from '../../../src/ui/effects/conversation-facts.ts';
import {
  captureDraft,
  createLeftoverOffer,
  describeUnsent,
  restoreDraft,
} from '../../../src/ui/effects/draft-storage.ts';
import { applyDraftEditorAction } from '../../../src/ui/widgets/composer/draft-editor-actions.ts';
import { createDraftEditor } from '../../../src/ui/widgets/composer/draft-editor-state.ts';
import { createOpenDialogState, type DialogForm } from '../../../src/ui/widgets/permission-dialog/dialog-state.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';

test('the stash is restored with the draft, and both are saved again before any key', async () => {
  const saved: PromptDraft[] = [];
  const port = {
    load: async () => saved.at(-1),
    save: (draft: PromptDraft) => void saved.push(draft),
    clear: async () => undefined,
  };
  const conversation = fakeConversation({ more: { draft: port } });
  const empty = createViewState(getStatusLineFacts(conversation), []);
  let editor = createDraftEditor({ draft: { text: 'first', caret: 5 } });
  for (const text of ['second', 'third']) {
    editor = applyDraftEditorAction(
      applyDraftEditorAction(editor, { type: 'stash' }, 0),
      { type: 'set-text', text },
      0,
    );
  }
  saved.push(captureDraft({ ...empty, editor: applyDraftEditorAction(editor, { type: 'stash' }, 0) }));
  let view = empty;
  await restoreDraft(
    conversation,
    (update) => {
      view = update(view);
    },
    0,
  );
  expect(view.hint?.text).toMatch(/stashed \(ctrl\+s on an empty draft restores it\)/);
  expect(applyDraftEditorAction(view.editor, { type: 'stash' }, 0).text).toBe('first\n\nsecond\n\nthird');
  expect(saved).toHaveLength(2);
  expect(saved[1]).toEqual(saved[0]);
});

test('text typed for a question is stored beside the draft', () => {
  const empty = createViewState(getStatusLineFacts(fakeConversation()), []);
  const userDraft = createDraftEditor({ draft: { text: 'my draft', caret: 8 } });
  const written = (text: string, initialText = ''): PromptDraft => {
    const form: DialogForm = { ...createOpenDialogState(0).form, typing: 'custom_answer', initialText, userDraft };
    const editor = createDraftEditor({ draft: { text, caret: 0 } });
    return captureDraft({ ...empty, editor, dialog: { ...createOpenDialogState(0), form } });
  };
  expect(written('own words')).toMatchObject({ text: 'my draft', stash: 'own words' });
  // What stood there already is nobody's.
  expect(written('npm test', 'npm test').stash).toBeUndefined();
});

test('text typed at the start is kept, and the restored draft is offered', async () => {
  const kept: PromptDraft = { text: 'from last time', caret: 4, pastes: [], queue: [{ lane: 'next', text: 'queued' }] };
  const saved: PromptDraft[] = [];
  const port = {
    load: async () => kept,
    save: (draft: PromptDraft) => void saved.push(draft),
    clear: async () => undefined,
  };
  const conversation = fakeConversation({ more: { draft: port } });
  let view = {
    ...createViewState(getStatusLineFacts(conversation), []),
    editor: createDraftEditor({ draft: { text: 'new', caret: 3 } }),
  };
  const change = (update: (now: typeof view) => typeof view) => {
    view = update(view);
  };
  await restoreDraft(conversation, change, 0);
  expect(view.editor.text).toBe('new');
  expect(saved.at(-1)).toMatchObject({ text: 'new', stash: 'queued\n\nfrom last time' });
});

test('an unsent draft of another session is the newest history entry until it is sent', async () => {
  const dropped: string[] = [];
  const draft: PromptDraft = {
    text: 'left behind',
    caret: 0,
    pastes: [],
    queue: [{ lane: 'next', text: 'queued' }],
    at: '2026-01-02T10:00:00Z',
  };
  const port: PromptDraftPort = {
    ...fakeConversation().draft,
    loadLeftover: async () => ({ draft, discard: async () => void dropped.push(draft.text) }),
  };
  const conversation = fakeConversation({ more: { draft: port } });
  let view = {
    ...createViewState(getStatusLineFacts(conversation), []),
    editor: createDraftEditor({ history: ['sent before'] }),
  };
  const updateView = (update: (now: typeof view) => typeof view) => {
    view = update(view);
  };
  const leftover = createLeftoverOffer({ conversation, updateView, now: () => 0 });
  await leftover.offer();
  expect(view.hint?.text).toBe('press up for an unsent draft from 2026-01-02');
  const sending = [{ type: 'prompt', parts: [] }] as const;
  leftover.noteSent(view, sending); // Something else was sent: the offer stands.
  expect(dropped).toEqual([]);
  view = { ...view, editor: applyDraftEditorAction(view.editor, { type: 'older' }, 0) };
  expect(view.editor.text).toBe('queued\n\nleft behind');
  leftover.noteSent(view, sending);
  expect(dropped).toEqual(['left behind']);
});

test('leaving reports how much is kept', () => {
  const empty = createViewState(getStatusLineFacts(fakeConversation()), []);
  expect(describeUnsent(empty)).toBeUndefined();
  const editor = applyDraftEditorAction(
    createDraftEditor({ draft: { text: 'aside', caret: 0 } }),
    { type: 'stash' },
    0,
  );
  const message = { role: 'user', id: 'm', origin: 'steer', blocks: [{ type: 'text', text: 'next' }] } as const;
  expect(describeUnsent({ ...empty, editor, queue: [{ id: 'q', lane: 'next', message }] })).toBe(
    '1 queued message and 1 draft',
  );
});
