import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { fetch } from '../../src/lib/network/fetch.ts';
import { startUnchecked } from '../../src/lib/processes/program-check.ts';
import { loginToMcpServer } from '../../src/mcp/auth/mcp-login.ts';
import { hashMcpServerLaunch, type McpServerLaunch, type OAuthConfig } from '../../src/mcp/configured-mcp-server.ts';
import { createMcpHub } from '../../src/mcp/hub.ts';
import { WAIT_MS } from './runs.ts';

/** Our MCP client as the conformance suite starts it: connects to the address, logs in where it must, calls what is there. */
const url = process.argv.at(-1) ?? '';
const context = z
  .looseObject({
    client_id: z.string().optional(),
    client_secret: z.string().optional(),
    private_key_pem: z.string().optional(),
    signing_algorithm: z.string().optional(),
    idp_client_id: z.string().optional(),
    idp_id_token: z.string().optional(),
    idp_token_endpoint: z.string().optional(),
  })
  .parse(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'));
const { idp_client_id, idp_id_token, idp_token_endpoint } = context;
const vouching =
  idp_client_id === undefined || idp_id_token === undefined || idp_token_endpoint === undefined
    ? undefined
    : {
        clientId: idp_client_id,
        tokenEndpoint: idp_token_endpoint,
        // The suite's people have signed in already: what they were given is printed.
        idTokenCommand: `printf %s '${idp_id_token}'`,
      };
const ouroHome = await mkdtemp(join(tmpdir(), 'conformance-'));
/** An address as an id is read by servers that look there, and by no others. */
const oauth: OAuthConfig = {
  clientId: context.client_id ?? 'https://conformance-test.local/client-metadata.json',
  clientSecret: context.client_secret,
  privateKey: context.private_key_pem,
  algorithm: context.signing_algorithm,
  identityProvider: vouching,
  ...(process.env.MCP_CONFORMANCE_SCENARIO?.includes('client-credentials') ? { grant: 'client_credentials' } : {}),
};
const launch: McpServerLaunch = { kind: 'http', url, headers: {}, oauth };
const hub = createMcpHub({
  checkProgram: startUnchecked,
  servers: [{ name: 'suite', scope: 'user', launch, hash: hashMcpServerLaunch(launch) }],
  hostServers: [],
  cwd: tmpdir(),
  getRoots: () => [tmpdir()],
  variables: { PATH: process.env.PATH ?? '' },
  ouroHome,
  version: '1.0.0',
  onChange: () => undefined,
  newMarker: () => crypto.randomUUID(),
});

/** A user with a browser who accepts everything. */
async function logIn(): Promise<void> {
  const openPage = (address: URL) => void fetch(address).catch(() => undefined);
  await loginToMcpServer({ url, oauth, ouroHome, openPage, signal: AbortSignal.timeout(WAIT_MS) });
  await hub.reconnect('suite');
}

const INPUT = { a: 5, b: 3 };

async function callAll(): Promise<boolean> {
  for (const tool of hub.listTools()) {
    const prepared = tool.prepare(INPUT);
    if (!prepared.ok) continue;
    const ask = async () => ({ kind: 'elicitation', action: 'accept', content: {} }) as const;
    const signal = AbortSignal.timeout(WAIT_MS);
    try {
      await prepared.call.call({ callId: tool.name, cwd: tmpdir(), signal, report: () => undefined, ask });
    } catch (thrown) {
      console.error(tool.name, thrown);
      return false;
    }
  }
  return true;
}

hub.start();
await hub.whenSettled();
if (hub.listStates()[0]?.status === 'needs-auth') await logIn();
for (let times = 0; times < 3 && !(await callAll()) && hub.listStates()[0]?.status === 'needs-auth'; times += 1)
  await logIn();
const [state] = hub.listStates();
console.error(JSON.stringify({ ...state, context }));
await hub.close();
await rm(ouroHome, { recursive: true, force: true });
process.exit(state?.status === 'connected' ? 0 : 1);
