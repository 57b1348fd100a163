import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { servedTools } from '../../../src/cli/faces/serve-mcp.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';
import { createTempProject } from '../../support/temp-project.ts';

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');

/** What `ouro mcp serve` offers, behind the address that the suite wants instead of pipes. */
async function served() {
  const conversation = fakeConversation({
    more: {
      control: {
        servedTools: () => [{ name: 'Read', description: 'Reads a file.', input_schema: { type: 'object' } }],
      },
    },
  });
  const http = createServer(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await servedTools(conversation).connect(transport);
    await transport.handleRequest(request, response);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => http.close() };
}

/** The others try tools, prompts and resources of a server made for the suite. */
test.each(['server-initialize', 'ping', 'tools-list'])(
  'what we serve passes %s of the official suite',
  async (scenario) => {
    await using project = await createTempProject();
    const { url, close } = await served();
    const args = [SUITE, 'server', '--url', url, '--scenario', scenario];
    const { exitCode, all } = await execa(process.execPath, args, { cwd: project.dir, all: true, reject: false });
    close();
    expect(exitCode, all).toBe(0);
  },
);
