/** The program: node main.mjs "Lend Ada the book about cups." */
import { createInterface } from 'node:readline/promises';
import { openSession } from '@ouro-cli/agent';
import { createLibrarian } from './agent.mjs';

const terminal = createInterface({ input: process.stdin, output: process.stdout });
const session = await openSession({ dir: './conversations', sessionId: 'desk' });
const agent = createLibrarian({
  shelf: [{ title: 'Cups of the World' }, { title: 'The First Cup', isRare: true }],
  messages: session.messages,
  listeners: [session.record],
  maxBudgetUsd: 1,
  ...(process.env.MODEL === undefined ? {} : { model: process.env.MODEL }),
  async onPermission({ title, reasons }) {
    const answer = await terminal.question(`${title}: ${reasons.join(' ')} Allow it? (y/n) `);
    return { behavior: answer === 'y' ? 'allow' : 'deny' };
  },
});
agent.subscribe((event) => {
  if (event.type === 'message_update' && event.kind === 'text') process.stdout.write(event.delta);
  if (event.type === 'tool_end') console.log(`- ${event.tool}: ${event.status}`);
});
process.once('SIGINT', () => agent.abort());

await agent.resume();
const end = await agent.prompt(process.argv[2] ?? 'Which books about cups are there?');
console.log(end.words === undefined ? '' : `\n${end.words}`);
console.log(`$${end.spent.usd.toFixed(4)}`);
await session.close();
terminal.close();
process.exitCode = end.reason === 'completed' ? 0 : 1;
