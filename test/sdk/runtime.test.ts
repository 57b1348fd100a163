import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import program from '../../package.json' with { type: 'json' };
import library from '../../packages/agent/package.json' with { type: 'json' };
import { VERSION } from '../../src/sdk/runtime.ts';

const packages: Readonly<Record<string, string>> = program.dependencies;

test('the library has the version of the program', () => {
  expect([VERSION, library.version]).toEqual([program.version, program.version]);
});

test('the library is tested with the versions that it installs, which install nothing else', () => {
  for (const [name, version] of Object.entries(library.dependencies)) {
    const manifest = join(import.meta.dirname, '../../node_modules', name, 'package.json');
    const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    expect([version, dependencies]).toEqual([packages[name], {}]);
  }
  const optional = Object.keys(library.peerDependenciesMeta);
  expect(Object.entries(library.peerDependencies)).toEqual(optional.map((name) => [name, `^${packages[name]}`]));
});
