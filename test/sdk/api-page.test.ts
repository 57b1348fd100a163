import { expect, test } from 'vitest';
import { listUndocumentedNames, renderApiPage } from '../../bin/api-page.ts';

test('every export of the library has a doc comment', () => {
  expect(listUndocumentedNames()).toEqual([]);
});

test('the API page shows each name once, with its comment and its declaration', () => {
  const page = renderApiPage();
  const names = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(150);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(page.match(/^## \S+$/gm)).toEqual(expect.arrayContaining(['## @ouro-cli/agent', '## @ouro-cli/agent/tools']));
  const [, chapter] = /^### buildTool\n([\s\S]*?)^### /m.exec(page) ?? [];
  expect(chapter).toMatch(
    /^\nBuilds a tool from its definition\..*\n\n```ts\n(?:function buildTool\b[^;]*;\n){3}```\n\n$/,
  );
  expect(page).toMatch(/^### rulesGate\n[^#]*```ts\nfunction rulesGate\(/m);
});
