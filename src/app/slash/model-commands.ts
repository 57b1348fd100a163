import type { PanelAct, PanelRow } from '../../contracts/face/panel.ts';
import { EFFORTS, type Effort, type ModelInfo } from '../../contracts/model.ts';
import { formatTokens } from '../../lib/text/format.ts';
import type { ClosedPlace, OfferedModel } from '../../model/choose/offered.ts';
import { effortsOf } from '../../model/efforts.ts';
import { asPanel, type BuiltinCommand, done, failed } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

/** Which model answers, and how hard it thinks. */
export const MODEL_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'model',
    description: 'the model for the next turns',
    argumentHint: '[name]',
    async run(args, parts) {
      if (args.trim() === '') return modelPanel(parts);
      const answer = await parts.actions.setModel(args.trim());
      return answer.ok ? done(`From the next turn on: ${parts.core.live.now().model}.`) : failed(answer.why);
    },
  },
  {
    name: 'effort',
    description: 'how hard the model should think',
    argumentHint: EFFORTS.join('|'),
    async run(args, parts) {
      const words = args.trim();
      if (words === '') return effortPanel(parts);
      const info = infoNow(parts);
      const effort = EFFORTS.find((known) => known === words);
      if (effort === undefined)
        return failed(`There is no effort ${words}. Choose one of ${effortsOf(info).join(', ')}.`);
      const answer = parts.actions.setEffort(effort);
      return answer.ok ? done(`Effort: ${named(effort, info)}.`) : failed(answer.why);
    },
  },
];

function infoNow({ core }: ConversationParts): ModelInfo {
  return core.model.infoOf(core.live.now().model);
}

/** What `auto` comes to with this model. */
function named(effort: Effort, { ownEffort }: ModelInfo): string {
  return effort === 'auto' && ownEffort !== undefined ? `auto (${ownEffort}, as the model has it)` : effort;
}

/** Every model of every place that is configured; left and right set the effort of the one in use. */
async function modelPanel(parts: ConversationParts) {
  const { live, model: choice } = parts.core;
  const { model, effort } = live.now();
  const info = infoNow(parts);
  const { models: offered, closed } = await choice.offered();
  const isListed = offered.some(({ info: { id } }) => id === model);
  const current: OfferedModel = { info, place: 'in use', key: '' };
  const turn: PanelAct = { kind: 'turn', label: 'effort', line: 'effort', values: effortsOf(info), value: effort };
  return asPanel({
    title: 'Model',
    line: 'model',
    note: `effort ${named(effort, info)}; prices are for a million tokens`,
    rows: [
      ...(isListed ? offered : [current, ...offered]).map((one) => modelRow(one, model)),
      ...closed.map(closedRow),
    ],
    empty: 'There is no model to choose.',
    acts: [turn],
  });
}

function modelRow({ info, place, key }: OfferedModel, current: string): PanelRow {
  const { id, label, contextWindow, price, vision, knowledge } = info;
  const sees = vision ? 'sees pictures' : 'sees no pictures';
  const known = knowledge === undefined ? '' : `; knows the world until ${knowledge}`;
  return {
    id,
    group: place,
    cells: [
      id,
      label === id ? '' : label,
      `${formatTokens(contextWindow)} window`,
      price === undefined ? 'price unknown' : `$${price.input} in, $${price.output} out`,
    ],
    ...(id === current ? { mark: 'current' as const } : {}),
    detail: [`effort ${effortsOf(info).join(', ')}; ${sees}${known}`, ...(key === '' ? [] : [`key: ${key}`])],
    acts: [{ kind: 'run', key: 'enter', label: 'chooses', line: `model ${id}`, closes: true }],
  };
}

/** A place that could be used: what it lacks is said, and can be given. */
function closedRow({ name, place, keys }: ClosedPlace): PanelRow {
  return {
    id: `${name}/`,
    group: 'Without a key',
    cells: [`${name}/…`, place, `set ${keys[0] ?? 'a key'}`],
    mark: 'off',
    detail: [`Set ${keys.join(' or ')} before you start ouro, or store a key now.`],
    acts: [{ kind: 'run', key: 'enter', label: 'asks for its key', line: `login ${name}`, closes: true }],
  };
}

const EFFORT_WORDS: Readonly<Record<Effort, string>> = {
  auto: 'as the model has it',
  off: 'no thinking',
  low: 'quick answers',
  medium: 'some thought before each step',
  high: 'hard problems',
  xhigh: 'long and hard problems',
  max: 'as hard as it can, whatever it costs',
};

function effortPanel(parts: ConversationParts) {
  const { model, effort } = parts.core.live.now();
  const info = infoNow(parts);
  return asPanel({
    title: 'Effort',
    line: 'effort',
    note: `of ${model}`,
    rows: effortsOf(info).map((one) => ({
      id: one,
      cells: [
        one,
        one === 'auto' && info.ownEffort !== undefined ? `${info.ownEffort}, as the model has it` : EFFORT_WORDS[one],
      ],
      ...(one === effort ? { mark: 'current' as const } : {}),
      detail: [],
      acts: [{ kind: 'run', key: 'enter', label: 'chooses', line: `effort ${one}`, closes: true }],
    })),
    empty: '',
    acts: [],
  });
}
