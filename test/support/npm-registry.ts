import { createServer, type IncomingMessage } from 'node:http';
import { z } from 'zod';

const publication = z.looseObject({
  name: z.string(),
  'dist-tags': z.record(z.string(), z.string()),
  versions: z.record(z.string(), z.looseObject({ dist: z.looseObject({ tarball: z.string() }) })),
  _attachments: z.record(z.string(), z.object({ data: z.base64() })),
});

type Package = Pick<z.output<typeof publication>, 'name' | 'dist-tags' | 'versions'>;

/** A registry on 127.0.0.1 that npm publishes to and installs from; it has nothing but what is published here. */
export async function startNpmRegistry() {
  const packages = new Map<string, Package>();
  const archives = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '').slice(1);
    if (request.method === 'PUT') {
      publish(publication.parse(JSON.parse(await readBody(request))));
      return void response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}');
    }
    const archive = archives.get(path);
    if (archive !== undefined) return void response.end(archive);
    const found = packages.get(path);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { error: 'Not found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;

  function publish({ name, 'dist-tags': tags, versions, _attachments: attached }: z.output<typeof publication>): void {
    const before = packages.get(name);
    const stored: [string, z.output<typeof publication>['versions'][string]][] = [];
    for (const [version, manifest] of Object.entries(versions)) {
      const [archive] = Object.entries(attached).filter(([file]) => file.endsWith(`-${version}.tgz`));
      const path = `${name}/-/${version}.tgz`;
      archives.set(path, Buffer.from(archive?.[1].data ?? '', 'base64'));
      stored.push([version, { ...manifest, dist: { ...manifest.dist, tarball: `${url}/${path}` } }]);
    }
    packages.set(name, {
      name,
      'dist-tags': { ...before?.['dist-tags'], ...tags },
      versions: { ...before?.versions, ...Object.fromEntries(stored) },
    });
  }

  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
