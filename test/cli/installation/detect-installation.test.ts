import { describe, expect, test } from 'vitest';
import { classifyInstallation } from '../../../src/cli/installation/detect-installation.ts';

const classify = (program: string, ...files: readonly string[]) =>
  classifyInstallation(program, '@scope/ouro', (path) => files.includes(path));

describe('an installation is known by the path of its program', () => {
  test.each([
    ['/usr/local/bin/ouro', { kind: 'executable', file: '/usr/local/bin/ouro' }],
    ['/home/a/.local/share/ouro/ouro', { kind: 'executable', file: '/home/a/.local/share/ouro/ouro' }],
    ['/usr/lib/node_modules/@scope/ouro/node_modules/@scope/linux-x64/bin/ouro', { kind: 'npm', prefix: '/usr' }],
    ['/home/a/.nvm/v24/lib/node_modules/@scope/linux-x64/bin/ouro', { kind: 'npm', prefix: '/home/a/.nvm/v24' }],
    [
      'C:\\Users\\a\\AppData\\Roaming\\npm\\node_modules\\@scope\\win32-x64\\bin\\ouro.exe',
      { kind: 'npm', prefix: 'C:/Users/a/AppData/Roaming/npm' },
    ],
  ])('%s', (program, expected) => {
    expect(classify(program)).toEqual(expected);
  });

  test.each([
    ['/opt/homebrew/Cellar/ouro/1.0.0/bin/ouro', 'brew upgrade ouro'],
    ['C:\\Users\\a\\scoop\\apps\\ouro\\1.0.0\\ouro.exe', 'scoop update ouro'],
    ['/nix/store/abc-ouro-1.0.0/bin/ouro', 'nix profile upgrade ouro'],
    [
      '/home/a/.local/share/pnpm/global/5/.pnpm/@scope+linux-x64@1.0.0/node_modules/@scope/linux-x64/bin/ouro',
      'pnpm add --global @scope/ouro@latest',
    ],
    ['/home/a/.bun/install/global/node_modules/@scope/linux-x64/bin/ouro', 'bun add --global @scope/ouro@latest'],
    ['/home/a/.config/yarn/global/node_modules/@scope/linux-x64/bin/ouro', 'yarn global add @scope/ouro@latest'],
  ])('%s is updated by its package manager', (program, update) => {
    expect(classify(program)).toMatchObject({ kind: 'manager', update });
  });

  test('a package of a project is updated there', () => {
    const program = '/home/a/shop/node_modules/@scope/linux-x64/bin/ouro';
    expect(classify(program, '/home/a/shop/package.json')).toMatchObject({
      kind: 'manager',
      name: 'the project /home/a/shop',
      update: 'npm install @scope/ouro@latest',
    });
  });

  test.each(['/src/ouro/dist/ouro', '/src/ouro/dist/main.js', '/src/ouro/src/cli/installation/detect-installation.ts'])(
    '%s is a checkout',
    (program) => {
      expect(classify(program, '/src/ouro/src/cli/main.ts', '/src/ouro/bin/ouro')).toEqual({
        kind: 'checkout',
        root: '/src/ouro',
      });
    },
  );
});
