/**
 * build-vsix.mjs [--out <folder>]: packs `packages/vscode` into the extension that VS Code installs. The extension has no
 * dependencies, so its files are packed as they are.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packZip } from './zip.mjs';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'packages', 'vscode');
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist', 'vscode') } } });
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const manifest = { ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')), version, license };

const sources = readdirSync(join(folder, 'src')).map((name) => `src/${name}`);
const files = ['README.md', 'icon.svg', ...sources].toSorted();
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const path = join(out, `ouro-vscode-${version}.vsix`);
writeFileSync(
  path,
  packZip([
    { name: 'extension.vsixmanifest', content: Buffer.from(describeExtension()) },
    { name: '[Content_Types].xml', content: Buffer.from(listContentTypes()) },
    { name: 'extension/package.json', content: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) },
    { name: 'extension/LICENSE.txt', content: readFileSync(join(root, 'LICENSE')) },
    ...files.map((name) => ({ name: `extension/${name}`, content: readFileSync(join(folder, name)) })),
  ]),
);
process.stdout.write(`${path}\n`);

function describeExtension() {
  const { name, publisher, displayName, description, categories, engines, extensionKind } = manifest;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${displayName}</DisplayName>
    <Description xml:space="preserve">${description}</Description>
    <Categories>${categories.join(',')}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="${extensionKind.join(',')}"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

function listContentTypes() {
  const types = {
    cjs: 'application/javascript',
    json: 'application/json',
    md: 'text/markdown',
    svg: 'image/svg+xml',
    txt: 'text/plain',
    vsixmanifest: 'text/xml',
  };
  const entries = Object.entries(types).map(([name, type]) => `<Default Extension=".${name}" ContentType="${type}"/>`);
  return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${entries.join('')}</Types>
`;
}
