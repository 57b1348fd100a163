import { EFFORTS } from '../../contracts/model.ts';
import { MODES } from '../../contracts/permission.ts';
import { type FlagTable, flag, rareFlag, type ValuesOf } from './flag.ts';

const WHOLE = { isWhole: true } as const;
const STREAMS = { needs: ['outputFormat=stream-json'] } as const;

/** Every flag of `ouro` itself by its group, in the order of the help. */
export const FLAG_GROUPS = {
  Talk: { print: flag('-p, --print', 'nothing', 'answer once and leave: for scripts and pipes') },
  Session: {
    continue: flag('-c, --continue', 'nothing', 'go on with the newest session of this folder', {
      excludes: ['resume'],
      words: '--continue and --resume exclude each other: one takes the newest session, the other the one you name.',
    }),
    resume: flag('-r, --resume [session]', 'optional text', 'go on with a session: id, part of it, or title'),
    forkSession: flag('--fork-session', 'nothing', 'go on in a copy, leaving the original as it is', {
      needs: ['continue', 'resume'],
      words: '--fork-session needs a session to copy: add --continue or --resume <session>.',
    }),
    resumeSessionAt: rareFlag(
      '--resume-session-at <message>',
      'name',
      'with --resume: go on from this message, by its uuid',
      { needs: ['resume'], words: '--resume-session-at needs the session: add --resume <session>.' },
    ),
    sessionId: rareFlag('--session-id <uuid>', 'uuid', 'use this id for a new session', {
      excludes: ['continue', 'resume'],
      unless: 'forkSession',
      words: '--session-id names a new session. With --continue or --resume, add --fork-session.',
    }),
    init: rareFlag('--init', 'nothing', 'run the hooks of Setup first, as for a fresh checkout', {
      excludes: ['maintenance'],
      words: '--init and --maintenance exclude each other: each says what the hooks of Setup prepare for.',
    }),
    initOnly: rareFlag('--init-only', 'nothing', 'run the hooks of Setup and SessionStart, then leave', {
      excludes: ['maintenance'],
      words: '--init-only and --maintenance exclude each other: each says what the hooks of Setup prepare for.',
    }),
    maintenance: rareFlag('--maintenance', 'nothing', 'run the hooks of Setup first, as for regular upkeep'),
    sessionPersistence: rareFlag('--no-session-persistence', 'nothing', 'keep nothing on disk'),
  },
  Model: {
    model: flag('--model <name>', 'name', 'opus, sonnet, haiku, a full id, ollama/…, or demo'),
    fallbackModel: flag('--fallback-model <names>', 'list', 'models to try when the first stays away'),
    effort: flag('--effort <level>', { oneOf: EFFORTS }, 'how hard to think: auto, off, low … xhigh, max', {
      at: 'off',
      excludes: ['maxThinkingTokens'],
      unless: 'maxThinkingTokens=0',
      words: '--effort off and --max-thinking-tokens say different things. Choose one.',
    }),
    maxThinkingTokens: rareFlag('--max-thinking-tokens <n>', { numberFrom: 0, ...WHOLE }, 'a budget for thinking'),
    thinking: rareFlag(
      '--thinking <how>',
      { oneOf: ['adaptive', 'enabled', 'disabled'] },
      'adaptive, enabled or disabled',
      {
        at: 'disabled',
        excludes: ['maxThinkingTokens'],
        unless: 'maxThinkingTokens=0',
        words: '--thinking disabled and --max-thinking-tokens say different things. Choose one.',
      },
    ),
    betas: rareFlag('--betas <names>', 'list', 'beta headers for the API'),
  },
  Permissions: {
    permissionMode: flag(
      '--permission-mode <mode>',
      { oneOf: MODES },
      'default, acceptEdits, plan, auto, dontAsk or bypassPermissions',
    ),
    allowedTools: flag('--allowedTools, --allowed-tools <rules...>', 'list', 'calls that need no question'),
    disallowedTools: flag('--disallowedTools, --disallowed-tools <rules...>', 'list', 'calls that are refused'),
    tools: rareFlag('--tools <names...>', 'list', 'offer only these tools'),
    permissionPromptTool: rareFlag(
      '--permission-prompt-tool <name>',
      'text',
      'who answers questions: stdio, or an MCP tool',
      {
        at: 'stdio',
        needs: ['inputFormat=stream-json'],
        words: '--permission-prompt-tool stdio needs --input-format stream-json.',
      },
      { excludes: ['screen'], words: '--permission-prompt-tool needs -p: on a screen you are asked yourself.' },
    ),
    permissionPrompts: rareFlag(
      '--permission-prompts <who>',
      { oneOf: ['host', 'none'] },
      'none: nobody is asked, what would ask is refused',
      { at: 'none', excludes: ['screen'], words: '--permission-prompts none needs -p: on a screen you are asked.' },
    ),
    dangerouslySkipPermissions: flag(
      '--dangerously-skip-permissions',
      'nothing',
      'ask nothing (deny rules still hold)',
      {
        excludes: ['permissionMode'],
        unless: 'permissionMode=bypassPermissions',
        words: '--dangerously-skip-permissions and --permission-mode say different things. Choose one.',
      },
    ),
    allowDangerouslySkipPermissions: rareFlag(
      '--allow-dangerously-skip-permissions',
      'nothing',
      'let that mode be chosen later',
    ),
    trust: flag('--trust', 'nothing', 'trust this folder for this run'),
  },
  Output: {
    outputFormat: flag(
      '--output-format <format>',
      { oneOf: ['text', 'json', 'stream-json'] },
      'text, json or stream-json',
      {
        at: 'stream-json',
        needs: ['verbose'],
        words: '--output-format stream-json tells every line of the run: add --verbose.',
      },
    ),
    inputFormat: rareFlag('--input-format <format>', { oneOf: ['text', 'stream-json'] }, 'text or stream-json', {
      at: 'stream-json',
      ...STREAMS,
      words: '--input-format stream-json needs --output-format stream-json.',
    }),
    includePartialMessages: rareFlag('--include-partial-messages', 'nothing', 'stream the pieces of replies too', {
      ...STREAMS,
      words: '--include-partial-messages needs --output-format stream-json.',
    }),
    includeHookEvents: rareFlag('--include-hook-events', 'nothing', 'tell what hooks do', {
      ...STREAMS,
      words: '--include-hook-events needs --output-format stream-json.',
    }),
    awaitInitialize: rareFlag('--await-initialize', 'nothing', 'servers come with the first request of the host', {
      needs: ['inputFormat=stream-json'],
      words: '--await-initialize needs --input-format stream-json.',
    }),
    replayUserMessages: rareFlag('--replay-user-messages', 'nothing', 'tell back what came in on stdin', {
      needs: ['inputFormat=stream-json'],
      words: '--replay-user-messages needs --input-format stream-json.',
    }),
    verbose: rareFlag('--verbose', 'nothing', 'every line of the run; with text, each call on stderr'),
    jsonSchema: flag('--json-schema <schema>', 'text', 'an answer that fits this JSON schema', {
      excludes: ['screen'],
      words: '--json-schema needs -p.',
    }),
    maxTurns: flag('--max-turns <n>', { numberFrom: 1, ...WHOLE }, 'stop after this many turns'),
    maxBudgetUsd: flag('--max-budget-usd <dollars>', { numberFrom: 0, isWhole: false }, 'stop when this much is spent'),
    waitForLimit: rareFlag('--wait-for-limit', 'nothing', 'when a usage limit ends the run, go on when it is reset', {
      excludes: ['screen'],
      words: '--wait-for-limit needs -p. On a screen w waits.',
    }),
    tokenBudget: rareFlag(
      '--token-budget <tokens>',
      { numberFrom: 1, ...WHOLE },
      'keep working until about this much is written',
    ),
    a11y: rareFlag('--a11y', 'nothing', 'for screen readers: lines are only added, nothing is redrawn'),
    debug: rareFlag('--debug', 'nothing', 'write what happens to a log file, and say which'),
    debugFile: rareFlag('--debug-file <file>', 'name', 'write what happens to this file'),
  },
  Project: {
    worktree: flag('-w, --worktree [name]', 'optional text', 'work in a git worktree of its own'),
    addDir: flag('--add-dir <dirs...>', 'texts', 'more folders to work in'),
    pluginDir: rareFlag('--plugin-dir <dirs...>', 'texts', 'plugins for this run, each a folder'),
    pluginDirNoMcp: rareFlag('--plugin-dir-no-mcp <dirs...>', 'texts', 'the same without their MCP servers'),
    settings: flag('--settings <file-or-json>', 'text', 'settings for this run'),
    managedSettings: rareFlag(
      '--managed-settings <json>',
      'text',
      'policy of the program that starts ouro: it only tightens',
    ),
    settingSources: rareFlag('--setting-sources <names>', 'list', 'which settings count: user,project,local'),
    mcpConfig: flag('--mcp-config <files-or-json...>', 'texts', 'MCP servers for this run'),
    strictMcpConfig: rareFlag('--strict-mcp-config', 'nothing', 'only those MCP servers'),
    agents: rareFlag('--agents <json>', 'text', 'sub-agents for this run'),
    agent: rareFlag('--agent <name>', 'text', 'start as this sub-agent'),
    systemPrompt: rareFlag('--system-prompt <text>', 'text', 'replace the system prompt', {
      excludes: ['systemPromptFile'],
      words: 'Give --system-prompt or --system-prompt-file, not both.',
    }),
    systemPromptFile: rareFlag('--system-prompt-file <file>', 'text', 'replace it with a file'),
    appendSystemPrompt: flag('--append-system-prompt <text>', 'text', 'add to the system prompt', {
      excludes: ['appendSystemPromptFile'],
      words: 'Give --append-system-prompt or --append-system-prompt-file, not both.',
    }),
    appendSystemPromptFile: rareFlag('--append-system-prompt-file <file>', 'text', 'add a file to it'),
  },
} as const satisfies Readonly<Record<string, FlagTable>>;

/** The same flags without their groups. */
export const FLAGS = {
  ...FLAG_GROUPS.Talk,
  ...FLAG_GROUPS.Session,
  ...FLAG_GROUPS.Model,
  ...FLAG_GROUPS.Permissions,
  ...FLAG_GROUPS.Output,
  ...FLAG_GROUPS.Project,
};

/** The values of the flags of `ouro` itself. */
export type FlagValues = ValuesOf<typeof FLAGS>;
