import type { PanelAction, PanelRow } from '../../contracts/frontend/command.ts';
import { EFFORTS, type Effort, type ModelInfo } from '../../contracts/model.ts';
import { formatTokens } from '../../lib/text/format.ts';
import { listEfforts } from '../../model/efforts.ts';
import { PROVIDER_PRESETS } from '../../model/provider-presets.ts';
import type { AvailableModel, UnconfiguredProvider } from '../../model/registry/available-models.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import type { Core } from '../core.ts';
import { findProviderByName, removeProviderKey, saveProviderKey } from '../setup/provider-keys.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createPanelOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

/** Commands for the model and its effort. */
export const MODEL_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'model',
    description: 'select the model',
    argumentHint: '[name]',
    async run(args, parts) {
      if (args.trim() === '') return createModelPanel(parts);
      const answer = await parts.actions.setModel(args.trim());
      if (!answer.ok) return createErrorOutcome(answer.problem);
      const consequence = answer.resend === undefined ? ' from the next turn on' : `; the next turn ${answer.resend}`;
      return createSuccessOutcome(`Model set to ${answer.model}${consequence}.`);
    },
  },
  {
    name: 'effort',
    description: 'set the thinking effort',
    argumentHint: EFFORTS.join('|'),
    async run(args, parts) {
      const level = args.trim();
      if (level === '') return createEffortPanel(parts);
      const info = getCurrentModelInfo(parts);
      const effort = EFFORTS.find((known) => known === level);
      if (effort === undefined)
        return createErrorOutcome(`Unknown effort ${level}. Choose one of ${listEfforts(info).join(', ')}.`);
      const answer = parts.actions.setEffort(effort);
      if (!answer.ok) return createErrorOutcome(answer.problem);
      const consequence = answer.resend === undefined ? '' : `; the next turn ${answer.resend}`;
      return createSuccessOutcome(`Effort set to ${formatEffort(effort, info)}${consequence}.`);
    },
  },
];

function getCurrentModelInfo({ core }: ConversationParts): ModelInfo {
  return core.model.infoOf(core.live.current().model);
}

/** Formats an effort; for `auto` with the default of the model. */
function formatEffort(effort: Effort, { defaultEffort }: ModelInfo): string {
  return effort === 'auto' && defaultEffort !== undefined
    ? `auto (${defaultEffort}, the default of the model)`
    : effort;
}

/** Creates the list of models of all configured providers. Left and right set the effort of the current model. */
async function createModelPanel(parts: ConversationParts) {
  const { live, model: choice } = parts.core;
  const { model, effort } = live.current();
  const info = getCurrentModelInfo(parts);
  const { models: offered, unconfigured } = await choice.listAvailable();
  const isListed = offered.some(({ info: { id } }) => id === model);
  const current: AvailableModel = { info, provider: 'current', keySource: '' };
  const turn: PanelAction = {
    kind: 'turn',
    label: 'effort',
    command: 'effort',
    values: listEfforts(info),
    value: effort,
  };
  return createPanelOutcome({
    title: 'Model',
    command: 'model',
    note: `effort ${formatEffort(effort, info)}; prices per million tokens`,
    rows: [
      ...(isListed ? offered : [current, ...offered]).map((offer) => createModelRow(offer, model)),
      ...unconfigured.map(createClosedRow),
    ],
    empty: 'No models available.',
    actions: [turn],
  });
}

function createModelRow({ info, provider, keySource }: AvailableModel, current: string): PanelRow {
  const { id, label, contextWindow, price, vision, knowledge } = info;
  const imageSupport = vision ? 'supports images' : 'no image support';
  const cutoff = knowledge === undefined ? '' : `; knowledge cutoff ${knowledge}`;
  return {
    id,
    group: provider,
    cells: [
      id,
      label === id ? '' : label,
      `${formatTokens(contextWindow)} window`,
      price === undefined ? 'price unknown' : `$${price.input} in, $${price.output} out`,
    ],
    ...(id === current ? { mark: 'current' as const } : {}),
    detail: [
      `effort ${listEfforts(info).join(', ')}; ${imageSupport}${cutoff}`,
      ...(keySource === '' ? [] : [`key: ${keySource}`]),
    ],
    actions: [{ kind: 'run', key: 'enter', label: 'selects it', command: `model ${id}`, closesPanel: true }],
  };
}

/** Creates the row of a provider without a key; its action asks for the key. */
function createClosedRow({ name, place, keys }: UnconfiguredProvider): PanelRow {
  return {
    id: `${name}/`,
    group: 'Without a key',
    cells: [`${name}/…`, place, `set ${keys[0] ?? 'a key'}`],
    mark: 'off',
    detail: [`Set ${keys.join(' or ')} before you start ouro, or store a key now.`],
    actions: [{ kind: 'run', key: 'enter', label: 'stores a key', command: `login ${name}`, closesPanel: true }],
  };
}

const EFFORT_DESCRIPTIONS: Readonly<Record<Effort, string>> = {
  auto: 'the default of the model',
  off: 'no thinking',
  low: 'quick answers',
  medium: 'some thinking before each step',
  high: 'hard problems',
  xhigh: 'long and hard problems',
  max: 'maximum effort at any cost',
};

function createEffortPanel(parts: ConversationParts) {
  const { model, effort } = parts.core.live.current();
  const info = getCurrentModelInfo(parts);
  return createPanelOutcome({
    title: 'Effort',
    command: 'effort',
    note: `for ${model}`,
    rows: listEfforts(info).map(
      (level): PanelRow => ({
        id: level,
        cells: [
          level,
          level === 'auto' && info.defaultEffort !== undefined
            ? `${info.defaultEffort}, the default of the model`
            : EFFORT_DESCRIPTIONS[level],
        ],
        ...(level === effort ? { mark: 'current' as const } : {}),
        detail: [],
        actions: [{ kind: 'run', key: 'enter', label: 'selects it', command: `effort ${level}`, closesPanel: true }],
      }),
    ),
    empty: '',
    actions: [],
  });
}

/** Commands for the API keys of providers. */
export const LOGIN_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'login',
    description: 'store the API key of a provider',
    argumentHint: '[provider]',
    screenOnly: true,
    async run(args, { core }) {
      const answer = await findProviderByName(args.trim() || 'anthropic', core);
      return answer.ok
        ? { kind: 'open', view: 'login', argument: answer.provider.name }
        : createErrorOutcome(answer.problem);
    },
  },
  {
    name: 'logout',
    description: 'delete a stored API key',
    argumentHint: '[provider]',
    async run(args, { core }) {
      const name = args.trim() || 'anthropic';
      const answer = await findProviderByName(name, core);
      const { ok, message } = await removeProviderKey(
        answer.ok ? answer.provider : { name, label: name },
        core.environment,
      );
      return ok ? createSuccessOutcome(`${message} This session continues to use it.`) : createErrorOutcome(message);
    },
  },
];

/** Stores the key of a provider and uses it in this session. */
export async function saveAndUseProviderKey(
  core: Core,
  provider: string,
  key: string,
): Promise<{ readonly ok: boolean; readonly message: string }> {
  const answer = await findProviderByName(provider, core);
  if (!answer.ok) return { ok: false, message: answer.problem };
  const { name } = answer.provider;
  const stored = await saveProviderKey(answer.provider, key, core.environment);
  if (!stored.ok) return stored;
  core.model.setApiKey(name, key.trim());
  core.knownKeys.add(name, key);
  const main = PROVIDER_PRESETS.get(name)?.defaultModel;
  return main === undefined ? stored : { ok: true, message: `${stored.message} Use it with /model ${name}/${main}.` };
}
