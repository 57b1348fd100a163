import type { PanelAct, PanelRow } from '../../contracts/face/panel.ts';
import { EFFORTS, type Effort, type ModelInfo } from '../../contracts/model.ts';
import { formatTokens } from '../../lib/text/format.ts';
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
      const effort = EFFORTS.find((known) => known === words);
      if (effort === undefined) return failed(`There is no effort ${words}. Choose one of ${EFFORTS.join(', ')}.`);
      parts.actions.setEffort(effort);
      return done(`Effort: ${effort}.`);
    },
  },
];

/** Every model of every place that is configured; left and right set the effort. */
async function modelPanel({ core }: ConversationParts) {
  const { model, effort } = core.live.now();
  const offered = await core.model.offered();
  const models = offered.some(({ id }) => id === model) ? offered : [core.model.infoOf(model), ...offered];
  const turn: PanelAct = { kind: 'turn', label: 'effort', line: 'effort', values: EFFORTS, value: effort };
  return asPanel({
    title: 'Model',
    line: 'model',
    note: `effort ${effort}`,
    rows: models.map((info) => modelRow(info, model)),
    empty: 'There is no model to choose.',
    acts: [turn],
  });
}

function modelRow(info: ModelInfo, current: string): PanelRow {
  const { id, label, contextWindow, price, thinking, effort, vision } = info;
  const abilities = [
    effort ? 'thinks as hard as the effort says' : thinking === 'none' ? 'does not think' : 'thinks by budget',
    vision ? 'sees pictures' : 'sees no pictures',
  ];
  return {
    id,
    cells: [
      id,
      label === id ? '' : label,
      `${formatTokens(contextWindow)} window`,
      price === undefined ? 'price unknown' : `$${price.input} in, $${price.output} out`,
    ],
    ...(id === current ? { mark: 'current' as const } : {}),
    detail: [`${abilities.join(', ')}${price === undefined ? '' : '; prices are per million tokens'}`],
    acts: [{ kind: 'run', key: 'enter', label: 'chooses', line: `model ${id}`, closes: true }],
  };
}

const EFFORT_WORDS: Readonly<Record<Effort, string>> = {
  off: 'the model decides, nothing is asked of it',
  low: 'quick answers',
  medium: 'some thought before each step',
  high: 'hard problems',
  max: 'as hard as it can, whatever it costs',
};

function effortPanel({ core }: ConversationParts) {
  const { model, effort } = core.live.now();
  const hears = core.model.infoOf(model).effort;
  return asPanel({
    title: 'Effort',
    line: 'effort',
    ...(hears ? {} : { note: `${model} does not hear this` }),
    rows: EFFORTS.map((one) => ({
      id: one,
      cells: [one, EFFORT_WORDS[one]],
      ...(one === effort ? { mark: 'current' as const } : {}),
      detail: [],
      acts: [{ kind: 'run', key: 'enter', label: 'chooses', line: `effort ${one}`, closes: true }],
    })),
    empty: '',
    acts: [],
  });
}
