/** In the place of what signs in to clouds, where a bundle is made for browsers: `browser` in the manifest says so. */
export async function openCloudPort(): Promise<never> {
  return refuse();
}

export function openEntraSource(): never {
  return refuse();
}

function refuse(): never {
  throw new Error(
    'Models of clouds need Node or Bun: a browser has nothing they could sign in with. Ask a server of yours.',
  );
}
