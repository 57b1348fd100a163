import type { RunOptions } from '../contracts/face/run-options.ts';
import type { ModelInfo } from '../contracts/model.ts';
import type { Settings } from '../contracts/settings.ts';
import type { Preset } from './presets.ts';
import { priceOf } from './pricing.ts';

/** What an alias or a name with surrounding blanks means; a full id is its own answer. */
export function resolveModel(name: string): string {
  // The long window that this ending asks for is the only one that newer models have.
  const wanted = name.trim().replace(/\[1m\]$/i, '');
  const lower = wanted.toLowerCase();
  const alias = ALIASES.get(lower);
  if (alias) return alias;
  // `sonnet-5`, `opus 4.8`: the family's short form.
  const short = `claude-${lower.replaceAll(/[. ]/g, '-')}`;
  return FACTS.some(([id]) => id === short) ? short : wanted;
}

/** Is a model in our own table, by itself or with a date? */
export function isKnownModel(model: string): boolean {
  const id = resolveModel(model);
  return FACTS.some(([known]) => id === known || isDated(id, known));
}

/** The model that plans where another one does the work; nothing where one does both. */
export function plannerOf(name: string | undefined): string | undefined {
  return name
    ?.trim()
    .replace(/\[1m\]$/i, '')
    .toLowerCase() === 'opusplan'
    ? resolveModel('opus')
    : undefined;
}

/** What is known of a model. Dated ids count as the model they date; unknown ones get cautious values. */
export function modelInfo(model: string): ModelInfo {
  const id = resolveModel(model);
  const known = FACTS.find(([known]) => id === known || isDated(id, known));
  const price = priceOf(known?.[0] ?? id);
  const facts = known?.[1] ?? (id.startsWith('claude-') ? UNKNOWN_CLAUDE : UNKNOWN);
  return { id, label: labelOf(id), ...facts, ...(price && { price }) };
}

/** What is assumed of a model behind chat completions: one that is served to many is no small one. */
export function serverModelInfo(model: string, preset: Preset | undefined): ModelInfo {
  const { price: _price, ...info } = modelInfo(model);
  const { keys = [], reasoning, vision = false } = preset ?? {};
  return {
    ...info,
    ...UNKNOWN,
    ...(keys.length > 0 && { contextWindow: 128_000, defaultOutputTokens: 8192, maxOutputTokens: 32_000 }),
    ...(reasoning !== undefined && { thinking: 'adaptive', effort: true, thinkingOff: 'disabled' }),
    ...(reasoning !== undefined && reasoning !== 'thinking.type' && { efforts: UP_TO_HIGH }),
    vision,
  };
}

/** The models worth offering in a menu, best known first. */
export function listModels(): readonly ModelInfo[] {
  return MENU.map(modelInfo);
}

/** A model, then those that go on when it cannot be had: named by flags, otherwise by settings. */
export function modelChain(
  model: string,
  options: Pick<RunOptions, 'fallbackModels'>,
  settings: Pick<Settings, 'fallbackModels'>,
): readonly [string, ...string[]] {
  const fallbacks = options.fallbackModels ?? settings.fallbackModels ?? [];
  return [model, ...new Set(fallbacks.map(resolveModel).filter((name) => name !== model))];
}

/** The model used when nothing else is said. */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';
/** The model for summaries, titles and other side calls. */
export const SMALL_MODEL = 'claude-haiku-5-5';

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['default', DEFAULT_MODEL],
  ['best', 'claude-opus-5-5'],
  ['opus', 'claude-opus-5-5'],
  ['sonnet', DEFAULT_MODEL],
  ['opusplan', DEFAULT_MODEL],
  ['haiku', SMALL_MODEL],
  ['fable', 'claude-fable-5-2'],
]);

const MENU = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-2'] as const;

type Facts = Omit<ModelInfo, 'id' | 'label' | 'price'>;

const UP_TO_HIGH = ['low', 'medium', 'high'] as const;
const UP_TO_MAX = [...UP_TO_HIGH, 'max'] as const;
const WITH_XHIGH = [...UP_TO_HIGH, 'xhigh', 'max'] as const;

