import { expect, test } from 'vitest';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUP: Setup = { allow: ['Bash'], deny: ['Read(.env)', 'Bash(curl:*)'] };
const open = (lines: readonly string[]) => lines.filter((line) => decideBash(fixture, line, SETUP).verdict === 'allow');

test('a name appended to other text could be any', () => {
  const lines = [
    'xargs -I{} cat .{}nv <<< e',
    'echo e | xargs -I{} cat .{}nv',
    'echo nv | xargs -I% cat .e%',
    'echo nv | xargs -I X head .eX',
    'echo nv | xargs -i cat .e{}',
    'echo nv | xargs --replace=@ cat .e@',
    'find e -maxdepth 0 -exec cat .{}nv \\;',
    'find nv -exec nobody-knows .e{} \\;',
    'echo rl | xargs -I{} setpriv cu{}',
    'parallel cat .e{} ::: nv',
    'parallel cat {1}{2} ::: .e ::: nv',
    'ls | xargs -I{} cat .e{}',
  ];
  expect(open(lines)).toEqual([]);
});

test('a name on its own, or below a folder, is one of the existing files', () => {
  const lines = [
    'ls src | xargs -I{} wc -l src/{}',
    "find src -name '*.ts' -exec wc -l {} \\;",
    'ls src | xargs -I{} cp src/{} docs/{}',
  ];
  expect(lines.filter((line) => !open([line]).includes(line))).toEqual([]);
});
