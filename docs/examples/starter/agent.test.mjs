import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAgent } from '@ouro-cli/agent';
import { createLibrarian } from './agent.mjs';

const createShelf = () => [{ title: 'Cups of the World' }, { title: 'The First Cup', isRare: true }];

/** A model that plays replies: a text, or the name and the input of a call. */
function playModel(...replies) {
  const requests = [];
  return {
    name: 'scripted',
    requests,
    async *stream(request) {
      yield { type: 'request_sent', attempt: 1 };
      const reply = replies[requests.length] ?? 'Done.';
      requests.push(JSON.stringify(request.messages));
      const [name, input] = reply;
      const call = { type: 'tool_use', id: `call_${requests.length}`, name, input };
      const block = typeof reply === 'string' ? { type: 'text', text: reply } : call;
      return { ok: true, message: { blocks: [block] } };
    },
  };
}

const lend = (title) => ['LendBook', { title, reader: 'Ada' }];

test('a book is found and lent', async () => {
  const shelf = createShelf();
  const model = playModel(['FindBooks', { words: 'cups' }], lend('Cups of the World'), 'Enjoy it!');
  const end = await createLibrarian({ shelf, model }).prompt('Lend Ada the book about cups.');
  assert.deepEqual([end.reason, end.text, shelf[0].lentTo], ['completed', 'Enjoy it!', 'Ada']);
  assert.match(model.requests[1], /Cups of the World/);
});

for (const behavior of ['allow', 'deny'])
  test(`a rare book needs approval: ${behavior}`, async () => {
    const shelf = createShelf();
    const onPermission = async () => ({ behavior });
    await createLibrarian({ shelf, model: playModel(lend('The First Cup')), onPermission }).prompt('Lend it.');
    assert.equal(shelf[1].lentTo, behavior === 'allow' ? 'Ada' : undefined);
  });

test('a book that was lent by a stopped run is taken back', async () => {
  const shelf = createShelf();
  const agent = createLibrarian({ shelf, model: playModel(lend('Cups of the World'), lend('The First Cup')) });
  agent.subscribe((event) => {
    if (event.type === 'tool_end' && event.status === 'done') agent.abort();
  });
  await agent.prompt('Lend both.');
  assert.equal(shelf[0].lentTo, undefined);
});

test('the agent ends, aborts and keeps its limits, whatever the model does', async () => {
  const { checks } = await checkAgent((options) => createLibrarian({ shelf: createShelf(), ...options }));
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
});