/** What is thought counts as written, so no less is asked for than the model allows. */
const ADAPTIVE: Facts = {
  contextWindow: 1_000_000,
  clearsResultsAt: 670_000,
  defaultOutputTokens: 128_000,
  maxOutputTokens: 128_000,
  thinking: 'adaptive',
  effort: true,
  efforts: WITH_XHIGH,
  ownEffort: 'high',
  thinkingOff: 'silence',
  vision: true,
  promptCache: true,
  webSearch: true,
};

/** Thinking is on whatever is said, and a forced call is refused beside it. */
const ADAPTIVE_ONLY: Facts = { ...ADAPTIVE, thinkingOff: 'never', refusesForcedTool: true };
/** The same, but it can be switched off. */
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

/** The built-in script: it reads no pictures and costs nothing. */
const DEMO: Facts = {
  contextWindow: 200_000,
  defaultOutputTokens: 8192,
  maxOutputTokens: 8192,
  thinking: 'adaptive',
  effort: true,
  efforts: WITH_XHIGH,
  ownEffort: 'high',
  thinkingOff: 'silence',
  vision: false,
  promptCache: false,
  webSearch: false,
};

const FACTS: readonly (readonly [string, Facts])[] = [
  ['claude-fable-5-2', ADAPTIVE_ONLY],
  ['claude-fable-5-1', ADAPTIVE_ONLY],
  ['claude-fable-5', ADAPTIVE_ONLY],
  ['claude-mythos-5-2', ADAPTIVE_ONLY],
  ['claude-mythos-5-1', ADAPTIVE_ONLY],
  ['claude-mythos-5', ADAPTIVE_ONLY],
  ['claude-opus-5-5', { ...ADAPTIVE_ONLY, ownEffort: 'medium' }],
  ['claude-opus-5', ADAPTIVE_ON],
  ['claude-opus-4-8', ADAPTIVE],
  ['claude-opus-4-7', ADAPTIVE],
  ['claude-opus-4-6', { ...ADAPTIVE, efforts: UP_TO_MAX }],
  ['claude-opus-4-5', { ...BUDGETED, effort: true, efforts: UP_TO_HIGH, ownEffort: 'high' }],
  // It refuses a request whose answer might not fit.
  ['claude-opus-4-1', { ...BUDGETED, defaultOutputTokens: 16_000, maxOutputTokens: 32_000 }],
  ['claude-sonnet-5-5', { ...ADAPTIVE_ONLY, thinkingOff: 'between_tools' }],
  ['claude-sonnet-5', ADAPTIVE_ON],
  ['claude-sonnet-4-6', { ...ADAPTIVE, defaultOutputTokens: 64_000, maxOutputTokens: 64_000, efforts: UP_TO_MAX }],
  ['claude-sonnet-4-5', BUDGETED],
  ['claude-haiku-5-5', { ...ADAPTIVE_ON, ownEffort: 'medium' }],
  ['claude-haiku-4-5', BUDGETED],
  ['demo', DEMO],
];

const UNKNOWN_CLAUDE: Facts = {
  contextWindow: 200_000,
  defaultOutputTokens: 8192,
  maxOutputTokens: 64_000,
  thinking: 'none',
  effort: false,
  efforts: [],
  thinkingOff: 'silence',
  vision: true,
  promptCache: true,
  webSearch: false,
};

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

function isDated(id: string, known: string): boolean {
  return id.startsWith(`${known}-`) && /^\d{8}$/.test(id.slice(known.length + 1));
}

/** `claude-haiku-4-5-20251001` → `haiku 4.5`; other names stay as they are. */
function labelOf(id: string): string {
  if (id === 'demo') return 'demo (scripted)';
  const parts = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?$/.exec(id);
  if (!parts) return id;
  return parts[3] === undefined ? `${parts[1]} ${parts[2]}` : `${parts[1]} ${parts[2]}.${parts[3]}`;
}
