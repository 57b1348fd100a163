import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { CALL_MARKER } from '../../src/lib/processes/process-tree.ts';
import { inTime, startHub, stdio } from '../mcp/servers.ts';
import { callTool } from '../support/call-tool.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft, processesMarked } from '../support/processes.ts';
import { isWholeRun } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

const { resolve } = createRequire(import.meta.url);
const EVERYTHING = resolve('@modelcontextprotocol/server-everything/dist/index.js');
const FILESYSTEM = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

function toolOf({ listTools }: ReturnType<typeof startHub>['hub'], name: string) {
  const found = listTools().find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no ${name} among ${listTools().map((each) => each.name)}.`);
  return found;
}

longTest('a stdio server provides tools, prompts, resources and instructions, and leaves no process', async () => {
  const marker = randomUUID();
  {
    await using started = startHub([stdio('every thing', EVERYTHING)], { newMarker: () => marker });
    const { hub } = started;
    await hub.whenSettled();
    expect(hub.listStates()).toMatchObject([{ name: 'every thing', status: 'connected', scope: 'user' }]);
    const echo = await callTool(toolOf(hub, 'mcp__every_thing__echo'), { message: 'hello' });
    expect(echo.content).toBe('Echo: hello');
    const sum = await callTool(toolOf(hub, 'mcp__every_thing__get-sum'), { a: 2, b: 3 });
    expect(sum.content).toContain('5');
    const image = await callTool(toolOf(hub, 'mcp__every_thing__get-tiny-image'), {});
    expect(image.content).toContainEqual(expect.objectContaining({ type: 'image' }));
    expect(hub.listInstructions()).toHaveLength(1);
    const resources = await hub.listResources('every thing', inTime());
    expect(resources.length).toBeGreaterThan(3);
    const template = resources.find(({ uri }) => uri.includes('{'));
    expect(template?.name).toMatch(/fill in the parts in braces/);
    const filled = template?.uri.replace(/\{[^}]*\}/, '1') ?? '';
    expect(await hub.readResourceBlocks('every thing', filled, inTime())).not.toEqual([]);
    expect(await hub.readResourceBlocks('every thing', resources[0]?.uri ?? '', inTime())).not.toEqual([]);
    expect(await hub.runPrompt('mcp__every_thing__args-prompt', 'Paris', inTime())).toMatchObject({ ok: true });
    expect(await hub.runPrompt('mcp__every_thing__args-prompt', '', inTime())).toEqual({
      ok: false,
      problem: 'Missing arguments: <city>.',
    });
    expect(await processesMarked(`${CALL_MARKER}=${marker}`)).not.toEqual([]);
  }
  await expectNoProcessesLeft(`${CALL_MARKER}=${marker}`);
});

test.runIf(isWholeRun)('a filesystem server serves its folder', async () => {
  await using project = await createTempProject({ 'notes.txt': 'remember' });
  await using started = startHub([stdio('files', FILESYSTEM, project.dir)], { getRoots: () => [project.dir] });
  const { hub } = started;
  await hub.whenSettled();
  const read = toolOf(hub, 'mcp__files__read_text_file');
  expect((await callTool(read, { path: `${project.dir}/notes.txt` })).content).toContain('remember');
});
