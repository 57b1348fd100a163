import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { readIdToken } from '../../../src/mcp/login/id-token.ts';

test('a command that never prints an id token is ended, and a sentence says so', async () => {
  const provider = { tokenEndpoint: 'https://idp.example.com', clientId: 'us', idTokenCommand: 'tail -f /dev/null' };
  const surroundings = { cwd: tmpdir(), env: () => ({ PATH: process.env.PATH ?? '' }) };
  const why = 'The command for the id token (idTokenCommand) failed: it did not answer in time';
  await expect(readIdToken(provider, surroundings, 50)).rejects.toThrow(why);
});
