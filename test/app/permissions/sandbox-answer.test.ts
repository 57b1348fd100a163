import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PermissionAnswer, PermissionRequest } from '../../../src/contracts/permission.ts';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { NO_SANDBOX } from '../../support/sandbox.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const { PATH = '' } = process.env;
const bash = (command: string) => toolUse('Bash', { command });

/** Runs commands one after the other, with an answer for each question; returns the questions and the last request. */
async function run(project: TempProject, commands: readonly string[], answer: PermissionAnswer, path = '') {
  const turns = [...commands.map((command) => calls(bash(command))), says('Done.')];
  await using server = await startApiServer({ turns });
  const made = await composed(
    project,
    server.url,
    { frontend: 'screen' },
    path === '' ? {} : { PATH: `${path}:${PATH}` },
  );
  const asked: PermissionRequest[] = [];
  const { agent } = made.conversation;
  agent.subscribe((event) => {
    if (event.type !== 'permission_request') return;
    asked.push(event.request);
    agent.answerPermission(event.request.id, answer);
  });
  await agent.prompt('go');
  const { sandbox } = made.conversation.info();
  const notices = made.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  await made.close();
  return { asked, sandbox, notices, raw: server.requests().at(-1)?.raw ?? '' };
}

describe.skipIf(NO_SANDBOX !== undefined)('the sandbox as an answer', () => {
  test('a yes with it runs this and later commands in it, unasked as far as they stay inside', async () => {
    await using project = await createTempProject({}, '/var/tmp');
    const outside = join(project.home, 'outside');
    const commands = [
      'touch one',
      `touch two; node -e "fs.writeFileSync('${outside}', '')" 2>/dev/null || echo kept; cat /tmp/left`,
      'echo 3 > three',
    ];
    const { asked, sandbox, notices, raw } = await run(
      project,
      [`${commands[0]}; echo left > /tmp/left`, ...commands.slice(1)],
      {
        behavior: 'allow',
        sandbox: 'auto',
      },
    );
    expect(asked.map(({ canSandbox }) => canSandbox)).toEqual([true]);
    expect(['one', 'two', 'three'].map((name) => existsSync(join(project.dir, name)))).toEqual([true, true, true]);
    expect(existsSync(outside)).toBe(false);
    expect(raw).toMatch(/kept\\nleft/);
    expect(sandbox).toBe('unasked');
    expect(notices[0]).toContain('/sandbox off');
  });

  test('a plain yes leaves it off; it is not offered for what it would not allow, or where the settings decide', async () => {
    await using project = await createTempProject({}, '/var/tmp');
    const yes = { behavior: 'allow' } as const;
    const plain = await run(project, ['touch one', 'touch two', 'cat ~/.ssh/id_rsa', 'rm -rf ~'], yes);
    expect(plain.asked.map(({ canSandbox }) => canSandbox)).toEqual([true, true, undefined, undefined]);
    expect(plain.sandbox).toBeUndefined();
    // This sandbox forbids all that the read-only one forbids outside the workspace.
    const bin = join(project.home, 'bin');
    await project.write('../home/bin/nproc', `#!/bin/sh\necho > ${project.home}/state\n`);
    await project.write('../home/bin/whoami', `#!/bin/sh\necho > ${project.dir}/state\n`);
    for (const name of ['nproc', 'whoami']) await chmod(join(bin, name), 0o755);
    const again = await run(project, ['nproc', 'whoami'], yes, bin);
    expect(again.asked.map(({ canSandbox }) => canSandbox)).toEqual([undefined, true]);
    await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify({ sandbox: { enabled: false } }));
    expect((await run(project, ['touch one'], yes)).asked.map(({ canSandbox }) => canSandbox)).toEqual([undefined]);
  });
});
