import { existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import type { PermissionAnswer, PermissionRequest } from '../../src/contracts/permission.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

type Scene = {
  readonly inputs: readonly JsonObject[];
  readonly answer: (request: PermissionRequest) => PermissionAnswer;
};

const SETTINGS = { sandbox: { enabled: true, autoAllow: true } };

/** A conversation in a sandbox in which the model wants these commands, one after the other: what it was told of each. */
async function played(project: TempProject, { inputs, answer }: Scene) {
  await project.write('../home/.ouro/settings.json', JSON.stringify(SETTINGS));
  await using server = await startApiServer({
    turns: (_, at) => {
      const input = inputs[at];
      return input === undefined ? says('done') : calls(toolUse('Bash', input, `call-${at}`));
    },
  });
  const made = await composed(project, server.url, { frontend: 'screen' }, { PATH: process.env.PATH ?? '' });
  const asked: PermissionRequest[] = [];
  made.conversation.agent.subscribe((event) => {
    if (event.type !== 'permission_request') return;
    asked.push(event.request);
    made.conversation.agent.answerPermission(event.request.id, answer(event.request));
  });
  try {
    await made.conversation.agent.prompt('go');
    await made.conversation.agent.waitForIdle();
    const reported = server.requests().flatMap(({ raw }) => [raw.slice(raw.lastIndexOf('tool_result'))]);
    return { asked, reported: reported.slice(1) };
  } finally {
    await made.close();
  }
}

const YES: PermissionAnswer = { behavior: 'allow' };
/** Writes into places of home, each time another word. */
const TRY = 'for p in .cache/tool .cache/other .config .local; do mkdir -p ~/$p; echo "$1" > ~/$p/made; done';

describe.skipIf(NO_SANDBOX !== undefined)(
  `exceptions of the sandbox (${NO_SANDBOX ?? 'bubblewrap works here'})`,
  () => {
    test('approval opens exactly that path to exactly that command, whether it existed or not', async () => {
      await using project = await createTempProject({ 'try.sh': TRY });
      const { asked } = await played(project, {
        inputs: [
          { command: 'bash try.sh one' },
          { command: 'bash try.sh two', sandbox_write: ['~/.cache/tool'] },
          { command: 'bash try.sh three' },
        ],
        answer: () => YES,
      });
      expect(asked.map(({ facts }) => facts.opens)).toEqual([['~/.cache/tool']]);
      expect(readFileSync(join(project.home, '.cache/tool/made'), 'utf8')).toBe('two\n');
      const others = ['.cache/other', '.config/made', '.local/made'].map((name) =>
        existsSync(join(project.home, name)),
      );
      expect(others).toEqual([false, false, false]);
    });

    longTest('the model is told what could not be written and how to ask', async () => {
      await using project = await createTempProject({ 'try.sh': 'touch /usr/made-by-ouro; echo x >&2' });
      const { reported } = await played(project, { inputs: [{ command: 'bash try.sh' }], answer: () => YES });
      expect(reported[0]).toContain('Read-only file system');
      expect(reported[0]).toContain('can request the path with sandbox_write');
    });

    longTest.each(
      someOf([
        [
          'here for any command',
          (request: PermissionRequest) => request.suggestions.map(({ rule }) => rule),
          [1, 0, 0],
        ],
        ['for this program alone', (request: PermissionRequest) => request.ofPrograms?.rules ?? [], [1, 0, 1]],
      ] as const),
    )('a yes is kept %s, and asked about no more', async (_, rulesOf, expected) => {
      await using project = await createTempProject();
      const questions: number[] = [];
      for (const command of ['make all', 'cd . && make more', 'cmake all']) {
        const { asked } = await played(project, {
          inputs: [{ command, sandbox_write: ['~/.cache/tool'] }],
          answer: (request) => ({ behavior: 'allow', remember: { rules: rulesOf(request), destination: 'local' } }),
        });
        questions.push(asked.length);
      }
      expect(questions).toEqual(expected);
    });

    longTest('only the approved path is opened: one that now leads elsewhere is not', async () => {
      await using project = await createTempProject({ 'out/a': '' });
      await mkdir(join(project.home, '.ssh'));
      await mkdir(join(project.home, '.cache'));
      const { reported } = await played(project, {
        inputs: [{ command: 'touch ~/.cache/x', sandbox_write: ['~/.cache'] }],
        answer() {
          renameSync(join(project.home, '.cache'), join(project.home, '.cache-before'));
          symlinkSync(join(project.home, '.ssh'), join(project.home, '.cache'));
          return YES;
        },
      });
      expect(reported[0]).toContain('cannot be made writable');
      expect(existsSync(join(project.home, '.ssh/x'))).toBe(false);
    });

    longTest('inside an opened path, keys stay hidden and executable locations stay protected', async () => {
      await using project = await createTempProject();
      const files = {
        '../home/big/repo/.git/HEAD': 'ref: refs/heads/main\n',
        '../home/big/repo/.git/config': '[core]\n',
        '../home/.local/share/keyrings/login': 'KEY',
        '../home/.local/bin/tool': 'own',
      };
      for (const [path, text] of Object.entries(files)) await project.write(path, text);
      const opens = [join(project.home, 'big'), join(project.home, '.local')];
      const { run, sandbox } = await createTestSandbox(project, { opens });
      const printed = await run(`exec 2>/dev/null
      echo x > ~/big/repo/.git/config && echo OUT config
      mkdir -p ~/big/repo/.git/hooks; echo x > ~/big/repo/.git/hooks/pre-commit && echo OUT hook
      mv ~/big/repo/.git ~/big/repo/g2 && echo OUT moved
      echo x > ~/.local/bin/tool && echo OUT tool
      echo x > ~/.local/bin/other && echo OUT other
      mv ~/.local/bin ~/.local/b2 && echo OUT bin
      cat ~/.local/share/keyrings/login
      echo x > ~/.local/share/note && echo wrote a note
      echo x > ~/big/note && echo wrote another`);
      sandbox.close();
      expect(printed).toBe('wrote a note\nwrote another\n');
      expect(readFileSync(join(project.home, '.local/bin/tool'), 'utf8')).toBe('own');
    });

    longTest('a host is opened to one program only, by the suggested rule', async () => {
      await using project = await createTempProject();
      const server = createServer((_, response) => response.end('page\n'));
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const { asked } = await played(project, {
        inputs: [
          { command: `curl -s http://registry.invalid:${port}/` },
          { command: `curl -s http://registry.invalid/` },
        ],
        answer: (request) =>
          request.facts.kind === 'fetch'
            ? { behavior: 'allow', remember: { rules: request.ofPrograms?.rules ?? [], destination: 'local' } }
            : YES,
      });
      server.close();
      const hosts = asked.filter(({ facts }) => facts.kind === 'fetch');
      expect(hosts.map(({ title, ofPrograms }) => [title, ofPrograms])).toEqual([
        [`registry.invalid:${port}`, { names: ['curl'], rules: ['Outside(curl:* host:registry.invalid)'] }],
      ]);
      expect(readFileSync(join(project.dir, '.claude/settings.local.json'), 'utf8')).toContain(
        'Outside(curl:* host:registry.invalid)',
      );
    });
  },
);
