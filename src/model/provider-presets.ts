/** A built-in provider that serves models over chat completions. */
export type ProviderPreset = {
  /** Display name. */
  readonly label: string;
  readonly baseUrl: string;
  /** Environment variables that may hold the key, the recommended one first; empty for local servers. */
  readonly keyVariables: readonly string[];
  /** The key variables are shared with other programs: not hidden from child processes, not used to list models. */
  readonly sharesKeyVariables?: true;
  /** Pattern that only keys of this provider match. */
  readonly keyPattern?: RegExp;
  readonly reasoning?: ReasoningParameter;
  /** Provider id at models.dev, if it differs. */
  readonly catalogueId?: string;
  readonly defaultModel?: string;
  /** Cheap and fast model without thinking, for titles and other side calls. */
  readonly smallModel?: string;
  /** All its models accept images. */
  readonly vision?: true;
};

/** The request parameter that controls thinking: an effort, an effort in an object, or an on/off switch. */
export type ReasoningParameter = 'reasoning_effort' | 'reasoning.effort' | 'thinking.type';

const EFFORT_PARAMETER = { reasoning: 'reasoning_effort' } as const;
const THINKING_SWITCH = { reasoning: 'thinking.type' } as const;

/** The built-in providers by the prefix of their models: `groq` in `--model groq/…`. */
export const PROVIDER_PRESETS: ReadonlyMap<string, ProviderPreset> = new Map<string, ProviderPreset>([
  [
    'openai',
    {
      smallModel: 'gpt-6-luna',
      defaultModel: 'gpt-6.1-sol',
      label: 'OpenAI',
      baseUrl: 'https://api.openai.com/v1',
      keyVariables: ['OPENAI_API_KEY'],
      keyPattern: /^sk-(?:proj|svcacct|admin)-|T3BlbkFJ/,
      ...EFFORT_PARAMETER,
      vision: true,
    },
  ],
  [
    'gemini',
    {
      catalogueId: 'google',
      smallModel: 'gemini-2.5-flash-lite',
      defaultModel: 'gemini-3.8-flash',
      label: 'Google Gemini',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      keyPattern: /^AIza/,
      ...EFFORT_PARAMETER,
      vision: true,
    },
  ],
  [
    'openrouter',
    {
      defaultModel: 'anthropic/claude-sonnet-5.5',
      label: 'OpenRouter',
      baseUrl: 'https://openrouter.ai/api/v1',
      keyVariables: ['OPENROUTER_API_KEY'],
      keyPattern: /^sk-or-/,
      reasoning: 'reasoning.effort',
    },
  ],
  [
    'groq',
    {
      smallModel: 'llama-3.1-8b-instant',
      defaultModel: 'openai/gpt-oss-120b',
      label: 'Groq',
      baseUrl: 'https://api.groq.com/openai/v1',
      keyVariables: ['GROQ_API_KEY'],
      keyPattern: /^gsk_/,
      ...EFFORT_PARAMETER,
    },
  ],
  [
    'mistral',
    {
      smallModel: 'mistral-small-latest',
      defaultModel: 'mistral-medium-latest',
      label: 'Mistral',
      baseUrl: 'https://api.mistral.ai/v1',
      keyVariables: ['MISTRAL_API_KEY'],
    },
  ],
  [
    'deepseek',
    {
      smallModel: 'deepseek-flash',
      defaultModel: 'deepseek-v4-pro',
      label: 'DeepSeek',
      baseUrl: 'https://api.deepseek.com/v1',
      keyVariables: ['DEEPSEEK_API_KEY'],
      keyPattern: /^sk-[0-9a-f]{32}$/,
      ...THINKING_SWITCH,
    },
  ],
  [
    'xai',
    {
      smallModel: 'grok-4.3',
      defaultModel: 'grok-4.7',
      label: 'xAI',
      baseUrl: 'https://api.x.ai/v1',
      keyVariables: ['XAI_API_KEY'],
      keyPattern: /^xai-/,
      ...EFFORT_PARAMETER,
    },
  ],
  [
    'together',
    {
      catalogueId: 'togetherai',
      defaultModel: 'openai/gpt-oss-120b',
      label: 'Together',
      baseUrl: 'https://api.together.xyz/v1',
      keyVariables: ['TOGETHER_API_KEY'],
      keyPattern: /^tgp_/,
      ...EFFORT_PARAMETER,
    },
  ],
  [
    'fireworks',
    {
      catalogueId: 'fireworks-ai',
      defaultModel: 'accounts/fireworks/models/deepseek-v4p1-flash',
      label: 'Fireworks',
      baseUrl: 'https://api.fireworks.ai/inference/v1',
      keyVariables: ['FIREWORKS_API_KEY'],
      keyPattern: /^fw_/,
      ...EFFORT_PARAMETER,
    },
  ],
  [
    'cerebras',
    {
      defaultModel: 'gpt-oss-120b',
      label: 'Cerebras',
      baseUrl: 'https://api.cerebras.ai/v1',
      keyVariables: ['CEREBRAS_API_KEY'],
      keyPattern: /^csk-/,
      ...EFFORT_PARAMETER,
    },
  ],
  [
    'moonshot',
    {
      catalogueId: 'moonshotai',
      defaultModel: 'kimi-k3',
      label: 'Moonshot',
      baseUrl: 'https://api.moonshot.ai/v1',
      keyVariables: ['MOONSHOT_API_KEY'],
      ...THINKING_SWITCH,
    },
  ],
  [
    'zai',
    {
      smallModel: 'glm-5.3-flash',
      defaultModel: 'glm-5.3',
      label: 'Z.ai',
      baseUrl: 'https://api.z.ai/api/paas/v4',
      keyVariables: ['ZAI_API_KEY'],
      ...THINKING_SWITCH,
    },
  ],
  [
    'huggingface',
    {
      label: 'Hugging Face',
      baseUrl: 'https://router.huggingface.co/v1',
      keyVariables: ['HF_TOKEN'],
      sharesKeyVariables: true,
      ...EFFORT_PARAMETER,
    },
  ],
  [
    'github',
    {
      catalogueId: 'github-models',
      label: 'GitHub Models',
      baseUrl: 'https://models.github.ai/inference',
      keyVariables: ['GITHUB_TOKEN'],
      sharesKeyVariables: true,
      ...EFFORT_PARAMETER,
    },
  ],
  ['ollama', { label: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', keyVariables: [] }],
  ['lmstudio', { label: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', keyVariables: [] }],
  ['llamacpp', { label: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', keyVariables: [] }],
  ['vllm', { label: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', keyVariables: [] }],
  ['litellm', { label: 'LiteLLM', baseUrl: 'http://127.0.0.1:4000/v1', keyVariables: [] }],
]);

/** Returns the API keys found in variables, as `[provider, { apiKey, keySource }]` pairs. */
export function findPresetKeys(variables: Readonly<Record<string, string>>) {
  return [...PROVIDER_PRESETS].flatMap(([name, { keyVariables }]) => {
    const keySource = keyVariables.find((variable) => (variables[variable] ?? '').trim() !== '');
    const apiKey = variables[keySource ?? '']?.trim();
    return keySource === undefined || apiKey === undefined ? [] : [[name, { apiKey, keySource }] as const];
  });
}

type ServerKey = { readonly baseUrl: string; readonly apiKey?: string; readonly fetchKey?: () => Promise<string> };

/** Returns a message if the provider needs an API key and has none, otherwise `undefined`. */
export function explainMissingKey(
  name: string,
  { baseUrl, apiKey, fetchKey }: ServerKey,
  keyStore?: 'none',
): string | undefined {
  const preset = PROVIDER_PRESETS.get(name);
  const [variable] = preset?.keyVariables ?? [];
  const hasKey = apiKey !== undefined || fetchKey !== undefined;
  if (preset === undefined || variable === undefined || hasKey || baseUrl !== preset.baseUrl) return undefined;
  return `${preset.label} needs an API key. Set ${variable}${keyStore === 'none' ? '' : `, or run "ouro login ${name}"`}.`;
}
