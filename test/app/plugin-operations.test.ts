import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { createPluginOperations } from '../../src/app/plugin-operations.ts';
import { bareEnvironment } from '../support/environment.ts';
import { startJsonServer } from '../support/json-server.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** A registry with one package, and beside it the list of a marketplace that names it. */
const startRegistry = (archive: Buffer) =>
  startJsonServer((at) => {
    const dist = { tarball: `${at}/kit.tgz` };
    const version = { name: '@acme/kit', version: '2.1.0', dist, scripts: { prepare: 'touch ran' } };
    const npm = (name: string, more: object = {}) => ({ name, source: { source: 'npm', registry: at, ...more } });
    const list = {
      name: 'far',
      plugins: [
        npm('kit', { package: '@acme/kit', version: '^2.0.0' }),
        npm('flag', { package: '--eval=x' }),
        npm('git', { package: 'kit', version: 'git+ssh://x' }),
        { name: 'plain', source: { source: 'npm', package: 'kit', registry: 'http://example.org' } },
        { name: 'near', source: './plugins/near' },
      ],
    };
    return {
      '/kit.tgz': archive,
      '/away.json': new URL('http://example.invalid/'),
      '/@acme%2fkit': { name: '@acme/kit', 'dist-tags': { latest: '2.1.0' }, versions: { '2.1.0': version } },
      '/market.json': list,
    };
  });

async function packed(project: TempProject): Promise<Buffer> {
  const manifest = { name: '@acme/kit', version: '2.1.0', scripts: { prepare: 'touch ran', postinstall: 'touch ran' } };
  await project.write('../pack/package/package.json', JSON.stringify(manifest));
  await project.write('../pack/package/.claude-plugin/plugin.json', JSON.stringify({ name: 'kit' }));
  await project.write('../pack/package/commands/ship.md', 'Ship it.');
  const folder = join(project.dir, '../pack');
  execFileSync('tar', ['-czf', 'kit.tgz', 'package'], { cwd: folder });
  return readFileSync(join(folder, 'kit.tgz'));
}

longTest(
  'a list at a URL is a marketplace and an npm package a plugin; nothing of it runs or is installed unasked',
  async () => {
    await using project = await createTempProject();
    await using registry = await startRegistry(await packed(project));
    const environment = readEnvironment(bareEnvironment(project, 'http://127.0.0.1:9'));
    const plugins = createPluginOperations(environment, project.dir);
    expect(await plugins.addMarketplace(`${registry.url}/market.json`)).toContain('  kit@far  ');
    expect(registry.asked.map(({ path }) => path)).toEqual(['/market.json']);
    const { id, plugin, lines } = await plugins.install('kit');
    expect([id, plugin.name, lines[0]]).toEqual(['kit@far', 'kit', 'kit@far 2.1.0 is installed. It provides:']);
    expect(lines.join('\n')).toContain('1 command: ship');
    const { value } = await plugins.store.read();
    expect(value.plugins['kit@far']).toMatchObject({ version: '2.1.0', mark: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await expect(plugins.install('flag')).rejects.toThrow('--eval=x is not a package name');
    await expect(plugins.install('git')).rejects.toThrow('git+ssh://x is not a package version');
    await expect(plugins.install('plain')).rejects.toThrow('is not an HTTPS registry address');
    await expect(plugins.install('near')).rejects.toThrow('plugins/near does not exist');
    await expect(plugins.addMarketplace('npm:../x')).rejects.toThrow('../x is not a package name');
    await expect(plugins.addMarketplace(`${registry.url}/gone.json`)).rejects.toThrow('the server answered 404');
    await expect(plugins.addMarketplace(`${registry.url}/away.json`)).rejects.toThrow('could not be fetched');
    await expect(plugins.addMarketplace('http://example.org/market.json')).rejects.toThrow('is not a folder');
  },
);
