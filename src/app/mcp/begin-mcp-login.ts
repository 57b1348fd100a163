import type { ActionResult } from '../../contracts/frontend/host-capabilities.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { loadMcpConfig } from '../../mcp/config/load-config.ts';
import type { McpHub } from '../../mcp/hub.ts';
import type { Core } from '../core.ts';
import { listSettingsFolders } from '../read-settings.ts';

type LoginStart = { readonly ok: boolean; readonly message: string };

const LOGIN_TIMEOUT_MS = 300_000;

/** Starts a login at a server: returns the page to open, and connects the server once the user has allowed it. */
export async function beginMcpLogin(name: string, core: Core, hub: McpHub): Promise<LoginStart> {
  const folders = listSettingsFolders(core.cwd, core.environment.home);
  const { servers } = await loadMcpConfig({ ...core, folders, loaded: core.settings.loaded() });
  const launch = servers.find((server) => server.name === name)?.launch;
  if (launch?.kind !== 'http' && launch?.kind !== 'sse')
    return { ok: false, message: `There is no remote MCP server ${name} to log in to.` };
  const page = Promise.withResolvers<URL>();
  const { loginToMcpServer } = await import('../../mcp/auth/mcp-login.ts');
  const { ouroHome } = core.environment;
  const signal = AbortSignal.timeout(LOGIN_TIMEOUT_MS);
  const loggedIn = loginToMcpServer({ url: launch.url, oauth: launch.oauth, ouroHome, openPage: page.resolve, signal });
  const connected = loggedIn.then(
    () => hub.reconnect(name),
    (thrown): ActionResult => ({ ok: false, why: getErrorMessage(thrown) }),
  );
  const pageOrAttempt = await Promise.race([page.promise, connected]);
  if (pageOrAttempt instanceof URL) {
    // Not awaited: a notice reports the result after the user has visited the page.
    void connected.then((attempt) => notifyResult(core, name, attempt));
    return { ok: true, message: `Open this page to allow access:\n\n${pageOrAttempt.href}` };
  }
  return pageOrAttempt.ok ? { ok: true, message: `${name} is connected.` } : { ok: false, message: pageOrAttempt.why };
}

function notifyResult({ bus }: Core, name: string, attempt: ActionResult): Promise<void> {
  const text = attempt.ok ? `Logged in to ${name}; it is connected.` : `Login to ${name} failed: ${attempt.why}`;
  return bus.emit({ type: 'notice', level: attempt.ok ? 'info' : 'warn', topic: 'mcp', text });
}
