import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { decideBash, makeFixture } from '../fixture.ts';

const ABOUT: readonly (readonly [command: string, file: string, text: string])[] = [
  ['cargo --version', 'rust-toolchain.toml', '[toolchain]\npath = "./evil"\n'],
  ['rustc -V', 'rust-toolchain', 'nightly'],
  ['cargo --help', 'src/rust-toolchain', 'nightly'],
  ['go version', 'go.mod', 'module x\n\ntoolchain go1.99.0\n'],
  ['go help', 'go.work', 'go 1.22\n  toolchain go1.99.0\n'],
  ['yarn --version', '.yarnrc.yml', 'yarnPath: ./evil.cjs\n'],
  ['yarn -v', '.yarnrc', 'yarn-path "./evil.js"\n'],
  ['yarn --version', 'package.json', '{ "packageManager": "yarn@https://example.com/evil.tgz" }'],
  ['pnpm --version', 'package.json', '{ "devEngines": { "packageManager": { "name": "pnpm" } } }'],
  ['pnpm -v', 'package.json', String.raw`{ "package\u004danager": "pnpm@1" }`],
];

test('a program prints its version unasked unless a project file replaces it', () => {
  for (const [command, file, text] of ABOUT) {
    const fixture = makeFixture();
    const line = `cd src/deep && ${command}`;
    expect([line, decideBash(fixture, line).verdict]).toEqual([line, 'allow']);
    mkdirSync(dirname(join(fixture.ws, file)), { recursive: true });
    writeFileSync(join(fixture.ws, file), text);
    expect([line, file, decideBash(fixture, line).verdict]).toEqual([line, file, 'ask']);
  }
});

test('go in a module without a toolchain line prints its version', () => {
  const fixture = makeFixture();
  writeFileSync(join(fixture.ws, 'go.mod'), 'module x\n\ngo 1.22\n');
  expect(decideBash(fixture, 'go version').verdict).toBe('allow');
});
