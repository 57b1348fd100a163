import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Tool } from '../../src/contracts/tool.ts';
import { getProjectDir } from '../../src/session/paths.ts';
import { NEW_SESSION_STATE } from '../../src/session/persisted-state.ts';
import { createSessionCheckpoints } from '../../src/session/session-checkpoints.ts';
import { testCore } from '../support/core.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTest } from './conversation-events.ts';

let project: TempProject;
beforeEach(async () => {
  project = await createTempProject({ a: 'first' });
});
afterEach(() => project.remove());

/** A tool of a server that writes a file when it is called. */
function serverTool(readOnly: 'reads' | 'writes'): Tool {
  const name = `mcp__disk__${readOnly}`;
  return {
    name,
    aliases: [],
    label: name,
    spec: { name, description: '', input_schema: {} },
    maxResultChars: 1_000,
    deferred: false,
    source: 'mcp',
    prepare: () => ({
      ok: true,
      call: {
        input: {},
        title: name,
        isReadOnly: readOnly === 'reads',
        isConcurrencySafe: false,
        async call() {
          await writeFile(join(project.dir, 'a'), 'second');
          return { content: 'done' };
        },
      },
    }),
  };
}

async function wire() {
  const { transcript } = openTest({
    ouroHome: project.ouroHome,
    cwd: project.dir,
    dir: getProjectDir(project.ouroHome, project.dir),
  });
  const wired = createSessionCheckpoints(await testCore(project), {
    session: { transcript, opened: { stored: NEW_SESSION_STATE } },
    roots: () => [project.dir],
    hasBackground: () => false,
  });
  if (wired === undefined) throw new Error('A kept session has checkpoints.');
  return { wired, transcript };
}

async function call(tool: Tool | undefined): Promise<void> {
  const prepared = tool?.prepare({});
  if (prepared?.ok !== true) throw new Error('The tool takes anything.');
  const signal = new AbortController().signal;
  await prepared.call.call({
    callId: 'c',
    cwd: project.dir,
    signal,
    report: () => undefined,
    ask: async () => undefined,
  });
}

test('changes by a tool of a server are undone like those of a command, unless it is read-only', async () => {
  const { wired, transcript } = await wire();
  const given = [serverTool('writes'), serverTool('reads')];
  const [writes, reads] = wired.wrapTools(given);
  expect(wired.wrapTools(given)).toEqual([writes, reads]);
  await wired.addPrompt('m1', 'go');
  await call(writes);
  const [point] = await wired.list();
  expect(point).toMatchObject({ prompt: 'go', files: 1 });
  await wired.restore(point?.id ?? '');
  expect(await project.read('a')).toBe('first');
  await wired.addPrompt('m2', 'look');
  await call(reads);
  expect((await wired.list()).at(-1)).toMatchObject({ prompt: 'look', files: 0 });
  await wired.close();
  await transcript.close();
});
