import { createHash } from 'node:crypto';
import type { HostMcpServer } from '../contracts/frontend/host-capabilities.ts';
import type { McpServerConfig } from '../contracts/hook-and-server-schemas.ts';
import { describeSandboxRequest } from '../lib/processes/program-check.ts';
import { redactSecrets } from '../lib/text/redact-secrets.ts';

/** Name of the file with the user's logins. */
export const MCP_LOGINS_FILE = 'mcp-logins.json';

/** The source that configured a server, highest precedence first. */
export type McpServerScope = 'managed' | 'flag' | 'local' | 'project' | 'user' | 'host';

/** The login settings of a server, as configured. */
export type McpLoginConfig = NonNullable<McpServerConfig['oauth']>;

/** OAuth settings for servers without dynamic client registration; a client id may be a metadata URL. */
export type OAuthConfig = { readonly [Key in keyof McpLoginConfig]?: McpLoginConfig[Key] | undefined };

/** The way a server is reached: a command, an address, or the host's own process. */
export type McpServerLaunch =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** The requests for more than the sandbox of servers in the workspace gives. */
      readonly sandbox?: McpServerConfig['sandbox'];
    }
  | {
      readonly kind: 'http' | 'sse';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly oauth?: OAuthConfig;
    }
  | { readonly kind: 'host'; readonly server: HostMcpServer };

/** A configured MCP server, ready to use unless `blocked` is set. */
export type ConfiguredMcpServer = {
  readonly name: string;
  readonly scope: McpServerScope;
  /** File that configures it; absent for flags and hosts. */
  readonly file?: string;
  readonly launch: McpServerLaunch;
  /** Hash an approval is bound to: the command, its arguments and environment, or the address. */
  readonly hash: string;
  readonly callTimeoutMs?: number;
  /** Set for servers in the front matter of a sub-agent: only that kind uses it, and only while one works. */
  readonly isAgentOnly?: true;
  /** Reason it is not started; absent for a server that may run. */
  readonly blocked?: { readonly reason: 'approval' | 'rejected' | 'mistake'; readonly message: string };
};

