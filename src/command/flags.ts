import { EFFORTS } from '../contracts/model.ts';
import { PERMISSION_MODES } from '../contracts/permission.ts';
import { defineAdvancedFlag, defineFlag, type FlagTable, type FlagValuesOf } from './define-flag.ts';

const WHOLE = { isWhole: true } as const;
const NEEDS_STREAM_JSON = { requires: ['outputFormat=stream-json'] } as const;

/** Every flag of `ouro` itself, by group and in the order of the help. */
export const CLI_FLAG_GROUPS = {
  General: { print: defineFlag('-p, --print', 'boolean', 'print one answer and exit, for scripts and pipes') },
  Session: {
    continue: defineFlag('-c, --continue', 'boolean', 'continue the newest session of this folder', {
      excludes: ['resume'],
      message:
        '--continue and --resume cannot be combined: the first takes the newest session, the second the one you name.',
    }),
    resume: defineFlag('-r, --resume [session]', 'optional text', 'resume a session by id, part of an id, or title'),
    forkSession: defineFlag('--fork-session', 'boolean', 'continue in a copy and leave the original unchanged', {
      requires: ['continue', 'resume'],
      message: '--fork-session needs a session to copy: add --continue or --resume <session>.',
    }),
    resumeSessionAt: defineAdvancedFlag(
      '--resume-session-at <message>',
      'name',
      'with --resume: continue from the message with this uuid',
      { requires: ['resume'], message: '--resume-session-at needs a session: add --resume <session>.' },
    ),
    sessionId: defineAdvancedFlag('--session-id <uuid>', 'uuid', 'use this id for a new session', {
      excludes: ['continue', 'resume'],
      unless: 'forkSession',
      message: '--session-id names a new session. With --continue or --resume, add --fork-session.',
    }),
    init: defineAdvancedFlag('--init', 'boolean', 'run the Setup hooks first, as for a fresh checkout', {
      excludes: ['maintenance'],
      message: '--init and --maintenance cannot be combined: the Setup hooks run for one or the other.',
    }),
    initOnly: defineAdvancedFlag('--init-only', 'boolean', 'run the Setup and SessionStart hooks, then exit', {
      excludes: ['maintenance'],
      message: '--init-only and --maintenance cannot be combined: the Setup hooks run for one or the other.',
    }),
    maintenance: defineAdvancedFlag(
      '--maintenance',
      'boolean',
      'run the Setup hooks first, as for regular maintenance',
    ),
    sessionPersistence: defineAdvancedFlag('--no-session-persistence', 'boolean', 'do not save the session to disk'),
  },
  Model: {
    model: defineFlag('--model <name>', 'name', 'model: opus, sonnet, haiku, a full id, ollama/…, or demo'),
    fallbackModel: defineFlag(
      '--fallback-model <names>',
      'list',
      'fallback models, tried in order when the first is unavailable',
    ),
    effort: defineFlag('--effort <level>', { oneOf: EFFORTS }, 'thinking effort: auto, off, low … xhigh, max', {
      whenValue: 'off',
      excludes: ['maxThinkingTokens'],
      unless: 'maxThinkingTokens=0',
      message: '--effort off and --max-thinking-tokens contradict each other. Choose one.',
    }),
    maxThinkingTokens: defineAdvancedFlag(
      '--max-thinking-tokens <n>',
      { numberFrom: 0, ...WHOLE },
      'thinking budget in tokens',
    ),
    thinking: defineAdvancedFlag(
      '--thinking <how>',
      { oneOf: ['adaptive', 'enabled', 'disabled'] },
      'thinking: adaptive, enabled or disabled',
      {
        whenValue: 'disabled',
        excludes: ['maxThinkingTokens'],
        unless: 'maxThinkingTokens=0',
        message: '--thinking disabled and --max-thinking-tokens contradict each other. Choose one.',
      },
    ),
    betas: defineAdvancedFlag('--betas <names>', 'list', 'beta headers sent to the API'),
  },
  Permissions: {
    permissionMode: defineFlag(
      '--permission-mode <mode>',
      { oneOf: PERMISSION_MODES },
      'default, acceptEdits, plan, auto, dontAsk or bypassPermissions',
    ),
    allowedTools: defineFlag('--allowedTools, --allowed-tools <rules...>', 'list', 'tool calls allowed without asking'),
    disallowedTools: defineFlag(
      '--disallowedTools, --disallowed-tools <rules...>',
      'list',
      'tool calls that are denied',
    ),
    tools: defineAdvancedFlag('--tools <names...>', 'list', 'make only these tools available'),
    permissionPromptTool: defineAdvancedFlag(
      '--permission-prompt-tool <name>',
      'text',
      'answers permission requests: stdio, or an MCP tool',
      {
        whenValue: 'stdio',
        requires: ['inputFormat=stream-json'],
        message: '--permission-prompt-tool stdio needs --input-format stream-json.',
      },
      {
        excludes: ['screen'],
        message: '--permission-prompt-tool needs -p: in interactive mode you are asked yourself.',
      },
    ),
    permissionPrompts: defineAdvancedFlag(
      '--permission-prompts <who>',
      { oneOf: ['host', 'none'] },
      'none: deny every call that would ask for permission',
      {
        whenValue: 'none',
        excludes: ['screen'],
        message: '--permission-prompts none needs -p: in interactive mode you are asked.',
      },
    ),
    dangerouslySkipPermissions: defineFlag(
      '--dangerously-skip-permissions',
      'boolean',
      'skip all permission prompts (deny rules still apply)',
      {
        excludes: ['permissionMode'],
        unless: 'permissionMode=bypassPermissions',
        message: '--dangerously-skip-permissions and --permission-mode contradict each other. Choose one.',
      },
    ),
    allowDangerouslySkipPermissions: defineAdvancedFlag(
      '--allow-dangerously-skip-permissions',
      'boolean',
      'allow switching to bypassPermissions later',
    ),
    trust: defineFlag('--trust', 'boolean', 'trust this folder for this run'),
  },
  Output: {
    outputFormat: defineFlag(
      '--output-format <format>',
      { oneOf: ['text', 'json', 'stream-json'] },
      'output format: text, json or stream-json',
      {
        whenValue: 'stream-json',
        requires: ['verbose'],
        message: '--output-format stream-json prints every event of the run: add --verbose.',
      },
    ),
    inputFormat: defineAdvancedFlag(
      '--input-format <format>',
      { oneOf: ['text', 'stream-json'] },
      'input format: text or stream-json',
      {
        whenValue: 'stream-json',
        ...NEEDS_STREAM_JSON,
        message: '--input-format stream-json needs --output-format stream-json.',
      },
    ),
    includePartialMessages: defineAdvancedFlag('--include-partial-messages', 'boolean', 'also stream partial replies', {
      ...NEEDS_STREAM_JSON,
      message: '--include-partial-messages needs --output-format stream-json.',
    }),
    includeHookEvents: defineAdvancedFlag('--include-hook-events', 'boolean', 'report hook events', {
      ...NEEDS_STREAM_JSON,
      message: '--include-hook-events needs --output-format stream-json.',
    }),
    awaitInitialize: defineAdvancedFlag(
      '--await-initialize',
      'boolean',
      'take MCP servers from the initialize request of the host',
      {
        requires: ['inputFormat=stream-json'],
        message: '--await-initialize needs --input-format stream-json.',
      },
    ),
    replayUserMessages: defineAdvancedFlag(
      '--replay-user-messages',
      'boolean',
      'repeat user messages from stdin on stdout',
      {
        requires: ['inputFormat=stream-json'],
        message: '--replay-user-messages needs --input-format stream-json.',
      },
    ),
    verbose: defineAdvancedFlag(
      '--verbose',
      'boolean',
      'print every event of the run; with text, each tool call on stderr',
    ),
    jsonSchema: defineFlag('--json-schema <schema>', 'text', 'JSON schema the answer must match', {
      excludes: ['screen'],
      message: '--json-schema needs -p.',
    }),
    maxTurns: defineFlag('--max-turns <n>', { numberFrom: 1, ...WHOLE }, 'stop after this many turns'),
    maxBudgetUsd: defineFlag(
      '--max-budget-usd <dollars>',
      { numberFrom: 0, isWhole: false },
      'stop after spending this much',
    ),
    waitForLimit: defineAdvancedFlag(
      '--wait-for-limit',
      'boolean',
      'when a usage limit ends the run, continue after the reset',
      {
        excludes: ['screen'],
        message: '--wait-for-limit needs -p. In interactive mode press w to wait.',
      },
    ),
    tokenBudget: defineAdvancedFlag(
      '--token-budget <tokens>',
      { numberFrom: 1, ...WHOLE },
      'keep working until about this many tokens are written',
    ),
    ide: defineAdvancedFlag('--ide', 'boolean', 'wait for the editor that has this folder open, and connect to it'),
    a11y: defineAdvancedFlag('--a11y', 'boolean', 'screen reader mode: append lines, never redraw'),
    debug: defineAdvancedFlag('--debug', 'boolean', 'write a debug log and print its path'),
    debugFile: defineAdvancedFlag('--debug-file <file>', 'name', 'write the debug log to this file'),
  },
  Project: {
    worktree: defineFlag('-w, --worktree [name]', 'optional text', 'work in a separate git worktree'),
    addDir: defineFlag('--add-dir <dirs...>', 'texts', 'additional working directories'),
    pluginDir: defineAdvancedFlag('--plugin-dir <dirs...>', 'texts', 'plugin folders for this run'),
    pluginDirNoMcp: defineAdvancedFlag(
      '--plugin-dir-no-mcp <dirs...>',
      'texts',
      'plugin folders for this run, without their MCP servers',
    ),
    settings: defineFlag('--settings <file-or-json>', 'text', 'settings for this run'),
    managedSettings: defineAdvancedFlag(
      '--managed-settings <json>',
      'text',
      'policy set by the program that starts ouro; it can only restrict',
    ),
    settingSources: defineAdvancedFlag('--setting-sources <names>', 'list', 'settings to load: user,project,local'),
    mcpConfig: defineFlag('--mcp-config <files-or-json...>', 'texts', 'MCP servers for this run'),
    strictMcpConfig: defineAdvancedFlag('--strict-mcp-config', 'boolean', 'use only MCP servers from --mcp-config'),
    agents: defineAdvancedFlag('--agents <json>', 'text', 'sub-agents for this run'),
    agent: defineAdvancedFlag('--agent <name>', 'text', 'run as this sub-agent'),
    systemPrompt: defineAdvancedFlag('--system-prompt <text>', 'text', 'replace the system prompt', {
      excludes: ['systemPromptFile'],
      message: 'Give --system-prompt or --system-prompt-file, not both.',
    }),
    systemPromptFile: defineAdvancedFlag(
      '--system-prompt-file <file>',
      'text',
      'replace the system prompt with a file',
    ),
    appendSystemPrompt: defineFlag('--append-system-prompt <text>', 'text', 'append to the system prompt', {
      excludes: ['appendSystemPromptFile'],
      message: 'Give --append-system-prompt or --append-system-prompt-file, not both.',
    }),
    appendSystemPromptFile: defineAdvancedFlag(
      '--append-system-prompt-file <file>',
      'text',
      'append a file to the system prompt',
    ),
  },
} as const satisfies Readonly<Record<string, FlagTable>>;

/** The flags of `ouro` itself, without groups. */
export const CLI_FLAGS = {
  ...CLI_FLAG_GROUPS.General,
  ...CLI_FLAG_GROUPS.Session,
  ...CLI_FLAG_GROUPS.Model,
  ...CLI_FLAG_GROUPS.Permissions,
  ...CLI_FLAG_GROUPS.Output,
  ...CLI_FLAG_GROUPS.Project,
};

/** The parsed values of the flags of `ouro` itself. */
export type FlagValues = FlagValuesOf<typeof CLI_FLAGS>;
