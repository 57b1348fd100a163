import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { JsonValue } from '../../src/contracts/json.ts';
import type { CallContext, Tool, ToolOutcome } from '../../src/contracts/tool.ts';
import { createFileLocks } from '../../src/lib/files/file-locks.ts';
import { createFileReadState } from '../../src/tools/files/file-read-state.ts';
import { createTempFolder } from '../support/temp-folder.ts';

/** An empty directory and what the file tools are built from. */
export async function createWorkbench() {
  const cwd = createTempFolder();
  return {
    cwd,
    readState: createFileReadState(),
    home: path.join(cwd, 'home'),
    locks: createFileLocks(path.join(cwd, 'home')),
    at: (name: string) => path.join(cwd, name),
    remove: () => rm(cwd, { recursive: true, force: true }),
  };
}

/** Runs a call the way the engine does. */
export async function callTool(
  tool: Tool,
  input: JsonValue,
  from: Pick<CallContext, 'cwd' | 'findSent'> & { readonly signal?: AbortSignal },
): Promise<ToolOutcome> {
  const prepared = tool.prepare(input);
  if (!prepared.ok) throw new Error(prepared.problem);
  return prepared.call.call({
    callId: 'call',
    cwd: from.cwd,
    signal: from.signal ?? new AbortController().signal,
    ...(from.findSent === undefined ? {} : { findSent: from.findSent }),
    report: () => undefined,
    ask: async () => undefined,
  });
}

/** The words of an outcome. */
export function textOf(outcome: ToolOutcome): string {
  if (typeof outcome.content === 'string') return outcome.content;
  return outcome.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');
}
