/**
 * A web page for an agent: output is streamed as server-sent events, input is sent by POST.
 * Run it with `ANTHROPIC_API_KEY` set: node web-page.mjs, then open the address it prints.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createAgent } from '@ouro-cli/agent';

const PAGE = `<!doctype html><title>ouro</title><pre id="log"></pre><form><input name="message" autofocus></form><script>
  new EventSource('/events').onmessage = ({ data }) => { log.textContent += JSON.parse(data); };
  document.forms[0].onsubmit = (event) => {
    event.preventDefault();
    fetch('/say', { method: 'POST', body: event.target.message.value });
    event.target.reset();
  };
</script>`;

const agent = createAgent({ model: process.env.MODEL ?? 'sonnet' });

const server = createServer(async (request, response) => {
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const send = (chunk) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    // A late client gets the conversation so far and the streaming reply.
    const { messages, partial } = agent.state();
    for (const { role, blocks = [] } of [...messages, ...(partial ? [partial] : [])])
      for (const block of blocks) if (block.type === 'text') send(role === 'user' ? `\n> ${block.text}\n` : block.text);
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === 'message_update' && event.kind === 'text') send(event.delta);
      if (event.type === 'message_end' && event.message.role === 'user') send(`\n> ${event.message.blocks[0].text}\n`);
      if (event.type === 'agent_end' && event.terminal.words) send(`\n[${event.terminal.words}]\n`);
    });
    request.on('close', unsubscribe);
    return;
  }
  if (request.url === '/say' && request.method === 'POST') {
    const message = (await text(request)).trim();
    if (message === '') return response.writeHead(400).end();
    // During a run, a message steers it. An agent is running when `prompt` returns, so two requests cannot collide.
    if (agent.state().status === 'idle') agent.prompt(message).catch((error) => console.error(error.message));
    else agent.steer(message);
    response.writeHead(202).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
});

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
