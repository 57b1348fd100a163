import { createHash } from 'node:crypto';
import type { HostMcpServer } from '../../contracts/face/host.ts';
import type { McpLoginConfig } from '../../contracts/settings.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';

/** Where a server was configured, the strongest first. */
export type ServerScope = 'managed' | 'flag' | 'local' | 'project' | 'user' | 'host';

/** How to log in where a server takes nobody who registers himself; a client id that is an address describes itself. */
export type OAuthChoice = { readonly [Key in keyof McpLoginConfig]?: McpLoginConfig[Key] | undefined };

/** How a server is reached. */
export type Launch =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'http' | 'sse';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly oauth?: OAuthChoice;
    }
  | { readonly kind: 'host'; readonly server: HostMcpServer };

/** One server as it will be used. */
export type ConfiguredServer = {
  readonly name: string;
  readonly scope: ServerScope;
  /** The file it stands in; absent when no file says it. */
  readonly file?: string;
  readonly launch: Launch;
  /** What an approval is bound to: the command, its arguments and environment, or the address. */
  readonly hash: string;
  readonly callTimeoutMs?: number;
  /** It stands in the head of a sub-agent: only such have it, and it runs as long as one of them works. */
  readonly isLent?: true;
  /** Why it is not started, in words; absent for a server that may run. */
  readonly held?: { readonly why: 'approval' | 'rejected' | 'mistake'; readonly words: string };
};

/** Changes with anything that decides what runs or where data goes. */
export function launchHash(launch: Launch): string {
  const { kind } = launch;
  const facts =
    kind === 'host'
      ? [kind, launch.server.name]
      : kind === 'stdio'
        ? [kind, launch.command, launch.args, sorted(launch.env)]
        : [kind, launch.url, sorted(launch.headers), ...(launch.oauth === undefined ? [] : [launch.oauth])];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

function sorted(record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** A server in a few words, without the values of its environment and headers. */
export function launchWords(launch: Launch): string {
  if (launch.kind === 'host') return 'inside the host';
  return launch.kind === 'stdio' ? [launch.command, ...launch.args].join(' ') : launch.url;
}

/** All that an approval is about, as the file says it: what a server is given decides what it does, too. */
export function launchDetails(launch: Launch): string {
  if (launch.kind === 'host') return launchWords(launch);
  const given = Object.entries(launch.kind === 'stdio' ? launch.env : launch.headers);
  const login = launch.kind === 'stdio' || launch.oauth === undefined ? [] : [`a login by ${shownLogin(launch.oauth)}`];
  const words = [...given.map(([name, value]) => `${name}=${withoutSecrets(value)}`), ...login].join(', ');
  return words === '' ? launchWords(launch) : `${launchWords(launch)}, given ${words}`;
}

/** A line for a shell stands whole and as it is: nothing of it may look like a secret and be left out. */
function shownLogin({ identityProvider, ...oauth }: OAuthChoice): string {
  const { idTokenCommand = undefined, ...vouching } = identityProvider ?? {};
  const shown = identityProvider === undefined ? oauth : { ...oauth, identityProvider: vouching };
  const words = JSON.stringify(shown, (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    return SECRET.includes(key) ? shownSecret(value) : withoutSecrets(value);
  });
  return idTokenCommand === undefined ? words : `${words} with the id token that is printed by: ${idTokenCommand}`;
}

const SECRET = ['clientSecret', 'privateKey', 'idToken'];

/** Variables are named, so that everybody sees which ones are sent; what stands beside them is not shown. */
function shownSecret(text: string): string {
  const parts = /\$\{([A-Za-z_]\w*)(:-[^}]*)?\}|[^$]+|\$/g;
  return text
    .replaceAll(parts, (whole, name?: string, fallback?: string) => {
      if (name === undefined) return '…';
      return fallback === undefined ? whole : `\${${name}:-…}`;
    })
    .replaceAll(/…+/g, '…');
}
