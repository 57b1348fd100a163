/** Returns the environment variables of the process; none in a browser. */
export function getEnvironmentVariables(): Readonly<Record<string, string>> {
  const runtime: { readonly env?: Readonly<Record<string, string | undefined>> } | undefined = globalThis.process;
  return Object.fromEntries(
    Object.entries(runtime?.env ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The package version. A test compares it with package.json, which browsers cannot read. */
export const VERSION = '0.2.0';
