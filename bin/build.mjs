// build.mjs [--binary]: builds dist/, optionally with an executable; run by the pinned Bun.
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildExecutable, bundle } from './bundle.mjs';
import { findHostTarget } from './targets.mjs';

const dist = join(import.meta.dirname, '..', 'dist');
const executable = process.platform === 'win32' ? 'ouro.exe' : 'ouro';
// Edits during the build must count as newer than the build.
const beganAt = new Date();

mkdirSync(dist, { recursive: true });
const stamp = join(dist, '.stamp');
// Removed first, so that an interrupted build does not count, and an executable does not outlive its bundle.
rmSync(stamp, { force: true });
for (const name of readdirSync(dist)) if (name.endsWith('.js') || name === executable) rmSync(join(dist, name));

const { outputs } = await bundle({ outdir: dist });
await writeParts();
const bytes = outputs.reduce((sum, { size }) => sum + size, 0);
process.stdout.write(`dist/: ${outputs.length} files, ${(bytes / 1e6).toFixed(1)} MB\n`);

writeFileSync(stamp, '');
utimesSync(stamp, beganAt, beganAt);
if (process.argv.includes('--binary')) {
  const target = findHostTarget()?.name ?? `${process.platform}-${process.arch}`;
  await buildExecutable(join(dist, executable), { target });
  process.stdout.write(`dist/${executable}: one file that needs no other\n`);
}

/** Writes all parts into one file, which a running ouro keeps open: an update may remove the others. */
async function writeParts() {
  const parts = await Promise.all(outputs.map(async (output) => [basename(output.path), await output.text()]));
  writeFileSync(join(dist, 'parts.json.gz'), gzipSync(JSON.stringify(Object.fromEntries(parts))));
}
