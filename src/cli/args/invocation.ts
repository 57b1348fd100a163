import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { RunOptions, SessionChoice } from '../../contracts/face/run-options.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Effort } from '../../contracts/model.ts';
import { messageOf } from '../../lib/errors.ts';
import { checkSources } from './check-sources.ts';
import { FLAGS, type FlagValues } from './flags.ts';
import { parseArgs } from './parse-args.ts';
import { contradiction, jsonObjectOf, readFlags, schemaProblem } from './read-flags.ts';
import { refusedFlag } from './refused-flags.ts';
import { UsageError } from './usage-error.ts';

/** The command line, understood. */
export type Invocation = {
  readonly run: RunOptions;
  readonly face: 'screen' | 'print' | 'host' | 'setup';
  /** The worktree to work in: its name, or nothing for a new one. Absent: work here. */
  readonly worktree?: string;
  /** Words on the command line; more may come on stdin. */
  readonly prompt: string | undefined;
  readonly output: OutputChoice;
  /** `lines`: nothing is ever redrawn, for screen readers. */
  readonly reading: 'lines' | 'screen';
  /** Whether a host's first request brings servers that stood on the command line elsewhere. */
  readonly opening: 'at once' | 'with the first request';
  readonly warnings: readonly string[];
};

/** What goes to stdout, and how much of it. */
export type OutputChoice = {
  readonly format: 'text' | 'json' | 'stream-json';
  readonly detail: 'all' | 'result';
  readonly partialMessages: boolean;
  readonly hookEvents: boolean;
  readonly replayUserMessages: boolean;
  /** What happens where a usage limit ends a run. */
  readonly atLimit: 'ends' | 'waits';
};

/** Understands the arguments or throws a `UsageError` that says in one line what is wrong. */
export async function readInvocation(
  args: readonly string[],
  around: { readonly cwd: string; readonly hasTerminal: boolean },
): Promise<Invocation> {
  const parsed = parseArgs(args);
  const refused = refusedFlag(parsed.unknown);
  if (refused !== undefined) throw new UsageError(refused);
  const flags = readFlags(FLAGS, parsed.values);
  const face = faceOf(flags, around.hasTerminal);
  if (face === 'host' && parsed.operands.length > 0) {
    throw new UsageError('With --input-format stream-json every prompt comes as a line on stdin, none as an argument.');
  }
  const against = contradiction(flags, face === 'screen');
  if (against !== undefined) throw new UsageError(against);
  await checkSources(flags, around.cwd);
  return {
    run: await runOptions(flags, face, around.cwd),
    face,
    ...said('worktree', flags.worktree === true ? '' : flags.worktree),
    prompt: parsed.operands.length === 0 ? undefined : parsed.operands.join(' '),
    output: {
      format: flags.outputFormat ?? 'text',
      detail: flags.verbose === true ? 'all' : 'result',
      partialMessages: flags.includePartialMessages === true,
      hookEvents: flags.includeHookEvents === true,
      replayUserMessages: flags.replayUserMessages === true,
      atLimit: flags.waitForLimit === true ? 'waits' : 'ends',
    },
    reading: flags.a11y === true ? 'lines' : 'screen',
    opening: flags.awaitInitialize === true ? 'with the first request' : 'at once',
    warnings: [...parsed.unknown.map((word) => `Unknown option ${word.split('=')[0]} is ignored.`)],
  };
}

/** Formats for programs imply print mode, and so does a place without a terminal. */
function faceOf(flags: FlagValues, hasTerminal: boolean): Invocation['face'] {
  if (flags.initOnly === true) return 'setup';
  if (flags.inputFormat === 'stream-json') return 'host';
  return flags.print === true || flags.outputFormat !== undefined || !hasTerminal ? 'print' : 'screen';
}

