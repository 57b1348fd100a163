import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCheckpoints } from '../../src/checkpoints/create-checkpoints.ts';
import type { JsonObject } from '../../src/contracts/json.ts';
import { type Tool, ToolFailure } from '../../src/contracts/tool.ts';
import { createFileLocks } from '../../src/lib/files/file-locks.ts';
import { createEditTool } from '../../src/tools/edit/edit.ts';
import { applyFileLineEdits } from '../../src/tools/edit/file-line-edits.ts';
import { createMultiEditTool } from '../../src/tools/edit/multi-edit.ts';
import { createNotebookEditTool } from '../../src/tools/edit/notebook-edit.ts';
import { createFileReadState } from '../../src/tools/files/file-read-state.ts';
import { createReadTool } from '../../src/tools/read/read.ts';
import { createWriteTool } from '../../src/tools/write.ts';
import { callTool } from './call-tool.ts';

/** A process that turns each of its lines from `open` to `done`, one call for each; `undo` takes each back once. */
export type WriterRole = {
  readonly tool: 'Edit' | 'MultiEdit' | 'Write' | 'NotebookEdit' | 'rename' | 'undo';
  readonly file: string;
  readonly ouroHome: string;
  readonly name: string;
  readonly count: number;
};

const { tool, file, ouroHome, name, count }: WriterRole = JSON.parse(process.argv.at(-1) ?? '');
const locks = createFileLocks(ouroHome);
const checkpoints = createCheckpoints({
  folder: join(ouroHome, name),
  roots: () => [],
  skip: [],
  home: ouroHome,
  isBackgroundRunning: () => false,
  locks,
  entries: [],
  append: async () => undefined,
  warn: () => undefined,
  newId: () => crypto.randomUUID(),
  now: Date.now,
});
const { beforeChange } = checkpoints;
const deps = {
  readState: createFileReadState(),
  home: '/nowhere',
  locks,
  ...(tool === 'undo' ? { beforeChange } : {}),
};
const read = createReadTool({ ...deps, maxTokens: () => 1_000_000 });
const edit = createEditTool(deps);
const tools: Readonly<Record<string, Tool>> = {
  MultiEdit: createMultiEditTool(deps),
  Write: createWriteTool(deps),
  NotebookEdit: createNotebookEditTool(deps),
};

/** One call, with the text of the file as this process has read it. */
async function write(from: string, to: string, text: string): Promise<void> {
  const one = { old_string: from, new_string: to };
  const inputs: Readonly<Record<string, JsonObject>> = {
    MultiEdit: { file_path: file, edits: [one] },
    Write: { file_path: file, content: text.replace(from, to) },
    NotebookEdit: { notebook_path: file, cell_id: from.split(' ')[0] ?? '', new_source: to },
  };
  if (tool === 'rename') {
    const line = text.split('\n').indexOf(from) + 1;
    const changes = [{ file_path: file, edits: [{ line, ...one }] }];
    await applyFileLineEdits(changes, deps, new AbortController().signal);
  } else await callTool(tools[tool] ?? edit, inputs[tool] ?? { file_path: file, ...one });
}

let refusals = 0;

/** Repeats a call until no other process was faster: reads the file again, as a model does. */
async function writeUntilDone(from: string, to: string): Promise<void> {
  while (true) {
    await callTool(read, { file_path: file });
    const text = await readFile(file, 'utf8');
    try {
      return await write(from, to, text);
    } catch (thrown) {
      if (!(thrown instanceof ToolFailure) || !/changed|no longer/.test(thrown.message)) throw thrown;
      refusals += 1;
    }
  }
}

/** Undoes the last call, and repeats what others came in the way of. */
async function undo(id: string): Promise<void> {
  const { failed = [] } = (await checkpoints.restore(id)) ?? {};
  if (failed.length > 0) await undo(id);
}

process.stdout.write('ready\n');
await once(process.stdin, 'data');
for (let at = 0; at < count; at += 1) {
  const [from, to] = [`${name}-${at} open`, `${name}-${at} done`];
  if (tool === 'undo') {
    await checkpoints.addPrompt(`prompt-${at}`, 'edit');
    const [{ id = '' } = {}] = (await checkpoints.list()).toReversed();
    await writeUntilDone(from, to);
    await undo(id);
    if (!(await readFile(file, 'utf8')).includes(from)) throw new Error(`${from} was not restored.`);
  }
  await writeUntilDone(from, to);
}
process.stdout.write(`refused ${refusals}\n`);
process.exit(0);
