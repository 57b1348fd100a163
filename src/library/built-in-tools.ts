import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '../contracts/tool.ts';
import { onlyLooks } from '../permissions/bash/certain/only-looks.ts';
import { createBashTool } from '../tools/bash/bash.ts';
import { createShells } from '../tools/bash/shells.ts';
import { createEditTool } from '../tools/edit/edit.ts';
import { createGlobTool } from '../tools/glob/glob.ts';
import { createGrepTool } from '../tools/grep/grep.ts';
import { createMultiEditTool } from '../tools/multi-edit/multi-edit.ts';
import { createReadTool } from '../tools/read/read.ts';
import { createReadState, type ReadState } from '../tools/read-state.ts';
import { createLocator } from '../tools/search/choose-locator.ts';
import { createTodoWriteTool } from '../tools/todo-write/todo-write.ts';
import { createWriteTool } from '../tools/write/write.ts';
import { processVariables } from './surroundings.ts';
import { gated, readOnlyGate, type ToolGate } from './tool-gate.ts';

/** Where a built-in tool works and who lets its calls through. */
export type ToolPlace = {
  /** The folder it works in. */
  readonly cwd: string;
  /** By default only calls that read may run. */
  readonly gate?: ToolGate;
  /** What `~` stands for. */
  readonly home?: string;
  /** What may not be found by searches: absolute paths, or globs as in `.gitignore`. */
  readonly excluded?: readonly string[];
  /** The environment of commands. By default that of the process. */
  readonly variables?: Readonly<Record<string, string>>;
};

/** Reads files, pictures, documents and notebooks. */
export function readTool(place: ToolPlace): Tool {
  const parts = changeParts(place);
  return { ...placed(place, createReadTool(parts)), forgetShown: parts.readState.forgetShown };
}
/** Replaces a passage of a file that was read before. */
export const editTool = (place: ToolPlace): Tool => placed(place, createEditTool(changeParts(place)));
/** Several edits of one file, all or none. */
export const multiEditTool = (place: ToolPlace): Tool => placed(place, createMultiEditTool(changeParts(place)));
/** Writes whole files. */
export const writeTool = (place: ToolPlace): Tool => placed(place, createWriteTool(changeParts(place)));
/** Finds files by their names. */
export const globTool = (place: ToolPlace): Tool => placed(place, createGlobTool(searchParts(place)));
/** Finds words in files. */
export const grepTool = (place: ToolPlace): Tool => placed(place, createGrepTool(searchParts(place)));

/** Runs commands of a shell. Everything a command starts ends with it. */
export function bashTool(place: ToolPlace): Tool {
  const bash = createBashTool({
    shells: createShells(Date.now, () => undefined),
    variables: () => variablesOf(place),
    ledger: { started: () => undefined, ended: () => undefined },
    workspaceRoots: () => [place.cwd],
    setCwd: () => undefined,
    outputFolder: join(tmpdir(), 'ouro-outputs'),
    limits: () => ({ timeoutMs: 120_000, maxTimeoutMs: 600_000 }),
    onlyLooks,
    now: Date.now,
  });
  return placed(place, bash);
}

/** All of them: the file tools know together what was read. */
export function builtInTools(place: ToolPlace): readonly Tool[] {
  const tools = [readTool, editTool, multiEditTool, writeTool, globTool, grepTool, bashTool];
  return [...tools.map((tool) => tool(place)), createTodoWriteTool(() => undefined)];
}

function placed(place: ToolPlace, tool: Tool): Tool {
  return gated(tool, { cwd: place.cwd, gate: place.gate ?? readOnlyGate });
}

/** What was read of files, one for each place: an edit knows what a read of the same place has seen. */
const reads = new WeakMap<ToolPlace, ReadState>();

function changeParts(place: ToolPlace) {
  const readState = reads.get(place) ?? createReadState();
  reads.set(place, readState);
  return { readState, home: place.home ?? homedir() };
}

function searchParts(place: ToolPlace) {
  const locator = createLocator(variablesOf(place));
  return { locator, home: place.home ?? homedir(), excluded: () => place.excluded ?? [] };
}

const variablesOf = ({ variables }: ToolPlace) => variables ?? processVariables();