async function runOptions(flags: FlagValues, chosen: Invocation['face'], cwd: string): Promise<RunOptions> {
  const systemPrompt = flags.systemPrompt ?? (await fileText('--system-prompt-file', flags.systemPromptFile, cwd));
  const append =
    flags.appendSystemPrompt ?? (await fileText('--append-system-prompt-file', flags.appendSystemPromptFile, cwd));
  return {
    cwd,
    face: chosen === 'setup' ? 'print' : chosen,
    session: sessionOf(flags),
    persistence: flags.sessionPersistence === false ? 'memory' : 'disk',
    partialMessages: flags.includePartialMessages === true,
    addDirs: (flags.addDir ?? []).map((dir) => resolve(cwd, dir)),
    ...said('setup', setupOf(flags)),
    ...said('pluginDirs', pluginDirsOf(flags, cwd)),
    mcpConfig: flags.mcpConfig ?? [],
    mcpSources: flags.strictMcpConfig === true ? 'flags-only' : 'all',
    debug: flags.debug === true || flags.debugFile !== undefined ? 'log' : 'off',
    ...said('model', flags.model),
    ...said('fallbackModels', flags.fallbackModel),
    ...said('debugFile', flags.debugFile === undefined ? undefined : resolve(cwd, flags.debugFile)),
    ...said('effort', effortOf(flags)),
    ...said('maxThinkingTokens', flags.thinking === 'disabled' ? 0 : flags.maxThinkingTokens),
    ...said('betas', flags.betas),
    ...said('permissionMode', flags.permissionMode),
    ...said('allowedTools', flags.allowedTools),
    ...said('disallowedTools', flags.disallowedTools),
    ...said('tools', flags.tools?.includes('default') === true ? undefined : flags.tools),
    ...said('permissionPrompt', flags.permissionPrompts === 'none' ? undefined : flags.permissionPromptTool),
    ...said('skipPermissions', skipOf(flags)),
    ...said('trust', flags.trust === true ? ('this-run' as const) : undefined),
    ...said('maxTurns', flags.maxTurns),
    ...said('maxBudgetUsd', flags.maxBudgetUsd),
    ...said('tokenBudget', flags.tokenBudget),
    ...said('jsonSchema', flags.jsonSchema === undefined ? undefined : schemaOf(flags.jsonSchema)),
    ...said('settings', flags.settings),
    ...said('policy', flags.managedSettings === undefined ? undefined : policyOf(flags.managedSettings)),
    ...said('settingSources', flags.settingSources),
    ...said('agents', flags.agents === undefined ? undefined : jsonObjectOf('--agents', flags.agents)),
    ...said('agent', flags.agent),
    ...said('systemPrompt', systemPrompt),
    ...said('appendSystemPrompt', append),
  };
}

/** Absent means: not said. */
function said<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  const none: { readonly [K in Key]?: Value } = {};
  return value === undefined ? none : { ...none, [key]: value };
}

function schemaOf(text: string): JsonObject {
  const schema = jsonObjectOf('--json-schema', text);
  const problem = schemaProblem(schema);
  if (problem !== undefined) throw new UsageError(`Option --json-schema: ${problem}.`);
  return schema;
}

/** A policy that cannot be read is none, so nothing begins. */
function policyOf(text: string): string {
  return JSON.stringify(jsonObjectOf('--managed-settings', text));
}

/** Thinking that was asked for without a level goes by the model's own. */
function effortOf({ thinking, effort }: FlagValues): Effort | undefined {
  if (thinking === 'disabled') return 'off';
  return effort ?? (thinking === undefined ? undefined : 'auto');
}

function setupOf({ init, initOnly, maintenance }: FlagValues): RunOptions['setup'] {
  if (maintenance === true) return 'maintenance';
  return init === true || initOnly === true ? 'init' : undefined;
}

function skipOf(flags: FlagValues): 'now' | 'may' | undefined {
  if (flags.dangerouslySkipPermissions === true) return 'now';
  return flags.allowDangerouslySkipPermissions === true ? 'may' : undefined;
}

function sessionOf(flags: FlagValues): SessionChoice {
  const id = said('id', flags.sessionId);
  const fork = flags.forkSession === true ? 'fork' : 'same';
  if (flags.continue === true) return { kind: 'continue', fork, ...id };
  if (flags.resume === undefined) return { kind: 'new', ...id };
  return {
    kind: 'resume',
    wanted: flags.resume === true ? '' : flags.resume,
    fork,
    ...id,
    ...said('at', flags.resumeSessionAt),
  };
}

async function fileText(flag: string, file: string | undefined, cwd: string): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (thrown) {
    throw new UsageError(`Option ${flag}: ${messageOf(thrown)}.`);
  }
}

function pluginDirsOf({ pluginDir = [], pluginDirNoMcp = [] }: FlagValues, cwd: string): RunOptions['pluginDirs'] {
  const dirs = [
    ...pluginDir.map((dir) => ({ folder: resolve(cwd, dir), servers: 'started' as const })),
    ...pluginDirNoMcp.map((dir) => ({ folder: resolve(cwd, dir), servers: 'left out' as const })),
  ];
  return dirs.length === 0 ? undefined : dirs;
}
