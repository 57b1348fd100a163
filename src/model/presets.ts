/** A place that serves models over chat completions, known by one name. */
export type Preset = {
  /** What people call it. */
  readonly label: string;
  readonly baseUrl: string;
  /** Variables that may hold its key, the first the one to set; none where it runs on one's own machine. */
  readonly keys: readonly string[];
  /** Its key variables belong to other programs too: they are neither hidden from commands nor used to list models. */
  readonly sharesKeys?: true;
  /** What only its keys look like. */
  readonly keyShape?: RegExp;
  readonly reasoning?: ReasoningWish;
  /** What models.dev calls it, where that is another name. */
  readonly catalogue?: string;
  /** The model to begin with. */
  readonly main?: string;
  /** The model for titles, summaries and the like: cheap, and quick because it need not think. */
  readonly small?: string;
  /** All its models see pictures. */
  readonly vision?: true;
};

/** How a server is asked to think: by a level, by a level in an object, or by a switch. Absent: not at all. */
export type ReasoningWish = 'reasoning_effort' | 'reasoning.effort' | 'thinking.type';

const level = { reasoning: 'reasoning_effort' } as const;
const onOrOff = { reasoning: 'thinking.type' } as const;

/** Every place with a name of its own: `groq/…` in `--model groq/…`. */
export const PRESETS: ReadonlyMap<string, Preset> = new Map<string, Preset>([
  [
    'openai',
    {
      small: 'gpt-6-luna',
      main: 'gpt-6.1-sol',
      label: 'OpenAI',
      baseUrl: 'https://api.openai.com/v1',
      keys: ['OPENAI_API_KEY'],
      keyShape: /^sk-(?:proj|svcacct|admin)-|T3BlbkFJ/,
      ...level,
      vision: true,
    },
  ],
  [
    'gemini',
    {
      catalogue: 'google',
      small: 'gemini-2.5-flash-lite',
      main: 'gemini-3.8-flash',
      label: 'Google Gemini',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      keys: ['GEMINI_API_KEY'],
      keyShape: /^AIza/,
      ...level,
      vision: true,
    },
  ],
  [
    'openrouter',
    {
      main: 'anthropic/claude-sonnet-5.5',
      label: 'OpenRouter',
      baseUrl: 'https://openrouter.ai/api/v1',
      keys: ['OPENROUTER_API_KEY'],
      keyShape: /^sk-or-/,
      reasoning: 'reasoning.effort',
    },
  ],
  [
    'groq',
    {
      small: 'llama-3.1-8b-instant',
      main: 'openai/gpt-oss-120b',
      label: 'Groq',
      baseUrl: 'https://api.groq.com/openai/v1',
      keys: ['GROQ_API_KEY'],
      keyShape: /^gsk_/,
      ...level,
    },
  ],
  [
    'mistral',
    {
      small: 'mistral-small-latest',
      main: 'mistral-medium-latest',
      label: 'Mistral',
      baseUrl: 'https://api.mistral.ai/v1',
      keys: ['MISTRAL_API_KEY'],
    },
  ],
  [
    'deepseek',
    {
      small: 'deepseek-flash',
      main: 'deepseek-v4-pro',
      label: 'DeepSeek',
      baseUrl: 'https://api.deepseek.com/v1',
      keys: ['DEEPSEEK_API_KEY'],
      keyShape: /^sk-[0-9a-f]{32}$/,
      ...onOrOff,
    },
  ],
  [
    'xai',
    {
      small: 'grok-4.3',
      main: 'grok-4.7',
      label: 'xAI',
      baseUrl: 'https://api.x.ai/v1',
      keys: ['XAI_API_KEY'],
      keyShape: /^xai-/,
      ...level,
    },
  ],
  [
    'together',
    {
      catalogue: 'togetherai',
      main: 'openai/gpt-oss-120b',
      label: 'Together',
      baseUrl: 'https://api.together.xyz/v1',
      keys: ['TOGETHER_API_KEY'],
      keyShape: /^tgp_/,
      ...level,
    },
  ],
  [
    'fireworks',
    {
      catalogue: 'fireworks-ai',
      main: 'accounts/fireworks/models/deepseek-v4p1-flash',
      label: 'Fireworks',
      baseUrl: 'https://api.fireworks.ai/inference/v1',
      keys: ['FIREWORKS_API_KEY'],
      keyShape: /^fw_/,
      ...level,
    },
  ],
  [
    'cerebras',
    {
      main: 'gpt-oss-120b',
      label: 'Cerebras',
      baseUrl: 'https://api.cerebras.ai/v1',
      keys: ['CEREBRAS_API_KEY'],
      keyShape: /^csk-/,
      ...level,
    },
  ],
  [
    'moonshot',
    {
      catalogue: 'moonshotai',
      main: 'kimi-k3',
      label: 'Moonshot',
      baseUrl: 'https://api.moonshot.ai/v1',
      keys: ['MOONSHOT_API_KEY'],
      ...onOrOff,
    },
  ],
  [
    'zai',
    {
      small: 'glm-5.3-flash',
      main: 'glm-5.3',
      label: 'Z.ai',
      baseUrl: 'https://api.z.ai/api/paas/v4',
      keys: ['ZAI_API_KEY'],
      ...onOrOff,
    },
  ],
  [
    'huggingface',
    {
      label: 'Hugging Face',
      baseUrl: 'https://router.huggingface.co/v1',
      keys: ['HF_TOKEN'],
      sharesKeys: true,
      ...level,
    },
  ],
  [
    'github',
    {
      catalogue: 'github-models',
      label: 'GitHub Models',
      baseUrl: 'https://models.github.ai/inference',
      keys: ['GITHUB_TOKEN'],
      sharesKeys: true,
      ...level,
    },
  ],
  ['ollama', { label: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', keys: [] }],
  ['lmstudio', { label: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', keys: [] }],
  ['llamacpp', { label: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', keys: [] }],
  ['vllm', { label: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', keys: [] }],
  ['litellm', { label: 'LiteLLM', baseUrl: 'http://127.0.0.1:4000/v1', keys: [] }],
]);

/** The keys that variables hold, by the name of the place. */
export function presetKeys(variables: Readonly<Record<string, string>>) {
  return [...PRESETS].flatMap(([name, { keys }]) => {
    const keySource = keys.find((key) => (variables[key] ?? '').trim() !== '');
    const apiKey = variables[keySource ?? '']?.trim();
    return keySource === undefined || apiKey === undefined ? [] : [[name, { apiKey, keySource }] as const];
  });
}

type Keyed = { readonly baseUrl: string; readonly apiKey?: string; readonly fetchKey?: () => Promise<string> };

/** Said when a place wants a key and there is none; `undefined` where nothing is missing. */
export function missingKey(name: string, { baseUrl, apiKey, fetchKey }: Keyed): string | undefined {
  const preset = PRESETS.get(name);
  const [key] = preset?.keys ?? [];
  const isThere = apiKey !== undefined || fetchKey !== undefined;
  if (preset === undefined || key === undefined || isThere || baseUrl !== preset.baseUrl) return undefined;
  return `${preset.label} needs a key. Set ${key}, or store one with "ouro login ${name}".`;
}
