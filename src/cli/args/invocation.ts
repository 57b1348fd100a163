import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findFlagConflict, parseFlagValues, parseJsonFlagValue } from '../../command/flag-values.ts';
import { CLI_FLAGS, type FlagValues } from '../../command/flags.ts';
import { UsageError } from '../../command/usage-error.ts';
import type { CliRunOptions, SessionChoice } from '../../contracts/frontend/cli-run-options.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Effort } from '../../contracts/model.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { readFileOrPipe } from '../../lib/files/read-regular-file.ts';
import { omitUndefined } from '../../lib/json.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';
import { loadForeignImports } from '../packages.ts';
import { parseArgs } from './parse-args.ts';
import { findUnsupportedFlag } from './unsupported-args.ts';

/** A parsed command line. */
export type CliInvocation = {
  readonly run: CliRunOptions;
  readonly mode: 'screen' | 'print' | 'host' | 'setup';
  /** Name of the git worktree to work in; empty for a new one, absent for the current folder. */
  readonly worktree?: string;
  /** Prompt from the command line; print mode adds stdin to it. */
  readonly prompt: string | undefined;
  readonly output: OutputOptions;
  /** `linear` only appends lines and never redraws, for screen readers. */
  readonly rendering: 'linear' | 'screen';
  /** The host sends its MCP servers with the initialize request instead of on the command line. */
  readonly awaitsInitialize: boolean;
  readonly warnings: readonly string[];
};

/** The format and detail of the output on stdout. */
export type OutputOptions = {
  readonly format: 'text' | 'json' | 'stream-json';
  readonly detail: 'all' | 'result';
  readonly partialMessages: boolean;
  readonly hookEvents: boolean;
  /** Absent: the text and the thinking of sub-agents are part of the output. */
  readonly subAgentText?: 'omitted';
  readonly replayUserMessages: boolean;
  readonly onUsageLimit: 'stop' | 'wait';
};

/** Parses and validates the arguments; throws a `UsageError` with a one-line message. */
export async function parseInvocation(
  args: readonly string[],
  { cwd, hasTerminal }: { readonly cwd: string; readonly hasTerminal: boolean },
): Promise<CliInvocation> {
  const parsed = parseArgs(args);
  const unsupported = findUnsupportedFlag(parsed.unknownFlags);
  if (unsupported !== undefined) throw new UsageError(unsupported);
  const flags = parseFlagValues(CLI_FLAGS, parsed.values);
  const mode = resolveMode(flags, hasTerminal);
  if (mode === 'host' && parsed.operands.length > 0) {
    throw new UsageError('--input-format stream-json reads prompts from stdin. Remove the prompt argument.');
  }
  const conflict = findFlagConflict(flags, mode === 'screen' ? ['screen'] : []);
  if (conflict !== undefined) throw new UsageError(conflict);
  await validateFlagTargets(flags, cwd);
  return {
    run: await buildRunOptions(flags, mode, cwd),
    mode,
    ...omitUndefined({ worktree: flags.worktree === true ? '' : flags.worktree }),
    prompt: parsed.operands.length === 0 ? undefined : parsed.operands.join(' '),
    output: {
      format: flags.outputFormat ?? 'text',
      detail: flags.verbose === true ? 'all' : 'result',
      partialMessages: flags.includePartialMessages === true,
      hookEvents: flags.includeHookEvents === true,
      replayUserMessages: flags.replayUserMessages === true,
      onUsageLimit: flags.waitForLimit === true ? 'wait' : 'stop',
    },
    rendering: flags.a11y === true ? 'linear' : 'screen',
    awaitsInitialize: flags.awaitInitialize === true,
    warnings: parsed.unknownFlags.map((argument) => `Ignoring unknown option ${argument.split('=')[0]}.`),
  };
}

/** An output format or a missing terminal implies print mode. */
function resolveMode(flags: FlagValues, hasTerminal: boolean): CliInvocation['mode'] {
  if (flags.initOnly === true) return 'setup';
  if (flags.inputFormat === 'stream-json') return 'host';
  return flags.print === true || flags.outputFormat !== undefined || !hasTerminal ? 'print' : 'screen';
}

async function buildRunOptions(flags: FlagValues, mode: CliInvocation['mode'], cwd: string): Promise<CliRunOptions> {
  const { model, betas, permissionMode, allowedTools, disallowedTools, maxTurns, maxBudgetUsd, tokenBudget } = flags;
  const { settings, settingSources, agent } = flags;
  const systemPrompt = flags.systemPrompt ?? (await readFlagFile('--system-prompt-file', flags.systemPromptFile, cwd));
  const appendSystemPrompt =
    flags.appendSystemPrompt ?? (await readFlagFile('--append-system-prompt-file', flags.appendSystemPromptFile, cwd));
  return {
    cwd,
    frontend: mode === 'setup' ? 'print' : mode,
    session: resolveSession(flags),
    loadImports: loadForeignImports,
    persistence: flags.sessionPersistence === false ? 'memory' : 'disk',
    partialMessages: flags.includePartialMessages === true,
    addDirs: (flags.addDir ?? []).map((dir) => resolve(cwd, dir)),
    mcpConfig: flags.mcpConfig ?? [],
    mcpSources: flags.strictMcpConfig === true ? 'flags-only' : 'all',
    debug: flags.debug === true || flags.debugFile !== undefined ? 'log' : 'off',
    ...omitUndefined({
      ...{ model, betas, permissionMode, allowedTools, disallowedTools, maxTurns, maxBudgetUsd, tokenBudget },
      ...{ settings, settingSources, agent, systemPrompt, appendSystemPrompt, fallbackModels: flags.fallbackModel },
      setup: resolveSetup(flags),
      pluginDirs: resolvePluginDirs(flags, cwd),
      debugFile: flags.debugFile === undefined ? undefined : resolve(cwd, flags.debugFile),
      effort: resolveEffort(flags),
      maxThinkingTokens: flags.thinking === 'disabled' ? 0 : flags.maxThinkingTokens,
      tools: flags.tools?.includes('default') === true ? undefined : flags.tools,
      permissionPrompt: flags.permissionPrompts === 'none' ? undefined : flags.permissionPromptTool,
      skipPermissions: resolveSkipPermissions(flags),
      trust: flags.trust === true ? ('this-run' as const) : undefined,
      ide: flags.ide === true ? ('wait' as const) : undefined,
      jsonSchema: flags.jsonSchema === undefined ? undefined : await parseSchema(flags.jsonSchema),
      policy: flags.managedSettings === undefined ? undefined : parsePolicy(flags.managedSettings),
      agents: flags.agents === undefined ? undefined : parseJsonFlagValue('--agents', flags.agents),
    }),
  };
}

