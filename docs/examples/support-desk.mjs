/**
 * A support desk: an agent with custom messages (tickets) that hides card numbers from the model.
 * Run it with `ANTHROPIC_API_KEY` set: node support-desk.mjs "My cup arrived broken"
 */
import { buildTool, createAgent, openSession } from '@ouro-cli/agent';
import { z } from 'zod';

const CARD = /\b(?:\d[ -]?){13,16}\b/g;

const findOrder = buildTool({
  name: 'FindOrder',
  prompt: 'Finds the latest order of a customer.',
  input: z.object({ customer: z.string() }),
  isReadOnly: () => true,
  call: async ({ customer }) => ({ content: `${customer}: one cup, paid with 4111 1111 1111 1111` }),
});

const refund = buildTool({
  name: 'Refund',
  prompt: 'Refunds money.',
  input: z.object({ euros: z.number().positive() }),
  call: async ({ euros }) => ({ content: `${euros} euros are on their way.` }),
});

/** Formats a ticket for the model. */
const formatTicket = ({ number, customer }) => `This is ticket ${number}, opened by ${customer}.`;

const session = await openSession({ dir: process.env.DESK_DIR ?? './tickets' });
const agent = createAgent({
  systemPrompt: 'You answer the customers of a small shop. Be short and kind.',
  tools: [findOrder, refund],
  messages: session.messages,
  sessionId: session.sessionId,
  // Writes every message to disk before the next request.
  listeners: [session.record],
  // Converts tickets to text for the model.
  convertToLlm: (messages) =>
    messages.map((message) =>
      message.role === 'custom' && message.kind === 'ticket'
        ? {
            role: 'user',
            id: message.id,
            origin: 'attachment',
            blocks: [{ type: 'text', text: formatTicket(message.data) }],
          }
        : message,
    ),
  // Larger refunds need a person.
  beforeToolCall: ({ tool, input }) =>
    tool === 'Refund' && input.euros > 50 ? { block: 'More than 50 euros need a person.' } : undefined,
  // Removes card numbers before the model and the disk get the result.
  afterToolCall: (_call, outcome) => ({
    outcome: { ...outcome, content: String(outcome.content).replace(CARD, '[card]') },
  }),
});

agent.subscribe((event) => {
  if (event.type === 'tool_end') console.log(`- ${event.tool}: ${event.result.content}`);
});

await agent.append({ role: 'custom', id: 'ticket-7', kind: 'ticket', data: { number: 7, customer: 'Ada' } });
const end = await agent.prompt(process.argv[2] ?? 'My cup arrived broken.');
const answer = agent.state().messages.findLast(({ role }) => role === 'assistant');
console.log(answer?.blocks.map((block) => block.text ?? '').join('') ?? end.words);
await session.close();
process.exitCode = end.reason === 'completed' ? 0 : 1;
