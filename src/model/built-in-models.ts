import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { ModelInfo } from '../contracts/model.ts';
import type { Settings } from '../contracts/settings.ts';
import { memoizeByKey } from '../lib/memoize.ts';
import { findModelPrice } from './pricing.ts';
import type { ProviderPreset } from './provider-presets.ts';

/** Resolves an alias (`opus`, `sonnet 4.6`) to a model id; any other name is returned trimmed. */
export function resolveModel(name: string): string {
  // `[1m]` used to select the long context window; newer models have no other.
  const trimmed = name.trim().replace(/\[1m\]$/i, '');
  const lower = trimmed.toLowerCase();
  const alias = ALIASES.get(lower);
  if (alias) return alias;
  // Short forms without the prefix: `sonnet-5`, `opus 4.8`.
  const short = `claude-${lower.replaceAll(/[. ]/g, '-')}`;
  return FACTS.has(short) ? short : trimmed;
}

/** Returns true if the model, with or without a date suffix, is in the built-in table. */
export function isBuiltInModel(model: string): boolean {
  return findKnownId(resolveModel(model)) !== undefined;
}

/** Returns the model for plan mode when `opusplan` is chosen, otherwise `undefined`. */
export function getPlanModeModel(name: string | undefined): string | undefined {
  return name
    ?.trim()
    .replace(/\[1m\]$/i, '')
    .toLowerCase() === 'opusplan'
    ? resolveModel('opus')
    : undefined;
}

/** Returns the built-in facts about a model. A date suffix is ignored; unknown models get conservative values. */
export const getModelInfo = memoizeByKey((model: string): ModelInfo => {
  const id = resolveModel(model);
  const known = findKnownId(id) ?? id;
  const price = findModelPrice(known);
  const facts = FACTS.get(known) ?? (id.startsWith('claude-') ? UNKNOWN_CLAUDE : UNKNOWN);
  return { id, label: formatLabel(id), ...facts, ...(price && { price }) };
});

/** Returns defaults for a model of a chat completions server. Hosted providers (with key variables) get larger limits. */
export function getServerModelDefaults(model: string, preset: ProviderPreset | undefined): ModelInfo {
  const { price: _price, ...info } = getModelInfo(model);
  const { keyVariables = [], reasoning, vision = false } = preset ?? {};
  return {
    ...info,
    ...UNKNOWN,
    ...(keyVariables.length > 0 && { contextWindow: 128_000, defaultOutputTokens: 8192, maxOutputTokens: 32_000 }),
    ...(reasoning !== undefined && { thinking: 'adaptive', effort: true, thinkingOff: 'disabled' }),
    ...(reasoning !== undefined && reasoning !== 'thinking.type' && { efforts: UP_TO_HIGH }),
    vision,
  };
}

/** Lists the models offered in menus, most capable first. */
export function listModels(): readonly ModelInfo[] {
  return MENU.map(getModelInfo);
}

/** Returns the model followed by its fallbacks, which come from the flags or else from the settings. */
export function buildModelChain(
  model: string,
  options: CliRunOptions,
  settings: Settings,
): readonly [string, ...string[]] {
  const fallbacks = options.fallbackModels ?? settings.fallbackModels ?? [];
  return [model, ...new Set(fallbacks.map(resolveModel).filter((name) => name !== model))];
}

/** The model used unless another is configured. */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';
/** The model for summaries, titles and other side calls. */
export const DEFAULT_SMALL_MODEL = 'claude-haiku-5-5';

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['default', DEFAULT_MODEL],
  ['best', 'claude-opus-5-5'],
  ['opus', 'claude-opus-5-5'],
  ['sonnet', DEFAULT_MODEL],
  ['opusplan', DEFAULT_MODEL],
  ['haiku', DEFAULT_SMALL_MODEL],
  ['fable', 'claude-fable-5-2'],
]);

const MENU = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-2'] as const;

type Facts = Omit<ModelInfo, 'id' | 'label' | 'price'>;

const UP_TO_HIGH = ['low', 'medium', 'high'] as const;
const UP_TO_MAX = [...UP_TO_HIGH, 'max'] as const;
const WITH_XHIGH = [...UP_TO_HIGH, 'xhigh', 'max'] as const;

/** Models with adaptive thinking. Thinking counts as output, so requests ask for the full output limit. */
const ADAPTIVE: Facts = {
  contextWindow: 1_000_000,
  clearsResultsAt: 670_000,
  defaultOutputTokens: 128_000,
  maxOutputTokens: 128_000,
  thinking: 'adaptive',
  effort: true,
  efforts: WITH_XHIGH,
  defaultEffort: 'high',
  thinkingOff: 'silence',
  vision: true,
  promptCache: true,
  webSearch: true,
};

