// stream-floor.ts <url>: the floor of streaming. Receives a reply with the API library and writes its text ten times a
// second; started by stream.ts with the runtime of ouro.
import { Anthropic } from '@anthropic-ai/sdk';
import { DEFAULT_MODEL } from '../src/model/built-in-models.ts';

const client = new Anthropic({ apiKey: 'none', baseURL: process.argv[2] ?? '' });
process.stdout.write('ready\n');
process.stdin.once('data', () => void receive());

async function receive(): Promise<void> {
  let text = '';
  const writeText = () => {
    process.stdout.write(text);
    text = '';
  };
  const timer = setInterval(writeText, 100);
  const events = await client.messages.create({
    model: DEFAULT_MODEL,
    max_tokens: 64_000,
    messages: [{ role: 'user', content: 'go' }],
    stream: true,
  });
  for await (const event of events)
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
  clearInterval(timer);
  writeText();
}
