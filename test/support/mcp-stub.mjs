// A small MCP server on pipes, for tests that are about something else: it starts in a tenth of the time of a real one.
import { createInterface } from 'node:readline';

const DOCUMENTS = { 'stub://features.md': '# Features of the stub', 'stub://limits.md': '# Limits of the stub' };
const text = (words) => ({ content: [{ type: 'text', text: words }] });

const TOOLS = {
  echo: { properties: { message: { type: 'string' } }, call: ({ message }) => text(`Echo: ${message}`) },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: 'stub', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(TOOLS).map(([name, { properties }]) => ({
      name,
      inputSchema: { type: 'object', properties },
    })),
  }),
  'tools/call': ({ name, arguments: input }) => TOOLS[name].call(input),
  'prompts/list': () => ({ prompts: [{ name: 'travel', arguments: [{ name: 'city', required: true }] }] }),
  'prompts/get': ({ arguments: { city } }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `How is the weather in ${city}?` } }],
  }),
  'resources/list': () => ({ resources: Object.keys(DOCUMENTS).map((uri) => ({ uri, name: uri })) }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: DOCUMENTS[uri] }] }),
};

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = METHODS[method];
  const result = answer?.(params);
  if (answer === undefined) send({ id, error: { code: -32601, message: `There is no ${method}.` } });
  else if (result !== undefined) send({ id, result });
}
