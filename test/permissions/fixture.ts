import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Decision, PermissionMode, Policy, Rule } from '../../src/contracts/permission.ts';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { parseRule } from '../../src/permissions/rules/parse-rule.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { createTempFolder } from '../support/temp-folder.ts';

export type Fixture = { readonly home: string; readonly ws: string; readonly outside: string };

const GIT_CONFIG =
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/x\n';

/** A home with a workspace, a neighbour with a similar name, secrets and links. */
export function makeFixture(): Fixture {
  const home = createTempFolder();
  const ws = join(home, 'ws');
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const name of [
    'README.md',
    'package.json',
    'src/a.ts',
    'src/b.ts',
    'src/deep/c.ts',
    'docs/x.md',
    'a b.txt',
    'options/--files0-from=x',
    'secrets/key',
    'secrets/deep/token',
  ]) {
    write(join(ws, name), `${name}\nline two\nline three\n`);
  }
  write(join(ws, '.env'), 'TOKEN=1\n');
  write(join(ws, '.env.example'), 'TOKEN=\n');
  write(join(ws, 'certs/server.pem'), 'x\n');
  write(join(ws, '.git/HEAD'), 'ref: refs/heads/main\n');
  write(join(ws, '.git/config'), GIT_CONFIG);
  mkdirSync(join(ws, '.git/objects'), { recursive: true });
  mkdirSync(join(ws, '.git/refs/heads'), { recursive: true });
  write(join(ws, '.git/hooks/pre-commit.sample'), '');
  write(join(ws, 'vendor/evil/.git/config'), '[core]\n\tfsmonitor = touch pwned\n');
  write(join(home, 'ws-evil/data'), 'x\n');
  write(join(home, 'outside/data'), 'x\n');
  write(join(home, '.ssh/id_rsa'), 'x\n');
  symlinkSync('../outside/data', join(ws, 'link-out'));
  symlinkSync('../outside', join(ws, 'link-dir'));
  symlinkSync('src/a.ts', join(ws, 'link-in'));
  symlinkSync('loop-b', join(ws, 'loop-a'));
  symlinkSync('loop-a', join(ws, 'loop-b'));
  symlinkSync('.git/hooks', join(ws, 'link-hooks'));
  return { home, ws, outside: join(home, 'outside') };
}

export type Setup = {
  readonly mode?: PermissionMode;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly cwd?: string;
  readonly trusted?: 'no';
  /** `none`: nothing is known of a read-only sandbox. `missing`: the machine has none. */
  readonly readOnlySandbox?: 'none' | 'missing';
};

export function policyFor({ home, ws }: Fixture, setup: Setup = {}): Policy {
  const rules = (['deny', 'ask', 'allow'] as const).flatMap((behavior): readonly Rule[] =>
    (setup[behavior] ?? []).map((text, index) =>
      parseRule(text, behavior, { source: 'user', file: 'settings.json', line: index + 1, root: ws }),
    ),
  );
  return {
    mode: setup.mode ?? 'default',
    rules,
    workspaceRoots: [ws],
    cwd: setup.cwd ?? ws,
    home,
    trusted: setup.trusted !== 'no',
    canBypass: true,
    protectedPaths: [join(home, '.ouro')],
    sensitivePaths: [join(home, '.ouro/keys')],
    searchPath: ['/usr/bin', '/bin'],
    disk: 'case-sensitive',
    ...(setup.readOnlySandbox === 'none' ? {} : { canEnforceReadOnly: () => setup.readOnlySandbox !== 'missing' }),
  };
}

export function decideBash(fixture: Fixture, command: string, setup: Setup = {}): Decision {
  return decideTool(fixture, 'Bash', { command }, setup);
}

export function decideTool(
  fixture: Fixture,
  tool: string,
  input: Readonly<Record<string, string>>,
  setup: Setup = {},
): Decision {
  const policy = policyFor(fixture, setup);
  return decide(getToolFacts(tool, input, policy.cwd), policy, diskFs);
}
