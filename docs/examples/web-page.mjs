/**
 * A web page that streams an agent: words come as server-sent events, what is typed goes in by POST.
 * Run it with `ANTHROPIC_API_KEY` set: node web-page.mjs, then open the address it prints.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createAgent } from 'ouro';

const PAGE = `<!doctype html><title>ouro</title><pre id="log"></pre><form><input name="words" autofocus></form><script>
  new EventSource('/events').onmessage = ({ data }) => { log.textContent += JSON.parse(data); };
  document.forms[0].onsubmit = (event) => {
    event.preventDefault();
    fetch('/say', { method: 'POST', body: event.target.words.value });
    event.target.reset();
  };
</script>`;

const agent = createAgent({ model: process.env.MODEL ?? 'sonnet' });

const server = createServer(async (request, response) => {
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const send = (words) => response.write(`data: ${JSON.stringify(words)}\n\n`);
    // Whoever comes late sees what was said so far, and the reply that is being written.
    const { messages, partial } = agent.state();
    for (const { role, blocks = [] } of [...messages, ...(partial ? [partial] : [])])
      for (const block of blocks) if (block.type === 'text') send(role === 'user' ? `\n> ${block.text}\n` : block.text);
    const leave = agent.subscribe((event) => {
      if (event.type === 'message_update' && event.kind === 'text') send(event.delta);
      if (event.type === 'message_end' && event.message.role === 'user') send(`\n> ${event.message.blocks[0].text}\n`);
      if (event.type === 'agent_end' && event.terminal.words) send(`\n[${event.terminal.words}]\n`);
    });
    request.on('close', leave);
    return;
  }
  if (request.url === '/say' && request.method === 'POST') {
    const words = await text(request);
    // While it works, new words steer it.
    if (agent.state().status === 'idle') void agent.prompt(words);
    else agent.steer(words);
    response.writeHead(202).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
});

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