async function parseSchema(text: string): Promise<JsonObject> {
  const schema = parseJsonFlagValue('--json-schema', text);
  const { findSchemaProblem } = await import('./answer-schema-problem.ts');
  const problem = findSchemaProblem(schema);
  if (problem !== undefined) throw new UsageError(`Option --json-schema: ${problem}.`);
  return schema;
}

/** Rejects an invalid policy at startup: an ignored policy would lift its restrictions. */
function parsePolicy(text: string): string {
  return JSON.stringify(parseJsonFlagValue('--managed-settings', text));
}

/** `--thinking` without `--effort` uses the default effort of the model. */
function resolveEffort({ thinking, effort }: FlagValues): Effort | undefined {
  if (thinking === 'disabled') return 'off';
  return effort ?? (thinking === undefined ? undefined : 'auto');
}

function resolveSetup({ init, initOnly, maintenance }: FlagValues): CliRunOptions['setup'] {
  if (maintenance === true) return 'maintenance';
  return init === true || initOnly === true ? 'init' : undefined;
}

function resolveSkipPermissions(flags: FlagValues): 'now' | 'may' | undefined {
  if (flags.dangerouslySkipPermissions === true) return 'now';
  return flags.allowDangerouslySkipPermissions === true ? 'may' : undefined;
}

function resolveSession(flags: FlagValues): SessionChoice {
  const id = omitUndefined({ id: flags.sessionId });
  const fork = flags.forkSession === true ? 'fork' : 'same';
  if (flags.continue === true) return { kind: 'continue', fork, ...id };
  if (flags.resume === undefined) return { kind: 'new', ...id };
  return {
    kind: 'resume',
    wanted: flags.resume === true ? '' : flags.resume,
    fork,
    ...id,
    ...omitUndefined({ at: flags.resumeSessionAt }),
  };
}

async function readFlagFile(flag: string, file: string | undefined, cwd: string): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const path = resolve(cwd, file);
  const text = await readFileOrPipe(path).catch((thrown: unknown) => {
    throw new UsageError(`Option ${flag}: ${path} cannot be read: ${getErrorPhrase(thrown)}.`);
  });
  if (text === undefined) throw new UsageError(`Option ${flag}: ${path} does not exist.`);
  return text;
}

function resolvePluginDirs(
  { pluginDir = [], pluginDirNoMcp = [] }: FlagValues,
  cwd: string,
): CliRunOptions['pluginDirs'] {
  const dirs = [
    ...pluginDir.map((dir) => ({ folder: resolve(cwd, dir), servers: 'started' as const })),
    ...pluginDirNoMcp.map((dir) => ({ folder: resolve(cwd, dir), servers: 'excluded' as const })),
  ];
  return dirs.length === 0 ? undefined : dirs;
}

const SETTING_SOURCES = ['user', 'project', 'local'];

/** Validates the files, folders and setting sources that flags refer to; throws a `UsageError` for a missing one. */
async function validateFlagTargets(flags: FlagValues, cwd: string): Promise<void> {
  for (const name of flags.settingSources ?? []) {
    if (SETTING_SOURCES.includes(name)) continue;
    const suggestion = findClosestWord(name, SETTING_SOURCES);
    const hint = suggestion === undefined ? 'Use user, project or local.' : `Did you mean ${suggestion}?`;
    throw new UsageError(`Option --setting-sources: unknown source "${name}". ${hint}`);
  }
  if (flags.settings !== undefined) await checkFileOrJson('--settings', flags.settings, cwd);
  for (const config of flags.mcpConfig ?? []) await checkFileOrJson('--mcp-config', config, cwd);
  for (const dir of flags.addDir ?? []) {
    if (!(await existsAs('directory', resolve(cwd, dir))))
      throw new UsageError(`Option --add-dir: ${dir} is not a folder.`);
  }
}

async function checkFileOrJson(flag: string, value: string, cwd: string): Promise<void> {
  if (value.trimStart().startsWith('{')) {
    parseJsonFlagValue(flag, value);
    return;
  }
  if (!(await existsAs('file', resolve(cwd, value)))) throw new UsageError(`Option ${flag}: file ${value} not found.`);
}

async function existsAs(kind: 'file' | 'directory', path: string): Promise<boolean> {
  try {
    const stats = await stat(path);
    return kind === 'directory' ? stats.isDirectory() : !stats.isDirectory();
  } catch {
    return false;
  }
}
