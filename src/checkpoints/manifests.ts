import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { removeIfThere } from './pack.ts';
import type { Snapshot } from './snapshot.ts';

/** Snapshots on disk for as long as the command runs that they were taken for: a crash must not lose them. */
export type Manifests = {
  save(name: string, snapshot: Snapshot): void;
  load(name: string): Snapshot | undefined;
  drop(name: string): void;
};

const access = {
  mode: z.number(),
  owner: z.string().exactOptional(),
  attributes: z.record(z.string(), z.string()).exactOptional(),
};

const before = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('absent') }),
  z.object({ kind: z.literal('file'), hash: z.string(), ...access }),
  z.object({ kind: z.literal('link'), target: z.string() }),
  z.object({ kind: z.literal('folder'), ...access }),
  z.object({ kind: z.literal('pipe'), ...access }),
  z.object({ kind: z.literal('not-kept'), why: z.string() }),
]);

const manifest = z.object({
  files: z.array(z.tuple([z.string(), before])),
  unknown: z.array(z.tuple([z.string(), z.string()])),
});

export function createManifests(folder: string): Manifests {
  const pathOf = (name: string) => join(folder, `${name}.json`);
  return {
    save(name, { files, unknown }) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(pathOf(name), JSON.stringify({ files: [...files], unknown: [...unknown] }), { mode: 0o600 });
    },
    load(name) {
      try {
        const read = manifest.parse(JSON.parse(readFileSync(pathOf(name), 'utf8')));
        return { files: new Map(read.files), unknown: new Map(read.unknown) };
      } catch {
        // Never written, or torn: the command had not begun then.
        return undefined;
      }
    },
    drop: (name) => removeIfThere(pathOf(name)),
  };
}
