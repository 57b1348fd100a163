import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { readIdToken } from '../../../src/mcp/auth/identity-provider.ts';

test('a command that never prints an id token is ended with an error', async () => {
  const provider = { tokenEndpoint: 'https://idp.example.com', clientId: 'us', idTokenCommand: 'tail -f /dev/null' };
  const surroundings = { cwd: tmpdir(), env: () => ({ PATH: process.env.PATH ?? '' }) };
  const why = 'The id token command (idTokenCommand) failed: it timed out';
  await expect(readIdToken(provider, surroundings, 50)).rejects.toThrow(why);
});
