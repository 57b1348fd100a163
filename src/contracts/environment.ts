/** The environment of the process, read once. Nothing below the app layer reads `process.env`. */
export type Environment = {
  /** Version of the running package. */
  readonly version: string;
  readonly home: string;
  /** The folder of ouro's own files: `$OURO_HOME`, or `~/.ouro`. */
  readonly ouroHome: string;
  /** The folder where the runtime keeps compiled sources of ouro: `~/.cache/ouro`. */
  readonly runtimeCache: string;
  readonly credentials: { readonly apiKey?: string; readonly authToken?: string };
  readonly baseUrl: string | undefined;
  /** Address and key for models named `openai/…`. */
  readonly openAi: { readonly baseUrl?: string; readonly apiKey?: string };
  readonly model: string | undefined;
  readonly smallModel: string | undefined;
  readonly editor: string | undefined;
  readonly limits: RuntimeLimits;
  /** Messages about `OURO_*` variables with invalid values. */
  readonly problems: readonly string[];
  readonly term: {
    readonly name: string;
    readonly isColorDisabled: boolean;
    readonly forceColor: string | undefined;
    readonly forceHyperlink: string | undefined;
    readonly colorTerm: string;
    readonly colorFgBg: string | undefined;
    readonly program: string | undefined;
    readonly programVersion: string | undefined;
    /** Windows Terminal or ConEmu. */
    readonly isWindows: boolean;
    readonly isTmux: boolean;
    /** The terminal is on another machine (SSH), so its replies to queries take longer. */
    readonly isRemote: boolean;
    /** The terminal rewraps rows when its window becomes narrower; others cut them, as xterm does. */
    readonly canReflow: boolean;
    readonly locale: string;
    readonly isAccessible: boolean;
  };
  readonly isCi: boolean;
  /** File to which the screen is recorded. */
  readonly screenRecording?: string | undefined;
  /** File to which the replies of models are recorded, or from which they are replayed. */
  readonly modelRecording?: { readonly mode: 'record' | 'replay'; readonly file: string } | undefined;
  /** The machine is disposable, so bypass mode is allowed even as root. */
  readonly isSandbox: boolean;
  readonly path: readonly string[];
  /** File with further certificate authorities, from `env` of the settings. */
  readonly extraCaFile?: string | undefined;
  /** Variables for child processes; the shell tool removes more of them. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that hold keys of ouro or of a provider. Child processes never get them. */
  readonly keys: Readonly<Record<string, string>>;
};

/** Timeouts and retry limits from the environment. Settings can set the same limits. */
export type RuntimeLimits = {
  readonly streamIdleTimeoutMs?: number | undefined;
  readonly headerTimeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly retryBaseMs?: number | undefined;
  readonly mcpTimeoutMs?: number | undefined;
  readonly mcpCallTimeoutMs?: number | undefined;
  readonly hookTimeoutMs?: number | undefined;
  readonly bashTimeoutMs?: number | undefined;
  readonly bashMaxTimeoutMs?: number | undefined;
};

/** Names of variables that hold secrets of ouro. Child processes never get them. */
export const SECRET_VARIABLES: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
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
  'ANTHROPIC_CUSTOM_HEADERS',
  'OURO_QUEUE',
];

/** Names of the variables with the keys of search providers, withheld from child processes when the provider is set. */
export const SEARCH_KEY_VARIABLES: Readonly<Record<string, string>> = {
  brave: 'BRAVE_API_KEY',
  tavily: 'TAVILY_API_KEY',
  exa: 'EXA_API_KEY',
  searxng: 'SEARXNG_API_KEY',
};
