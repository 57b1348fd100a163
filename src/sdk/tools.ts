/** `@ouro-cli/agent/tools`: custom tools, built-in tools, and permission gates. */

import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '../contracts/tool.ts';
import { createFileLocks } from '../lib/files/file-locks.ts';
import { createBashTool } from '../tools/bash/bash.ts';
import { createShellRegistry } from '../tools/bash/shell-registry.ts';
import { createEditTool } from '../tools/edit/edit.ts';
import { createMultiEditTool } from '../tools/edit/multi-edit.ts';
import { createFileReadState, type FileReadState } from '../tools/files/file-read-state.ts';
import { createGlobTool } from '../tools/glob.ts';
import { createGrepTool } from '../tools/grep.ts';
import { createReadTool } from '../tools/read/read.ts';
import { createSearchBackend } from '../tools/search/create-search-backend.ts';
import { createTodoWriteTool } from '../tools/todo-write.ts';
import { createWriteTool } from '../tools/write.ts';
import { readOnlyGate, type ToolGate, wrapWithGate } from './permission-gates.ts';
import { getEnvironmentVariables } from './runtime.ts';

export type { PermissionMode } from '../contracts/permission.ts';
export {
  type CallContext,
  type CallRequest,
  type GateVerdict,
  type Tool,
  ToolFailure,
  type ToolOutcome,
  type ToolProgress,
} from '../contracts/tool.ts';
export {
  type AgentTool,
  buildApplicationTool as buildTool,
  type JsonToolDefinition,
  type PlainTool,
  type StandardToolDefinition,
  type ToolDefinition,
  type ToolParts,
} from '../tools/definition/application-tool.ts';
export type { ToolResult } from '../tools/definition/tool-result.ts';
export {
  createRulesGate as rulesGate,
  type GateRules,
  openGate,
  readOnlyGate,
  type ToolGate,
  wrapWithGate,
} from './permission-gates.ts';

/** The working directory and the permission gate of a built-in tool. */
export type ToolOptions = {
  /** Working directory. */
  readonly cwd: string;
  /** Permission gate; by default only read-only calls are allowed. */
  readonly gate?: ToolGate;
  /** Home folder, for `~` in paths. */
  readonly home?: string;
  /** Files excluded from searches: absolute paths, or globs as in `.gitignore`. */
  readonly excluded?: readonly string[];
  /** Environment of commands; by default that of the process. */
  readonly variables?: Readonly<Record<string, string>>;
};

/** Creates the tool that reads files, images, documents and notebooks. */
export function readTool(options: ToolOptions): Tool {
  const deps = createFileToolDeps(options);
  return wrapTool(options, createReadTool(deps));
}
/** Creates the tool that replaces text in a file that was read before. */
export const editTool = (options: ToolOptions): Tool => wrapTool(options, createEditTool(createFileToolDeps(options)));
/** Creates the tool that applies several edits to one file, all or none. */
export const multiEditTool = (options: ToolOptions): Tool =>
  wrapTool(options, createMultiEditTool(createFileToolDeps(options)));
/** Creates the tool that writes whole files. */
export const writeTool = (options: ToolOptions): Tool =>
  wrapTool(options, createWriteTool(createFileToolDeps(options)));
/** Creates the tool that finds files by name. */
export const globTool = (options: ToolOptions): Tool =>
  wrapTool(options, createGlobTool(createSearchToolDeps(options)));
/** Creates the tool that searches the contents of files. */
export const grepTool = (options: ToolOptions): Tool =>
  wrapTool(options, createGrepTool(createSearchToolDeps(options)));

/** Creates the tool that runs shell commands. Processes that a command starts end with it. */
export function bashTool(options: ToolOptions): Tool {
  const bash = createBashTool({
    shells: createShellRegistry(Date.now, () => undefined),
    variables: () => resolveVariables(options),
    ledger: { started: () => undefined, ended: () => undefined },
    workspaceRoots: () => [options.cwd],
    setCwd: () => undefined,
    outputFolder: join(tmpdir(), 'ouro-outputs'),
    limits: () => ({ timeoutMs: 120_000, maxTimeoutMs: 600_000 }),
    now: Date.now,
  });
  return wrapTool(options, bash);
}

/** Creates all built-in tools. The file tools share the record of what was read. */
export function builtInTools(options: ToolOptions): readonly Tool[] {
  const tools = [readTool, editTool, multiEditTool, writeTool, globTool, grepTool, bashTool];
  return [...tools.map((tool) => tool(options)), createTodoWriteTool(() => undefined)];
}

function wrapTool(options: ToolOptions, tool: Tool): Tool {
  return wrapWithGate(tool, { cwd: options.cwd, gate: options.gate ?? readOnlyGate });
}

/** The read state by options object: an edit knows what a read with the same options has seen. */
const readStates = new WeakMap<ToolOptions, FileReadState>();

function createFileToolDeps(options: ToolOptions) {
  const readState = readStates.get(options) ?? createFileReadState();
  readStates.set(options, readState);
  const home = options.home ?? homedir();
  return { readState, home, locks: createFileLocks(join(home, '.ouro')) };
}

function createSearchToolDeps(options: ToolOptions) {
  const locator = createSearchBackend(resolveVariables(options));
  return { locator, home: options.home ?? homedir(), excluded: () => options.excluded ?? [] };
}

const resolveVariables = ({ variables }: ToolOptions) => variables ?? getEnvironmentVariables();
