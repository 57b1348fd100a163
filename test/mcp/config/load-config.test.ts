import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMcpServerApprovals } from '../../../src/mcp/config/load-config.ts';
import { createTempProject } from '../../support/temp-project.ts';

const rejected = { hash: '1', verdict: 'rejected' };

test('a rejection survives a damaged entry, which is reported by name and asked about again', async () => {
  await using project = await createTempProject();
  const file = join(project.ouroHome, 'mcp-approvals.json');
  await mkdir(project.ouroHome);
  const damaged = { '/p': { evil: rejected, odd: { hash: 7 } }, '/q': [], '/r': { other: rejected } };
  await writeFile(file, JSON.stringify(damaged));
  const approvals = openMcpServerApprovals(project.ouroHome, '/p');
  expect(await approvals.read()).toEqual({
    approvals: { evil: rejected },
    problem: `${file} is damaged, so these entries are ignored: /p odd, /q.`,
  });
  expect(await approvals.save('new', { hash: '2', verdict: 'approved' })).toContain('set-aside');
  expect(await approvals.read()).toEqual({
    approvals: { evil: rejected, new: { hash: '2', verdict: 'approved' } },
  });
  expect(await openMcpServerApprovals(project.ouroHome, '/r').read()).toEqual({ approvals: { other: rejected } });
});

test.each(['{"/p":{', '', '\0\0', '[]'])('a file that says %j approves nothing', async (text) => {
  await using project = await createTempProject();
  await mkdir(project.ouroHome);
  await writeFile(join(project.ouroHome, 'mcp-approvals.json'), text);
  expect(await openMcpServerApprovals(project.ouroHome, '/p').read()).toMatchObject({
    approvals: {},
    problem: expect.stringContaining('is damaged'),
  });
});
