import type { Attempt } from '../../contracts/face/host.ts';
import { messageOf } from '../../lib/errors.ts';
import type { McpHub } from '../../mcp/hub.ts';
import type { Core } from '../core.ts';
import { readMcp } from './read-mcp.ts';

type Begun = { readonly ok: true; readonly words: string } | { readonly ok: false; readonly words: string };

const PATIENCE_MS = 300_000;

/** Begins a login at a server: the page to visit is told at once, and it is connected when somebody has been there. */
export async function beginLogin(name: string, core: Core, hub: McpHub): Promise<Begun> {
  const { servers } = await readMcp({ ...core, loaded: core.settings.loaded() });
  const launch = servers.find((server) => server.name === name)?.launch;
  if (launch?.kind !== 'http' && launch?.kind !== 'sse')
    return { ok: false, words: `There is no MCP server ${name} with an address to log in at.` };
  const page = Promise.withResolvers<URL>();
  const { login } = await import('../../mcp/login/login.ts');
  const { ouroHome } = core.environment;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const ended = login({ url: launch.url, oauth: launch.oauth, ouroHome, visit: page.resolve, signal });
  const connected = ended.then(
    () => hub.reconnect(name),
    (thrown): Attempt => ({ ok: false, why: messageOf(thrown) }),
  );
  const first = await Promise.race([page.promise, connected]);
  // Nobody waits: whoever is at the page comes back when it is done, and is told.
  if (first instanceof URL) void connected.then((attempt) => tell(core, name, attempt));
  if (first instanceof URL) return { ok: true, words: `Open this page and allow it:\n\n${first.href}` };
  return first.ok ? { ok: true, words: `${name} is connected.` } : { ok: false, words: first.why };
}

function tell({ bus }: Core, name: string, attempt: Attempt): Promise<void> {
  const text = attempt.ok ? `Logged in to ${name}: it is connected.` : `The login at ${name} failed: ${attempt.why}`;
  return bus.tell({ type: 'notice', level: attempt.ok ? 'info' : 'warn', topic: 'mcp', text });
}