/** Hashes everything that decides what runs or where data goes. */
export function hashMcpServerLaunch(launch: McpServerLaunch): string {
  const { kind } = launch;
  const parts =
    kind === 'host'
      ? [kind, launch.server.name]
      : kind === 'stdio'
        ? [
            kind,
            launch.command,
            launch.args,
            sortEntries(launch.env),
            ...(launch.sandbox === undefined ? [] : [launch.sandbox]),
          ]
        : [kind, launch.url, sortEntries(launch.headers), ...(launch.oauth === undefined ? [] : [launch.oauth])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function sortEntries(record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Describes a launch in one line, without the values of its environment and headers. */
export function describeMcpServerLaunch(launch: McpServerLaunch): string {
  if (launch.kind === 'host') return 'in the host process';
  return launch.kind === 'stdio' ? [launch.command, ...launch.args].join(' ') : launch.url;
}

/** Describes everything an approval covers, environment, headers and login included, as the file writes it. */
export function describeMcpLaunchDetails(launch: McpServerLaunch): string {
  if (launch.kind === 'host') return describeMcpServerLaunch(launch);
  const variables = Object.entries(launch.kind === 'stdio' ? launch.env : launch.headers);
  const sandbox =
    launch.kind !== 'stdio' || launch.sandbox === undefined ? [] : [describeSandboxRequest(launch.sandbox)];
  const login = launch.kind === 'stdio' || launch.oauth === undefined ? [] : [`OAuth ${formatLogin(launch.oauth)}`];
  const extras = [...variables.map(([name, value]) => `${name}=${redactSecrets(value)}`), ...login, ...sandbox].join(
    ', ',
  );
  return extras === '' ? describeMcpServerLaunch(launch) : `${describeMcpServerLaunch(launch)}, with ${extras}`;
}

/** Formats a login with its secrets redacted; the id token command is shown whole because a shell runs it. */
function formatLogin({ identityProvider, ...oauth }: OAuthConfig): string {
  const { idTokenCommand = undefined, ...provider } = identityProvider ?? {};
  const shown = identityProvider === undefined ? oauth : { ...oauth, identityProvider: provider };
  const text = JSON.stringify(shown, (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    return SECRET_KEYS.includes(key) ? redactSecret(value) : redactSecrets(value);
  });
  return idTokenCommand === undefined ? text : `${text} with the id token printed by: ${idTokenCommand}`;
}

const SECRET_KEYS = ['clientSecret', 'privateKey', 'idToken'];

/** Keeps the names of variables, so the user sees which ones are sent, and hides the text around them. */
function redactSecret(text: string): string {
  const parts = /\$\{([A-Za-z_]\w*)(?:\}|(:-[^}]*)(?:\}|$))|[^$]+|\$/g;
  return text
    .replaceAll(parts, (whole, name?: string, fallback?: string) => {
      if (name === undefined || !whole.endsWith('}')) return '…';
      return fallback === undefined ? whole : `\${${name}:-…}`;
    })
    .replaceAll(/…+/g, '…');
}

/** An expanded value, and the names of variables that are not set and have no default. */
type Expanded<Value> = { readonly value: Value; readonly missing: readonly string[] };

/** Expands `${NAME}` and `${NAME:-default}`; an empty variable counts as unset when there is a default. */
function expandText(text: string, variables: Readonly<Record<string, string>>): Expanded<string> {
  const missing: string[] = [];
  const value = text.replaceAll(
    /\$\{([A-Za-z_]\w*)(?:\}|:-([^}]*)(?:\}|$))/g,
    (whole, name: string, fallback?: string) => {
      if (!whole.endsWith('}')) return whole;
      const current = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (current !== undefined && (current !== '' || fallback === undefined)) return current;
      if (fallback !== undefined) return fallback;
      missing.push(name);
      return whole;
    },
  );
  return { value, missing };
}

/** Expands the variables in every string of a launch. */
export function expandMcpLaunch(
  launch: McpServerLaunch,
  variables: Readonly<Record<string, string>>,
): Expanded<McpServerLaunch> {
  const missing: string[] = [];
  const expand = (text: string): string => {
    const expanded = expandText(text, variables);
    missing.push(...expanded.missing);
    return expanded.value;
  };
  const expandAll = (record: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, expand(value)]));
  if (launch.kind === 'host') return { value: launch, missing };
  const value: McpServerLaunch =
    launch.kind === 'stdio'
      ? { ...launch, command: expand(launch.command), args: launch.args.map(expand), env: expandAll(launch.env) }
      : {
          ...launch,
          url: expand(launch.url),
          headers: expandAll(launch.headers),
          ...expandLogin(launch.oauth, expand),
        };
  return { value, missing: [...new Set(missing)] };
}

/** Expands the variables in the OAuth settings. */
function expandLogin(
  oauth: OAuthConfig | undefined,
  expand: (text: string) => string,
): { readonly oauth?: OAuthConfig } {
  if (oauth === undefined) return {};
  const expandOptional = (text: string | undefined) => (text === undefined ? undefined : expand(text));
  const { clientId, clientSecret, privateKey, issuer, identityProvider } = oauth;
  return {
    oauth: {
      ...oauth,
      clientId: expandOptional(clientId),
      clientSecret: expandOptional(clientSecret),
      privateKey: expandOptional(privateKey),
      issuer: expandOptional(issuer),
      // `idTokenCommand` is not expanded: the shell that runs it expands its own variables.
      identityProvider: identityProvider && {
        ...identityProvider,
        tokenEndpoint: expand(identityProvider.tokenEndpoint),
        clientId: expand(identityProvider.clientId),
        clientSecret: expandOptional(identityProvider.clientSecret),
        idToken: expandOptional(identityProvider.idToken),
      },
    },
  };
}
