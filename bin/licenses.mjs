import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Collects the licenses of the packages that source files belong to. */
export function collectLicenses(root, sources) {
  const names = [...sources].flatMap(
    (source) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(source)?.[1] ?? [],
  );
  const notices = [...new Set(names)].toSorted().map((name) => readLicense(join(root, 'node_modules', name)));
  return notices.join(`\n${'-'.repeat(80)}\n\n`);
}

/** Reads the license of the package in a folder. */
export function readLicense(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}
