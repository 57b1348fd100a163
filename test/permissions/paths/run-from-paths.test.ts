import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../support/runs.ts';
import { decideBash, decideTool, makeFixture, type Setup } from '../fixture.ts';

const fixture = makeFixture();
const EDITS: Setup = { mode: 'acceptEdits' };
mkdirSync(join(fixture.ws, '.github/workflows'), { recursive: true });
symlinkSync('.github', join(fixture.ws, 'link-ci'));

const OBEYED = `.github/workflows/ci.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .travis.yml
  lefthook.yml .lefthook-local.toml .githooks/pre-commit .lintstagedrc.json lint-staged.config.js .simple-git-hooks.cjs
  .pnpmfile.cjs pnpm-workspace.yaml .pnp.cjs .yarn/plugins/x.cjs .yarn/releases/yarn.cjs pip.conf uv.toml x.pth sitecustomize.py
  .cargo/config.toml rust-toolchain.toml .mvn/jvm.config .mvn/extensions.xml mvnw gradlew gradle.properties
  gradle/wrapper/gradle-wrapper.properties init.gradle .hg/hgrc .gdbinit .rspec .tool-versions mise.toml .devcontainer/x.json
  CLAUDE.md AGENTS.md CLAUDE.local.md GEMINI.md .cursorrules .windsurfrules .clinerules/x .gemini/settings.json opencode.json
  .github/copilot-instructions.md .aider.conf.yml .roo/rules.md .kiro/x mcp.json x.code-workspace`.split(/\s+/);

test('in acceptEdits, files that other programs execute ask, in any spelling', () => {
  const anyCase = fc.record({
    name: fc.constantFrom(...OBEYED),
    below: fc.constantFrom('', './', 'src/', 'new/deep/', 'src/../'),
    spell: fc.constantFrom(
      (name: string) => name,
      (name: string) => name.toUpperCase(),
    ),
    way: fc.constantFrom('Write', 'Edit', 'touch', 'cp README.md', 'mv README.md', 'mkdir -p'),
  });
  fc.assert(
    fc.property(anyCase, ({ name, below, spell, way }) => {
      const path = below + spell(name);
      const { verdict } = /^[A-Z]/.test(way)
        ? decideTool(fixture, way, { file_path: path }, EDITS)
        : decideBash(fixture, `${way} ${path}`, EDITS);
      expect([way, path, verdict]).toEqual([way, path, 'ask']);
    }),
    runs(1_500),
  );
  expect(decideTool(fixture, 'Write', { file_path: 'link-ci/workflows/x.yml' }, EDITS).verdict).toBe('ask');
});

test('a rule or another mode allows them, and ordinary files are not affected', () => {
  const write = (path: string, setup: Setup) => decideTool(fixture, 'Write', { file_path: path }, setup).verdict;
  expect(OBEYED.filter((name) => write(name, { ...EDITS, allow: ['Edit'] }) !== 'allow')).toEqual([]);
  expect(OBEYED.filter((name) => write(name, { mode: 'bypassPermissions' }) !== 'allow')).toEqual([]);
  const plain = [
    'src/a.ts',
    'package.json',
    'Makefile',
    'docs/agents.txt',
    'pyproject.toml',
    'github/x.yml',
    'src/rules.ts',
    'Cargo.toml',
  ];
  expect(plain.filter((name) => write(name, EDITS) !== 'allow')).toEqual([]);
});

test('an unreadable file is not replaced unread', () => {
  const setups: readonly Setup[] = [
    { mode: 'acceptEdits', deny: ['Read(.env)', 'Read(secrets/**)'] },
    { mode: 'bypassPermissions', deny: ['Read(.env)', 'Read(secrets/**)'] },
    { allow: ['Bash', 'Edit', 'Write'], deny: ['Read(.env)', 'Read(secrets/**)'] },
  ];
  const lines = [
    'echo x > .env',
    'echo x >> secrets/key',
    'tee secrets/key',
    'cp README.md .env',
    'mv README.md .env',
    'ls > ./.env',
  ];
  for (const setup of setups) {
    for (const place of ['.env', 'secrets/key', './src/../.env'])
      for (const tool of ['Write', 'Edit', 'MultiEdit'])
        expect([tool, decideTool(fixture, tool, { file_path: place }, setup).verdict]).toEqual([tool, 'deny']);
    expect(lines.filter((line) => decideBash(fixture, line, setup).verdict !== 'deny')).toEqual([]);
    expect(decideTool(fixture, 'Write', { file_path: 'secrets/new' }, setup).verdict).toBe(
      setup.mode === undefined || setup.mode === 'acceptEdits' || setup.mode === 'bypassPermissions' ? 'allow' : 'ask',
    );
  }
  expect(
    decideTool(fixture, 'Write', { file_path: '.env' }, { mode: 'acceptEdits', ask: ['Read(.env)'] }).verdict,
  ).toBe('ask');
});