/** Thinking cannot be disabled, and a forced tool call is rejected because of it. */
const ADAPTIVE_ONLY: Facts = { ...ADAPTIVE, thinkingOff: 'never', refusesForcedTool: true };
/** Thinking is on by default but can be disabled. */
const ADAPTIVE_ON: Facts = { ...ADAPTIVE_ONLY, thinkingOff: 'disabled' };

const BUDGETED: Facts = {
  contextWindow: 200_000,
  clearsResultsAt: 115_000,
  defaultOutputTokens: 64_000,
  maxOutputTokens: 64_000,
  thinking: 'budget',
  effort: false,
  efforts: UP_TO_MAX,
  thinkingOff: 'silence',
  vision: true,
  promptCache: true,
  webSearch: true,
};

/** The scripted demo model: no images, no cost. */
const DEMO: Facts = {
  contextWindow: 200_000,
  defaultOutputTokens: 8192,
  maxOutputTokens: 8192,
  thinking: 'adaptive',
  effort: true,
  efforts: WITH_XHIGH,
  defaultEffort: 'high',
  thinkingOff: 'silence',
  vision: false,
  promptCache: false,
  webSearch: false,
};

const FACTS: ReadonlyMap<string, Facts> = new Map<string, Facts>([
  ['claude-fable-5-2', ADAPTIVE_ONLY],
  ['claude-fable-5-1', ADAPTIVE_ONLY],
  ['claude-fable-5', ADAPTIVE_ONLY],
  ['claude-mythos-5-2', ADAPTIVE_ONLY],
  ['claude-mythos-5-1', ADAPTIVE_ONLY],
  ['claude-mythos-5', ADAPTIVE_ONLY],
  ['claude-opus-5-5', { ...ADAPTIVE_ONLY, defaultEffort: 'medium' }],
  ['claude-opus-5', ADAPTIVE_ON],
  ['claude-opus-4-8', ADAPTIVE],
  ['claude-opus-4-7', ADAPTIVE],
  ['claude-opus-4-6', { ...ADAPTIVE, efforts: UP_TO_MAX }],
  ['claude-opus-4-5', { ...BUDGETED, effort: true, efforts: UP_TO_HIGH, defaultEffort: 'high' }],
  // Rejects requests whose `max_tokens` plus prompt may exceed the window, so the default stays low.
  ['claude-opus-4-1', { ...BUDGETED, defaultOutputTokens: 16_000, maxOutputTokens: 32_000 }],
  ['claude-sonnet-5-5', { ...ADAPTIVE_ONLY, thinkingOff: 'between_tools' }],
  ['claude-sonnet-5', ADAPTIVE_ON],
  ['claude-sonnet-4-6', { ...ADAPTIVE, defaultOutputTokens: 64_000, maxOutputTokens: 64_000, efforts: UP_TO_MAX }],
  ['claude-sonnet-4-5', BUDGETED],
  ['claude-haiku-5-5', { ...ADAPTIVE_ON, defaultEffort: 'medium' }],
  ['claude-haiku-4-5', BUDGETED],
  ['demo', DEMO],
]);

const UNKNOWN: Facts = {
  contextWindow: 32_000,
  defaultOutputTokens: 4096,
  maxOutputTokens: 8192,
  thinking: 'none',
  effort: false,
  efforts: [],
  thinkingOff: 'silence',
  vision: false,
  promptCache: false,
  webSearch: false,
};

const UNKNOWN_CLAUDE: Facts = {
  ...UNKNOWN,
  contextWindow: 200_000,
  defaultOutputTokens: 8192,
  maxOutputTokens: 64_000,
  vision: true,
  promptCache: true,
};

/** Returns the id in the table, without a date suffix. */
function findKnownId(id: string): string | undefined {
  return [id, id.replace(/-\d{8}$/, '')].find((known) => FACTS.has(known));
}

/** Shortens `claude-haiku-4-5-20251001` to `haiku 4.5`; other names are returned unchanged. */
function formatLabel(id: string): string {
  if (id === 'demo') return 'demo (scripted)';
  const parts = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?$/.exec(id);
  if (!parts) return id;
  return parts[3] === undefined ? `${parts[1]} ${parts[2]}` : `${parts[1]} ${parts[2]}.${parts[3]}`;
}
