import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import library from '../../packages/agent/package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
const SCOPE = manifest.name.split('/')[0] ?? '';

/** Commands that would install a package that is not published, or, as `ouro`, belongs to somebody else. */
const INSTALLS_UNPUBLISHED_PACKAGE = new RegExp(
  String.raw`\b(?:npm (?:install|i|add)|npx|bunx?|pnpm (?:add|dlx)|yarn (?:add|dlx))(?: -\S+)* (?:ouro(?![-/\w]|\.\w)|ouro-agent\b|${SCOPE}/)`,
);

test('no text tells people to install an unpublished package', () => {
  const list = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
  const folders = ['docs', 'src', '.github', 'packages'];
  const files = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...folders.flatMap(list)].filter(
    (path) => /\.(?:md|tsx?|mjs|sh|ps1|ya?ml)$/.test(path) && !path.startsWith(join('packages', 'agent', 'dist')),
  );
  expect(files.length).toBeGreaterThan(900);
  expect(files.filter((path) => INSTALLS_UNPUBLISHED_PACKAGE.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  for (const command of ['npm install -g ouro', 'npx ouro', 'npm i --global ouro', `npm i ${library.name}`])
    expect(INSTALLS_UNPUBLISHED_PACKAGE.test(`Run ${command}.`)).toBe(true);
});

test('the command and the library are packages of one scope and one version', () => {
  expect(SCOPE).toMatch(/^@[a-z-]+$/);
  expect([library.name, library.version]).toEqual([`${SCOPE}/agent`, manifest.version]);
});
