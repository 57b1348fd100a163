import type { FlagValues } from './flag-values.ts';

/** The first pair of flags that cannot both be meant, as a sentence. */
export function contradiction(flags: FlagValues, face: 'print' | 'host' | 'screen'): string | undefined {
  return RULES.find(([applies]) => applies(flags, face))?.[1];
}

type Rule = readonly [(flags: FlagValues, face: 'print' | 'host' | 'screen') => boolean, string];

const goesOn = (flags: FlagValues) => flags.continue === true || flags.resume !== undefined;

const RULES: readonly Rule[] = [
  [
    (flags) => flags.continue === true && flags.resume !== undefined,
    '--continue and --resume exclude each other: one takes the newest session, the other the one you name.',
  ],
  [
    (flags) => flags.forkSession === true && !goesOn(flags),
    '--fork-session needs a session to copy: add --continue or --resume <session>.',
  ],
  [
    (flags) => flags.resumeSessionAt !== undefined && flags.resume === undefined,
    '--resume-session-at needs the session: add --resume <session>.',
  ],
  [
    (flags) => flags.sessionId !== undefined && goesOn(flags) && flags.forkSession !== true,
    '--session-id names a new session. With --continue or --resume, add --fork-session.',
  ],
  [
    (flags) => flags.systemPrompt !== undefined && flags.systemPromptFile !== undefined,
    'Give --system-prompt or --system-prompt-file, not both.',
  ],
  [
    (flags) => flags.appendSystemPrompt !== undefined && flags.appendSystemPromptFile !== undefined,
    'Give --append-system-prompt or --append-system-prompt-file, not both.',
  ],
  [
    (flags) =>
      flags.dangerouslySkipPermissions === true &&
      flags.permissionMode !== undefined &&
      flags.permissionMode !== 'bypassPermissions',
    '--dangerously-skip-permissions and --permission-mode say different things. Choose one.',
  ],
  [
    (flags) => flags.inputFormat === 'stream-json' && flags.outputFormat !== 'stream-json',
    '--input-format stream-json needs --output-format stream-json.',
  ],
  [
    (flags) => flags.outputFormat === 'stream-json' && flags.verbose !== true,
    '--output-format stream-json tells every line of the run: add --verbose.',
  ],
  [
    (flags) => flags.includePartialMessages === true && flags.outputFormat !== 'stream-json',
    '--include-partial-messages needs --output-format stream-json.',
  ],
  [
    (flags) => flags.replayUserMessages === true && flags.inputFormat !== 'stream-json',
    '--replay-user-messages needs --input-format stream-json.',
  ],
  [
    (flags, face) => flags.permissionPromptTool === 'stdio' && face !== 'host',
    '--permission-prompt-tool stdio needs --input-format stream-json.',
  ],
  [
    (flags) => flags.thinking === 'disabled' && (flags.maxThinkingTokens ?? 0) > 0,
    '--thinking disabled and --max-thinking-tokens say different things. Choose one.',
  ],
  [
    (flags) => flags.effort === 'off' && (flags.maxThinkingTokens ?? 0) > 0,
    '--effort off and --max-thinking-tokens say different things. Choose one.',
  ],
  [
    (flags, face) => flags.permissionPromptTool !== undefined && face === 'screen',
    '--permission-prompt-tool needs -p: on a screen you are asked yourself.',
  ],
  [
    (flags) => flags.includeHookEvents === true && flags.outputFormat !== 'stream-json',
    '--include-hook-events needs --output-format stream-json.',
  ],
  [(flags, face) => flags.jsonSchema !== undefined && face === 'screen', '--json-schema needs -p.'],
];
