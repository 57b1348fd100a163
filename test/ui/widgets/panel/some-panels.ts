import type { PanelContent, PanelRow } from '../../../../src/contracts/frontend/command.ts';

/** Models to choose from, the second of them in use. */
export const MODELS: PanelContent = {
  title: 'Model',
  command: 'model',
  note: 'effort low',
  rows: [
    {
      id: 'opus-5',
      cells: ['opus-5', '1M window', '$15 in, $75 out'],
      detail: ['thinks as hard as the effort says'],
      actions: [{ kind: 'run', key: 'enter', label: 'chooses', command: 'model opus-5', closesPanel: true }],
    },
    {
      id: 'sonnet-5',
      cells: ['sonnet-5', '1M window', '$3 in, $15 out'],
      mark: 'current',
      detail: ['thinks as hard as the effort says'],
      actions: [{ kind: 'run', key: 'enter', label: 'chooses', command: 'model sonnet-5', closesPanel: true }],
    },
    {
      id: 'ollama/qwen3',
      cells: ['ollama/qwen3', '32k window', 'price unknown'],
      detail: ['does not think, sees no pictures'],
      actions: [{ kind: 'run', key: 'enter', label: 'chooses', command: 'model ollama/qwen3', closesPanel: true }],
    },
  ],
  empty: 'There is no model to choose.',
  actions: [{ kind: 'turn', label: 'effort', command: 'effort', values: ['off', 'low', 'high'], value: 'low' }],
};

/** Rules with their places, one of them without effect. */
export const RULES: PanelContent = {
  title: 'Permissions',
  command: 'permissions',
  note: 'mode default, workspace /home/me/proj (trusted)',
  rows: [
    {
      id: 'user deny Bash(rm:*)',
      group: 'Rules, the strongest first',
      cells: ['deny', 'Bash(rm:*) (/home/me/.ouro/settings.json:4)'],
      detail: [],
      actions: [
        {
          kind: 'run',
          key: 'ctrl+d',
          label: 'forgets it',
          command: 'permissions forget user Bash(rm:*)',
          confirmLabel: 'forgets deny Bash(rm:*)',
        },
      ],
    },
    {
      id: 'local allow Bosh(x)',
      group: 'Rules, the strongest first',
      cells: ['allow', 'Bosh(x) (.claude/settings.local.json:2)'],
      mark: 'bad',
      detail: ['Bosh(x) can never match: there is no tool Bosh.'],
      actions: [],
    },
    {
      id: 'decision 0',
      group: 'Decided last',
      cells: ['allowed', 'Bash npm test'],
      mark: 'good',
      detail: ['a rule allows it'],
      actions: [],
    },
  ],
  empty: 'No rules, and nothing was decided yet.',
  actions: [
    { kind: 'write', key: 'ctrl+a', label: 'adds a rule', command: 'permissions', initialText: 'allow ' },
    { kind: 'write', key: 'ctrl+t', label: 'tests a command', command: 'permissions test', initialText: '' },
  ],
};

/** Where a window goes, in bars. */
export const WINDOW: PanelContent = {
  title: 'Context',
  command: 'context',
  note: 'sonnet-5: 50k of 200k tokens',
  rows: [
    ['Messages', '40k', 0.2],
    ['Tools', '10k', 0.05],
    ['Free', '150k', 0.75],
  ].map(
    ([name, tokens, share]): PanelRow => ({
      id: String(name),
      group: 'The window',
      cells: [String(name), String(tokens)],
      share: Number(share),
      detail: [],
      actions: [],
    }),
  ),
  empty: '',
  actions: [],
};

/** What is switched on and off. */
export const SWITCHES: PanelContent = {
  title: 'Plugins',
  command: 'plugin',
  empty: '',
  actions: [],
  rows: [
    {
      id: 'one',
      cells: ['one', 'on'],
      detail: [],
      actions: [{ kind: 'run', key: 'enter', label: 'switches it off', command: 'plugin off one' }],
    },
  ],
};
