export const FLAG_GROUPS = ['Talk', 'Session', 'Model', 'Permissions', 'Output', 'Project'] as const;

export type FlagGroup = (typeof FLAG_GROUPS)[number];

/** One flag, as help, completions, the man page and the parser see it. */
export type Flag = {
  readonly flags: string;
  readonly words: string;
  readonly group: FlagGroup;
  readonly choices?: readonly string[];
  /** Spoken by hosts and scripts; left out of the short help. */
  readonly quiet?: 'quiet';
};

export const FLAGS: readonly Flag[] = [
  { group: 'Talk', flags: '-p, --print', words: 'answer once and leave: for scripts and pipes' },
  { group: 'Session', flags: '-c, --continue', words: 'go on with the newest session of this folder' },
  { group: 'Session', flags: '-r, --resume [session]', words: 'go on with a session: id, part of it, or title' },
  { group: 'Session', flags: '--fork-session', words: 'go on in a copy, leaving the original as it is' },
  {
    group: 'Session',
    flags: '--resume-session-at <message>',
    words: 'with --resume: go on from this message, by its uuid',
    quiet: 'quiet',
  },
  { group: 'Session', flags: '--session-id <uuid>', words: 'use this id for a new session', quiet: 'quiet' },
  { group: 'Session', flags: '--no-session-persistence', words: 'keep nothing on disk', quiet: 'quiet' },
  { group: 'Model', flags: '--model <name>', words: 'opus, sonnet, haiku, a full id, ollama/…, or demo' },
  { group: 'Model', flags: '--fallback-model <names>', words: 'models to try when the first stays away' },
  {
    group: 'Model',
    flags: '--effort <level>',
    words: 'how hard to think: off, low, medium, high or max',
    choices: ['off', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
  { group: 'Model', flags: '--max-thinking-tokens <n>', words: 'a budget for thinking', quiet: 'quiet' },
  {
    group: 'Model',
    flags: '--thinking <how>',
    words: 'adaptive, enabled or disabled',
    choices: ['adaptive', 'enabled', 'disabled'],
    quiet: 'quiet',
  },
  { group: 'Model', flags: '--betas <names>', words: 'beta headers for the API', quiet: 'quiet' },
  {
    group: 'Permissions',
    flags: '--permission-mode <mode>',
    words: 'default, acceptEdits, plan, dontAsk or bypassPermissions',
    choices: ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'],
  },
  { group: 'Permissions', flags: '--allowedTools, --allowed-tools <rules...>', words: 'calls that need no question' },
  { group: 'Permissions', flags: '--disallowedTools, --disallowed-tools <rules...>', words: 'calls that are refused' },
  { group: 'Permissions', flags: '--tools <names...>', words: 'offer only these tools', quiet: 'quiet' },
  {
    group: 'Permissions',
    flags: '--permission-prompt-tool <name>',
    words: 'who answers questions: stdio, or an MCP tool',
    quiet: 'quiet',
  },
  { group: 'Permissions', flags: '--dangerously-skip-permissions', words: 'ask nothing (deny rules still hold)' },
  {
    group: 'Permissions',
    flags: '--allow-dangerously-skip-permissions',
    words: 'let that mode be chosen later',
    quiet: 'quiet',
  },
  { group: 'Permissions', flags: '--trust', words: 'trust this folder for this run' },
  {
    group: 'Output',
    flags: '--output-format <format>',
    words: 'text, json or stream-json',
    choices: ['text', 'json', 'stream-json'],
  },
  {
    group: 'Output',
    flags: '--input-format <format>',
    words: 'text or stream-json',
    choices: ['text', 'stream-json'],
    quiet: 'quiet',
  },
  { group: 'Output', flags: '--include-partial-messages', words: 'stream the pieces of replies too', quiet: 'quiet' },
  { group: 'Output', flags: '--include-hook-events', words: 'tell what hooks do', quiet: 'quiet' },
  { group: 'Output', flags: '--replay-user-messages', words: 'tell back what came in on stdin', quiet: 'quiet' },
  {
    group: 'Output',
    flags: '--verbose',
    words: 'every line of the run; with text, each call on stderr',
    quiet: 'quiet',
  },
  { group: 'Output', flags: '--json-schema <schema>', words: 'an answer that fits this JSON schema' },
  { group: 'Output', flags: '--max-turns <n>', words: 'stop after this many turns' },
  { group: 'Output', flags: '--max-budget-usd <dollars>', words: 'stop when this much is spent' },
  {
    group: 'Output',
    flags: '--token-budget <tokens>',
    words: 'keep working until about this much is written',
    quiet: 'quiet',
  },
  {
    group: 'Output',
    flags: '--a11y',
    words: 'for screen readers: lines are only added, nothing is redrawn',
    quiet: 'quiet',
  },
  { group: 'Output', flags: '--debug', words: 'write what happens to a log file, and say which', quiet: 'quiet' },
  { group: 'Output', flags: '--debug-file <file>', words: 'the same, to this file', quiet: 'quiet' },
  { group: 'Project', flags: '-w, --worktree [name]', words: 'work in a git worktree of its own' },
  { group: 'Project', flags: '--add-dir <dirs...>', words: 'more folders to work in' },
  { group: 'Project', flags: '--settings <file-or-json>', words: 'settings for this run' },
  {
    group: 'Project',
    flags: '--managed-settings <json>',
    words: 'policy of the program that starts ouro: it only tightens',
    quiet: 'quiet',
  },
  {
    group: 'Project',
    flags: '--setting-sources <names>',
    words: 'which settings count: user,project,local',
    quiet: 'quiet',
  },
  { group: 'Project', flags: '--mcp-config <files-or-json...>', words: 'MCP servers for this run' },
  { group: 'Project', flags: '--strict-mcp-config', words: 'only those MCP servers', quiet: 'quiet' },
  { group: 'Project', flags: '--agents <json>', words: 'sub-agents for this run', quiet: 'quiet' },
  { group: 'Project', flags: '--agent <name>', words: 'start as this sub-agent', quiet: 'quiet' },
  { group: 'Project', flags: '--system-prompt <text>', words: 'replace the system prompt', quiet: 'quiet' },
  { group: 'Project', flags: '--system-prompt-file <file>', words: 'replace it with a file', quiet: 'quiet' },
  { group: 'Project', flags: '--append-system-prompt <text>', words: 'add to the system prompt' },
  { group: 'Project', flags: '--append-system-prompt-file <file>', words: 'add a file to it', quiet: 'quiet' },
];

/** The long name and the placeholder of a flag: `--model`, `<name>`. */
export function partsOf({ flags }: Flag): {
  readonly short: string | undefined;
  readonly long: readonly string[];
  readonly value: string | undefined;
} {
  const names = flags.match(/(?<=^|[\s,])--?[A-Za-z][\w-]*/g) ?? [];
  return {
    short: names.find((name) => !name.startsWith('--')),
    long: names.filter((name) => name.startsWith('--')),
    value: flags.match(/[<[].*[>\]]/)?.[0],
  };
}
