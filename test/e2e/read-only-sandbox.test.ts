import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject } from '../support/temp-project.ts';

describe.skipIf(NO_SANDBOX !== undefined)(`read-only commands (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test('run unasked with empty secrets, whatever the sandbox setting; others are asked about and run outside', async () => {
    await using project = await createTempProject({ a: 'in a\n', 'certs/x.pem': 'SECRET' });
    const look = 'cat a; find . -name "*.pem" -size +0c; find . -name "*.pem"';
    await using api = await startApiServer({
      turns: [
        calls(toolUse('Bash', { command: look }, 'reads')),
        calls(toolUse('Bash', { command: `touch b; ${look}` }, 'writes')),
        says('done'),
      ],
    });
    const args = ['-p', 'go', '--output-format', 'json', '--allowedTools', 'Bash(touch:*)'];
    const { stdout } = await runHere(project, args, api.url);
    expect(JSON.parse(stdout).permission_denials).toEqual([]);
    const results = api.requests().map(({ body }) => JSON.stringify(body.messages));
    expect(results[1]).toContain('"in a\\n./certs/x.pem"');
    expect(results[2]).toContain('"in a\\n./certs/x.pem\\n./certs/x.pem"');
    expect(await project.read('b')).toBe('');
  });

  longTest('find programs in a folder of PATH below /tmp', async () => {
    await using project = await createTempProject();
    const folder = join(project.dir, '../programs');
    await mkdir(folder);
    await writeFile(join(folder, 'rg'), '#!/bin/sh\necho found by "$0"\n', { mode: 0o755 });
    await using api = await startApiServer({ turns: [calls(toolUse('Bash', { command: 'rg x' })), says('done')] });
    await runHere(project, ['-p', 'go'], api.url, { env: { PATH: `${folder}:/usr/bin:/bin` } });
    expect(api.requests().at(-1)?.raw).toContain('found by');
  });
});
