/** Patterns that take more than linear time, with the reason why the texts they are matched with are short. */
export const SHORT_TEXTS: readonly {
  readonly path: string;
  readonly patterns: readonly RegExp[];
  readonly reason: string;
}[] = [
  {
    path: 'command/define-flag.ts',
    patterns: [/[<[].*[>\]]/],
    reason: 'the syntax of a flag is a constant of a source file: every caller is a table of flags',
  },
  {
    path: 'cli/installation/detect-installation.ts',
    patterns: [/\/pnpm\/.*\/node_modules\//i],
    reason: 'the path of the running program, which no system lets be longer than 4,096 bytes',
  },
  {
    path: 'sandbox/read-only/sandbox-denials.ts',
    patterns: [
      /(?:socket|connect|\bbus\b|\bdial\b|daemon|server).*operation not permitted|operation not permitted.*socket|cannot connect to the docker daemon/i,
    ],
    reason: 'findSandboxDenials cuts every line at MAX_LINE_CHARS, 500 characters',
  },
  {
    path: 'tools/bash/wait-for-foreground.ts',
    patterns: [
      /[[(]\s*(?:y(?:es)?\s*[/|]\s*no?|no?\s*[/|]\s*y(?:es)?)\b.*[\])]\W*$/i,
      /\b(?:password|passphrase|passcode|username|login|token|otp)\b.*:\s*$/i,
      /\b(?:press|hit)\b.*\b(?:key|enter|return)\b/i,
      /\b(?:enter|type|choose|select)\b.*[:>]\s*$/i,
    ],
    reason: 'isLineAskingForInput looks at the last MAX_PROMPT_CHARS, 500 characters, of a line',
  },
  {
    path: 'ui/widgets/tool-calls/failed-tests.ts',
    patterns: [
      /^\s*not ok \d+(?: -)? (.+?)(?: # .*)?$/,
      /^FAILED \S+?::(\S+)(?: - .*)?$/,
      /^\s*expected: (.+?),?$[\s\S]*?^\s*actual: (.+?),?$/im,
      /^\s*actual: (.+?),?$[\s\S]*?^\s*expected: (.+?),?$/im,
      /^\s*Expected: +(.+)$[\s\S]*?^\s*Received: +(.+)$/m,
      /\bexpected (.+?) to (?:be|equal|deeply equal|strictly equal|eql) (.+?)(?: \/\/.*)?$/m,
      /^\s*(\S.*?) !== (\S.*)$/m,
      /\bassert (.+?) == (.+)$/m,
      /^\s*left: (.+)$\s*^\s*right: (.+)$/m,
      /\bgot:? (.+?),? (?:but )?(?:want|expected|wanted):? (.+)$/m,
      /\b(?:want|expected|wanted):? (.+?),? (?:but )?got:? (.+)$/m,
      /(?:^|\s)(?:\w*(?:Error|Exception)(?: \[\w+\])?|panicked at [^\n]*|error): *\n? *(.+)$/m,
      /(?:file:\/\/)?((?:[A-Za-z]:)?[\w@./\\-]*[\w-]\.\w{1,5}):(\d+)(?::\d+)?/g,
    ],
    reason: 'findFailedTests cuts every row at MAX_ROW_CHARS and looks at MAX_DETAIL_LINES of them for one test',
  },
];
