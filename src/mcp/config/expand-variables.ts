import type { Launch, OAuthChoice } from './configured-server.ts';

/** Variables a text named that are not set and have no default. */
export type Expanded<Value> = { readonly value: Value; readonly missing: readonly string[] };

/** Fills in `${NAME}` and `${NAME:-default}`; an empty variable counts as not set when there is a default. */
function expandText(text: string, variables: Readonly<Record<string, string>>): Expanded<string> {
  const missing: string[] = [];
  const value = text.replaceAll(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (whole, name: string, fallback?: string) => {
    const known = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (known !== undefined && (known !== '' || fallback === undefined)) return known;
    if (fallback !== undefined) return fallback;
    missing.push(name);
    return whole;
  });
  return { value, missing };
}

/** Fills in every text of a launch where variables may stand. */
export function expandLaunch(launch: Launch, variables: Readonly<Record<string, string>>): Expanded<Launch> {
  const missing: string[] = [];
  const fill = (text: string): string => {
    const expanded = expandText(text, variables);
    missing.push(...expanded.missing);
    return expanded.value;
  };
  const fillAll = (record: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, fill(value)]));
  if (launch.kind === 'host') return { value: launch, missing };
  const value: Launch =
    launch.kind === 'stdio'
      ? { kind: 'stdio', command: fill(launch.command), args: launch.args.map(fill), env: fillAll(launch.env) }
      : { ...launch, url: fill(launch.url), headers: fillAll(launch.headers), ...filledLogin(launch.oauth, fill) };
  return { value, missing: [...new Set(missing)] };
}

/** Secrets of a login are named by variables as well. */
function filledLogin(oauth: OAuthChoice | undefined, fill: (text: string) => string): { readonly oauth?: OAuthChoice } {
  if (oauth === undefined) return {};
  const filled = (text: string | undefined) => (text === undefined ? undefined : fill(text));
  const { clientId, clientSecret, privateKey, issuer, identityProvider: vouching } = oauth;
  return {
    oauth: {
      ...oauth,
      clientId: filled(clientId),
      clientSecret: filled(clientSecret),
      privateKey: filled(privateKey),
      issuer: filled(issuer),
      // The line that prints an id token is read by a shell, which has variables of its own.
      identityProvider: vouching && {
        ...vouching,
        tokenEndpoint: fill(vouching.tokenEndpoint),
        clientId: fill(vouching.clientId),
        clientSecret: filled(vouching.clientSecret),
        idToken: filled(vouching.idToken),
      },
    },
  };
}
