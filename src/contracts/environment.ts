/** Everything the surroundings say, read once. Nothing below the app layer looks at `process.env`. */
export type Environment = {
  /** The version of the package that runs. */
  readonly version: string;
  readonly home: string;
  /** Where ouro keeps what is its own: `$OURO_HOME`, or `~/.ouro`. */
  readonly ouroHome: string;
  readonly credentials: { readonly apiKey?: string; readonly authToken?: string };
  readonly baseUrl: string | undefined;
  /** For models called `openai/…`. */
  readonly openAi: { readonly baseUrl?: string; readonly apiKey?: string };
  readonly model: string | undefined;
  readonly smallModel: string | undefined;
  readonly editor: string | undefined;
  readonly limits: Limits;
  /** Variables of ours that say something which cannot be understood, in sentences. */
  readonly problems: readonly string[];
  readonly term: {
    readonly name: string;
    readonly noColor: boolean;
    readonly forceColor: string | undefined;
    readonly forceHyperlink: string | undefined;
    readonly colorTerm: string;
    readonly colorFgBg: string | undefined;
    readonly program: string | undefined;
    readonly programVersion: string | undefined;
    /** Windows Terminal or ConEmu. */
    readonly isWindows: boolean;
    readonly tmux: boolean;
    /** It stands on another machine, so an answer of it takes a while. */
    readonly isRemote: boolean;
    /** Rows that become too wide for its window are wrapped; others cut them, as xterm does. */
    readonly reflows: boolean;
    readonly locale: string;
    readonly accessible: boolean;
  };
  readonly isCi: boolean;
  /** A disposable machine: bypass mode is allowed even as root. */
  readonly isSandbox: boolean;
  readonly path: readonly string[];
  /** What child processes get, before the shell tool scrubs it further. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that hold keys of ours or of a provider; no child process gets them. */
  readonly keys: Readonly<Record<string, string>>;
};

/** Limits in milliseconds and counts, from the environment; settings may say the same. */
export type Limits = {
  readonly streamIdleTimeoutMs: number | undefined;
  readonly headerTimeoutMs: number | undefined;
  readonly maxRetries: number | undefined;
  readonly retryBaseMs: number | undefined;
  readonly mcpTimeoutMs: number | undefined;
  readonly mcpCallTimeoutMs: number | undefined;
  readonly hookTimeoutMs: number | undefined;
  readonly bashTimeoutMs: number | undefined;
  readonly bashMaxTimeoutMs: number | undefined;
};

/** Our own secrets; no child of ours ever sees them. */
export const SECRETS: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'OPENROUTER_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'TOGETHER_API_KEY',
  'FIREWORKS_API_KEY',
  'CEREBRAS_API_KEY',
  'MOONSHOT_API_KEY',
  'ZAI_API_KEY',
  'AWS_BEARER_TOKEN_BEDROCK',
  'ANTHROPIC_FOUNDRY_API_KEY',
  'ANTHROPIC_FOUNDRY_AUTH_TOKEN',
  'AZURE_OPENAI_API_KEY',
  'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE',
  'OURO_QUEUE',
];
