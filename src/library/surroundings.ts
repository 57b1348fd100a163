/** The variables of the process, where there is one: a browser has none. */
export function processVariables(): Readonly<Record<string, string>> {
  const runtime: { readonly env?: Readonly<Record<string, string | undefined>> } | undefined = globalThis.process;
  return Object.fromEntries(
    Object.entries(runtime?.env ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
