import type { Panel } from '../../../src/contracts/face/panel.ts';

/** Models to choose from, the second of them in use. */
export const MODELS: Panel = {
  title: 'Model',
  line: 'model',
  note: 'effort low',
  rows: [
    {
      id: 'opus-5',
      cells: ['opus-5', '1M window', '$15 in, $75 out'],
      detail: ['thinks as hard as the effort says'],
      acts: [{ kind: 'run', key: 'enter', label: 'chooses', line: 'model opus-5', closes: true }],
    },
    {
      id: 'sonnet-5',
      cells: ['sonnet-5', '1M window', '$3 in, $15 out'],
      mark: 'current',
      detail: ['thinks as hard as the effort says'],
      acts: [{ kind: 'run', key: 'enter', label: 'chooses', line: 'model sonnet-5', closes: true }],
    },
    {
      id: 'ollama/qwen3',
      cells: ['ollama/qwen3', '32k window', 'price unknown'],
      detail: ['does not think, sees no pictures'],
      acts: [{ kind: 'run', key: 'enter', label: 'chooses', line: 'model ollama/qwen3', closes: true }],
    },
  ],
  empty: 'There is no model to choose.',
  acts: [{ kind: 'turn', label: 'effort', line: 'effort', values: ['off', 'low', 'high'], value: 'low' }],
};

/** Rules with their places, one of them without effect. */
export const RULES: Panel = {
  title: 'Permissions',
  line: 'permissions',
  note: 'mode default, workspace /home/me/proj (trusted)',
  rows: [
    {
      id: 'user deny Bash(rm:*)',
      group: 'Rules, the strongest first',
      cells: ['deny', 'Bash(rm:*) (/home/me/.ouro/settings.json:4)'],
      detail: [],
      acts: [
        {
          kind: 'run',
          key: 'ctrl+d',
          label: 'forgets it',
          line: 'permissions forget user Bash(rm:*)',
          sure: 'forgets deny Bash(rm:*)',
        },
      ],
    },
    {
      id: 'local allow Bosh(x)',
      group: 'Rules, the strongest first',
      cells: ['allow', 'Bosh(x) (.claude/settings.local.json:2)'],
      mark: 'bad',
      detail: ['Bosh(x) can never match: there is no tool Bosh.'],
      acts: [],
    },
    {
      id: 'decision 0',
      group: 'Decided last',
      cells: ['allowed', 'Bash npm test'],
      mark: 'good',
      detail: ['a rule allows it'],
      acts: [],
    },
  ],
  empty: 'No rules, and nothing was decided yet.',
  acts: [
    { kind: 'write', key: 'ctrl+a', label: 'adds a rule', line: 'permissions', words: 'allow ' },
    { kind: 'write', key: 'ctrl+t', label: 'tests a command', line: 'permissions test', words: '' },
  ],
};

/** Where a window goes, in bars. */
export const WINDOW: Panel = {
  title: 'Context',
  line: 'context',
  note: 'sonnet-5: 50k of 200k tokens',
  rows: [
    ['Messages', '40k', 0.2],
    ['Tools', '10k', 0.05],
    ['Free', '150k', 0.75],
  ].map(([name, tokens, share]) => ({
    id: String(name),
    group: 'The window',
    cells: [String(name), String(tokens)],
    share: Number(share),
    detail: [],
    acts: [],
  })),
  empty: '',
  acts: [],
};

/** What is switched on and off. */
export const SWITCHES: Panel = {
  title: 'Plugins',
  line: 'plugin',
  empty: '',
  acts: [],
  rows: [
    {
      id: 'one',
      cells: ['one', 'on'],
      detail: [],
      acts: [{ kind: 'run', key: 'enter', label: 'switches it off', line: 'plugin off one' }],
    },
  ],
};
