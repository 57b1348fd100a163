import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { SHARED_CACHE } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** What the pages on scripts and hosts tell people to type is typed here. */
const ROOT = new URL('../../', import.meta.url).pathname;

/** Not every machine has one; of what the pages ask it for, the id is the only thing that matters later. */
const JQ = `#!/bin/sh\nexec sed -E 's/.*"session_id":"([^"]*)".*/\\1/'\n`;

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'question.txt': 'why?', 'package.json': '{}' });
  await project.initGit();
  await project.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  const tools = join(project.home, 'bin');
  await mkdir(tools);
  await symlink(join(ROOT, 'bin/ouro'), join(tools, 'ouro'));
  await writeFile(join(tools, 'jq'), JQ);
  await chmod(join(tools, 'jq'), 0o755);
  server = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('"StructuredOutput"') ? calls(toolUse('StructuredOutput', { ports: [80] })) : says('fine'),
  });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

async function run(program: string, args: readonly string[]) {
  return promisify(execFile)(program, [...args], {
    cwd: project.dir,
    env: {
      ...SHARED_CACHE,
      PATH: `${project.home}/bin:/usr/local/bin:/usr/bin:/bin`,
      HOME: project.home,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'sk-ant-test',
      GITHUB_BASE_REF: 'main',
    },
  });
}

async function blocks(page: string, language: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  return [...text.matchAll(new RegExp(`^\\s*\`\`\`${language}\\n([\\s\\S]*?)^\\s*\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  );
}

longTest.each(['print-mode.md', 'github-action.md'])('every shell line of %s runs', async (page) => {
  const all = await blocks(page, 'sh');
  expect(all.length).toBeGreaterThan(0);
  for (const code of all)
    expect(await run('/bin/sh', ['-ec', `exec </dev/null\n${code}`])).toMatchObject({ stderr: '' });
  expect(
    server
      .all()
      .map(({ violation }) => violation)
      .filter((one) => one !== undefined),
  ).toEqual([]);
});

longTest('the review of the GitHub Action is written to its file', async () => {
  const [workflow = ''] = await blocks('github-action.md', 'yaml');
  const step = /name: Review\n\s+env:[\s\S]*?run: \|\n([\s\S]*?)\n\s+- name: Comment/.exec(workflow)?.[1] ?? '';
  await project.write('question.txt', 'changed');
  await project.git('commit', '-qam', 'Change');
  await run('/bin/sh', ['-ec', step]);
  expect(await project.read('review.md')).toBe('fine\n');
  expect(JSON.stringify(server.requests().at(-1)?.body.messages)).toContain('+changed');
});

test('the example host of the SDK host page receives its answer', async () => {
  const [code = ''] = await blocks('sdk-hosts.md', 'ts');
  await symlink(join(ROOT, 'node_modules'), join(project.home, 'node_modules'));
  const file = join(project.home, 'host.ts');
  await writeFile(file, code.replace('/path/to/ouro/bin/ouro', join(ROOT, 'bin/ouro')));
  expect((await run(process.execPath, ['--no-env-file', file])).stdout).toBe('fine\n');
});
