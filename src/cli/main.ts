import { readFileSync } from 'node:fs';
import { Command } from 'commander';

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

await new Command('ouro')
  .description('An interactive coding assistant for the terminal.')
  .version(manifest.version)
  .parseAsync();
