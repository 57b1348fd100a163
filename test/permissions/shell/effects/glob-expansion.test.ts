import { expect, test } from 'vitest';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUP: Setup = { allow: ['Bash'], deny: ['Read(.env)', 'Read(secrets/**)'] };
const open = (lines: readonly string[]) => lines.filter((line) => decideBash(fixture, line, SETUP).verdict === 'allow');

test('braces expand as in bash, however they are nested', () => {
  const words = [
    '.{d..f}nv',
    '.{{e..e},x}nv',
    '.{x,{e,y}}nv',
    '{.e,x}n{v,w}',
    '.e{n..n}v',
    '.{a..z}{a..z}{a..z}',
    'secret{s,}/key',
    '{secrets,src}/{key,x}',
    '{{.e,x}nv,y}',
    '.en{v,}',
    's{e..e}crets/key',
  ];
  const lines = words.flatMap((word) => [
    `cat ${word}`,
    `bash -c 'cat ${word}'`,
    `eval 'head ${word}'`,
    `nobody-knows ${word}`,
  ]);
  expect(open(lines)).toEqual([]);
});

test('shell options that make patterns match more are respected', () => {
  const lines = [
    'shopt -s dotglob; cat *',
    'shopt -s nocaseglob; cat .EN*',
    'GLOBIGNORE=x; cat *',
    "bash -O dotglob -c 'cat *'",
    "env BASHOPTS=dotglob bash -c 'cat *'",
    'shopt -s do""tglob; head ?env',
    'shopt -s extglob\ncat .@(env|x)',
  ];
  expect(open(lines)).toEqual([]);
});

test('a folder entered by a pattern or an unknown name is considered', () => {
  const lines = [
    'cd s*; cat key',
    'for d in */; do (cd "$d" && cat key); done',
    'for d in s*; do cd $d; cat key; done',
    'cd \x24{x:-secrets}; cat key',
    'cd {src,secrets}; cat key',
    'pushd secret?; cat key',
  ];
  expect(open(lines)).toEqual([]);
});

test('other patterns match as in bash', () => {
  const lines = [
    'nobody-knows *.md',
    'npx prettier --check "src/**/*.ts"',
    'nobody-knows {a,b}.ts',
    'cd src && npm test',
  ];
  expect(lines.filter((line) => !open([line]).includes(line))).toEqual([]);
});
