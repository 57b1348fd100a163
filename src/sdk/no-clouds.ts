/** Replaces the cloud providers in browser bundles, through the field `browser` of package.json. */
export async function openCloudPort(): Promise<never> {
  return throwUnsupported();
}

/** Replaces the Entra ID token source in browser bundles. */
export function openEntraTokenSource(): never {
  return throwUnsupported();
}

function throwUnsupported(): never {
  throw new Error('Cloud models need Node or Bun, because a browser cannot sign in to them. Use a server of your own.');
}
