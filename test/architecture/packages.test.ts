import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { PACKAGE_FOLDERS, PUBLIC_EXPORTS, readManifest, readSources, readTests } from './sources.ts';
import { isNode, nodesOf, treeOf } from './syntax.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

test('every package has a page, tests, and a manifest with the name of its folder and the version of the core', () => {
  const { version } = readManifest('.');
  for (const folder of PACKAGE_FOLDERS) {
    const held = ['README.md', 'package.json', 'src', 'test'].filter((name) => existsSync(join(root, folder, name)));
    expect([folder, ...held]).toEqual([folder, 'README.md', 'package.json', 'src', 'test']);
    expect(readManifest(folder)).toMatchObject({ name: folder.replace('packages/', '@ouro-cli/'), version });
  }
});

test('the compiler and the runtime find the public exports of the manifests, and no others', () => {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const expected = [...PUBLIC_EXPORTS].map(([name, file]) => [name, [`./${file}`]]);
  expect(compilerOptions.paths).toEqual(Object.fromEntries(expected));
});

test('packages name exact versions, and those of the core of libraries that it has, too', () => {
  const { dependencies, devDependencies } = readManifest('.');
  const ofCore: Readonly<Record<string, string>> = { ...devDependencies, ...dependencies };
  for (const folder of PACKAGE_FOLDERS) {
    const manifest = readManifest(folder);
    const wrong = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      ([name, version]) => !/^\d+\.\d+\.\d+$/.test(version) || (ofCore[name] ?? version) !== version,
    );
    expect([folder, ...wrong]).toEqual([folder]);
  }
});

test('a package uses everything that the core and other packages offer', () => {
  const sources = readSources();
  const offered = [...PUBLIC_EXPORTS].flatMap(([name, file]) =>
    exportedNames(file, sources[file.replace(/^src\//, '')] ?? '').map((one) => `${name} ${one}`),
  );
  const files = Object.entries({ ...sources, ...readTests() }).filter(([path]) => path.startsWith('packages/'));
  const used = new Set(files.flatMap(([path, text]) => importedNames(path, text)));
  expect(offered.filter((one) => !used.has(one))).toEqual([]);
});

function exportedNames(path: string, text: string): readonly string[] {
  const tree = treeOf(path, text);
  const body = isNode(tree) && Array.isArray(tree.body) ? tree.body.filter(isNode) : [];
  return body.flatMap(({ specifiers }) => namesOf(specifiers, 'exported'));
}

/** Lists what a file imports by the names of packages, at once or later. */
function importedNames(path: string, text: string): readonly string[] {
  const atOnce = nodesOf(path, text)
    .filter(({ type }) => type === 'ImportDeclaration')
    .flatMap(({ source, specifiers }) =>
      isNode(source) ? namesOf(specifiers, 'imported').map((name) => `${String(source.value)} ${name}`) : [],
    );
  const later = [...text.matchAll(/\{([^{}]*)\} = await import\('([^']+)'\)/g)].flatMap(([, names = '', source]) =>
    names.split(',').map((name) => `${source} ${name.trim()}`),
  );
  return [...atOnce, ...later];
}

function namesOf(specifiers: unknown, side: 'exported' | 'imported'): readonly string[] {
  return (Array.isArray(specifiers) ? specifiers : []).flatMap((one: unknown) => {
    const name = isNode(one) ? one[side] : undefined;
    return isNode(name) && typeof name.name === 'string' ? [name.name] : [];
  });
}
