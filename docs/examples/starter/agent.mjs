/** Creates the agent of this project. `options` are those of `createAgent`: tests pass a scripted model. */
import { buildTool, createAgent } from '@ouro-cli/agent';

export function createLibrarian({ shelf, ...options }) {
  const findBooks = buildTool({
    name: 'FindBooks',
    prompt: 'Finds books by words in their titles.',
    input: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
    isReadOnly: true,
    isConcurrencySafe: true,
    call: ({ words }) => shelf.filter(({ title }) => title.toLowerCase().includes(words.toLowerCase())),
  });
  const lendBook = buildTool({
    name: 'LendBook',
    prompt: 'Lends a book to a reader.',
    input: {
      type: 'object',
      properties: { title: { type: 'string' }, reader: { type: 'string' } },
      required: ['title', 'reader'],
    },
    // Rare books need a yes from a person.
    requiresApproval: ({ title }) => shelf.some((book) => book.title === title && book.isRare) && `${title} is rare.`,
    call({ title, reader }) {
      const book = shelf.find((one) => one.title === title);
      if (book === undefined) return { content: `There is no ${title}. Find it first.`, isError: true };
      if (book.lentTo !== undefined) return { content: `${title} is lent to ${book.lentTo}.`, isError: true };
      book.lentTo = reader;
      return `${reader} has ${title} now.`;
    },
    // A run that is stopped leaves nothing behind.
    undo({ title }) {
      delete shelf.find((one) => one.title === title).lentTo;
    },
  });
  return createAgent({
    systemPrompt: 'You are the librarian of a small library. Be short and kind.',
    tools: [findBooks, lendBook],
    maxTurns: 20,
    ...options,
  });
}
