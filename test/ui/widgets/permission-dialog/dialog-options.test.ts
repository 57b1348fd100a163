import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallRisk, PermissionRequest, ToolFacts } from '../../../../src/contracts/permission.ts';
import type { UserQuestion } from '../../../../src/contracts/tool.ts';
import {
  createDialogOptions,
  filterOptionsInList,
  findDialogOption,
  getInitialSelection,
} from '../../../../src/ui/widgets/permission-dialog/dialog-options.ts';
import {
  createOpenDialogState,
  type DialogOption,
  type DialogRequest,
} from '../../../../src/ui/widgets/permission-dialog/dialog-state.ts';

import { createPermissionBody } from '../../../../src/ui/widgets/permission-dialog/permission-body.ts';
import { runs } from '../../../support/runs.ts';
import { DRAWING } from '../screen/render-part.tsx';

const REQUEST: PermissionRequest = {
  id: 'q',
  callId: 'c',
  toolName: 'Tool',
  title: 'title',
  facts: { tool: 'Bash', kind: 'shell', command: 'npm run build', input: {} },
  reasons: [],
  targets: [],
  suggestions: [],
  trace: [],
  danger: 'none',
  concealed: 'none',
};
const { form } = createOpenDialogState(0);

const ask = (request: Partial<PermissionRequest>): DialogRequest => ({
  kind: 'permission',
  id: 'q',
  permission: { ...REQUEST, ...request },
});
const askUser = (question: UserQuestion): DialogRequest => ({ kind: 'question', id: 'q', callId: 'c', question });
const optionsOf = (request: DialogRequest) => createDialogOptions(request, form);
const listOf = (request: DialogRequest) =>
  filterOptionsInList(optionsOf(request)).map(({ digit, key, label, subject, labelEnd, note }) =>
    [digit, key, label, subject, labelEnd, note].filter((part) => part !== undefined).join(' '),
  );

const YES = '1 y Yes';
const NO = '3 n No, and say what to do instead';
const BUILD = { rule: 'Bash(npm run build:*)', covers: 'it' };
const MCP: ToolFacts = { tool: 'mcp__everything__echo', kind: 'mcp', input: {} };
const EDIT: ToolFacts = { tool: 'Edit', kind: 'edit', writes: ['/p/a.ts'], input: {} };

const APPROVAL: UserQuestion = {
  kind: 'questions',
  questions: [
    {
      question: 'Allow it?',
      multiSelect: false,
      options: [
        { label: 'No', grade: 'no' },
        { label: 'Yes' },
        { label: "Yes, and don't ask again", description: 'The next 50', grade: 'always' },
      ],
    },
  ],
};
const elicit = (wants: Extract<UserQuestion, { kind: 'elicitation' }>['wants']): UserQuestion => ({
  kind: 'elicitation',
  server: 's',
  message: 'm',
  wants,
});
const FIELD = { type: 'boolean', title: 'Gift wrap', default: false } as const;

test.each<[string, DialogRequest, readonly string[]]>([
  [
    'a command that may run in the sandbox',
    ask({ suggestions: [BUILD], canSandbox: true }),
    [
      YES,
      "2 a Yes, and don't ask again for npm run build * in this project",
      NO,
      '4 w Yes, and let commands write in this project this session (in a sandbox)',
    ],
  ],
  [
    'a command with a rule',
    ask({ suggestions: [BUILD], exact: { rule: 'Bash(npm run build)', keep: 'always' } }),
    [YES, "2 a Yes, and don't ask again for npm run build * in this project", NO],
  ],
  [
    'a command of which a part keeps asking',
    ask({ suggestions: [{ ...BUILD, uncovered: ['rm', 'git'] }] }),
    [YES, "2 a Yes, and don't ask again for npm run build * in this project (rm and git still ask)", NO],
  ],
  [
    'a command without a wider rule',
    ask({ exact: { rule: 'Bash(node x.js)', keep: 'always' }, narrow: 'node can run anything' }),
    [
      YES,
      "2 a Yes, and don't ask again for this exact command in this project (others still ask: node can run anything)",
      NO,
    ],
  ],
  [
    'a command that deletes',
    ask({ exact: { rule: 'Bash(rm x)', keep: 'session' }, canRemember: 'session', narrow: 'rm deletes' }),
    [YES, NO],
  ],
  ['a circuit breaker', ask({ danger: 'breaker', suggestions: [BUILD] }), [YES, NO]],
  [
    'an edit',
    ask({ facts: EDIT, suggestions: [{ rule: 'Edit(//p/a.ts)', covers: 'it' }] }),
    [YES, "2 a Yes, and don't ask again for edits in this session", NO],
  ],
  [
    'an edit outside of the project',
    ask({
      facts: EDIT,
      trace: [{ stage: 'default', reason: { code: 'outside_workspace', path: '/etc/hosts' }, text: 'It is outside.' }],
      suggestions: [{ rule: 'Edit(//etc/hosts)', covers: 'it', access: { use: 'write', path: '/etc/hosts' } }],
    }),
    [YES, "2 a Yes, and don't ask again for changing /etc/hosts in this session", NO],
  ],
  [
    'a file to read',
    ask({
      facts: { tool: 'Read', kind: 'read', reads: ['/etc/hosts'], input: {} },
      suggestions: [{ rule: 'Read(//etc/hosts)', covers: 'it', access: { use: 'read', path: '/etc/hosts' } }],
    }),
    [YES, "2 a Yes, and don't ask again for reading /etc/hosts in this project", NO],
  ],
  [
    'a page',
    ask({
      facts: { tool: 'WebFetch', kind: 'fetch', url: 'https://example.com', input: {} },
      suggestions: [{ rule: 'WebFetch(domain:example.com)', covers: 'it' }],
    }),
    [YES, "2 a Yes, and don't ask again for example.com in this project", NO],
  ],
  [
    'a tool of a server',
    ask({ facts: MCP, suggestions: [{ rule: 'mcp__everything__echo', covers: 'it' }] }),
    [YES, "2 a Yes, and don't ask again for echo in this project", NO],
  ],
  [
    'a plan',
    askUser({ kind: 'plan', plan: 'Do it.' }),
    [
      '1 y Yes, and ask before edits',
      "2 a Yes, and don't ask again for edits in this session",
      '3 n No, keep planning, and say what to change',
    ],
  ],
  [
    'a request of a server to the model',
    askUser(APPROVAL),
    ['1 y Yes', "2 a Yes, and don't ask again The next 50", '3 n No'],
  ],
  [
    'a URL that a server opens',
    askUser({
      kind: 'elicitation',
      server: 's',
      message: 'm',
      wants: { mode: 'url', url: 'https://example.com', id: 'e' },
    }),
    ['1 y Yes, I will open this URL', '3 n No'],
  ],
])('%s is answered in the same order as everything else', (_, request, list) => {
  expect(listOf(request)).toEqual(list);
});

test.each<[string, UserQuestion, string | undefined]>([
  ['a plan is accepted so that edits still ask', { kind: 'plan', plan: 'Do it.' }, 'Yes, and ask before edits'],
  ['no answer to a yes or no question', APPROVAL, undefined],
  ['no answer to a URL', elicit({ mode: 'url', url: 'https://example.com', id: 'e' }), undefined],
  ['the default of a field', elicit({ mode: 'form', schema: { properties: { gift: FIELD } } }), 'No'],
])('what enter would answer: %s', (_, question, label) => {
  const selected = getInitialSelection(askUser(question), form);
  const options = filterOptionsInList(optionsOf(askUser(question)));
  expect(selected === undefined ? undefined : options[selected]?.label).toBe(label);
});

test('other choices are letters in the line below', () => {
  const facts = MCP;
  const suggestions = [{ rule: 'mcp__everything__echo', covers: 'it' }];
  const footer = optionsOf(ask({ facts, suggestions })).filter(({ position }) => position === 'footer');
  expect(footer.map(({ key, label }) => `${key} ${label}`)).toEqual([
    's this session only',
    'A any tool of everything',
    'r write a rule',
    'v show all',
    'd why it asks',
  ]);
});

const KINDS = ['reads_secret', 'deletes', 'discards', 'publishes', 'sends', 'runs_download'] as const;
const risk: fc.Arbitrary<CallRisk> = fc.record({
  kind: fc.constantFrom<CallRisk['kind']>(...KINDS, 'runs_project', 'network'),
  text: fc.constantFrom('deletes build', 'reads a file', 'sends data', 'publishes a package'),
  targets: fc.array(fc.constantFrom('id_rsa', '.env', 'evil.example', 'build', 'main'), { minLength: 1, maxLength: 3 }),
});
const request: fc.Arbitrary<Partial<PermissionRequest>> = fc.record({
  facts: fc.constantFrom<ToolFacts>(REQUEST.facts, EDIT, MCP),
  risks: fc.array(risk, { maxLength: 3 }),
  danger: fc.constantFrom('none', 'breaker'),
  concealed: fc.constantFrom('none', 'hidden_characters', 'lookalike_letters'),
  canRemember: fc.constantFrom('never', 'session', 'always'),
  suggestions: fc.constantFrom([], [BUILD], [{ ...BUILD, uncovered: ['rm'] }]),
  exact: fc.constantFrom({ rule: 'Bash(x)', keep: 'session' }, { rule: 'Bash(x)', keep: 'always' }),
});

const remembersBeyondSession = ({ action }: DialogOption) =>
  action.type === 'answer_permission' &&
  action.answer.behavior === 'allow' &&
  action.answer.remember !== undefined &&
  action.answer.remember.destination !== 'session';

test('digits and letters mean the same in every dialog, and nothing is remembered beyond the request', () => {
  fc.assert(
    fc.property(request, (asked) => {
      const options = optionsOf(ask(asked));
      const answerOf = (chord: string) => findDialogOption(options, chord)?.action;
      expect(answerOf('1')).toEqual({ type: 'answer_permission', answer: { behavior: 'allow' } });
      expect(answerOf('y')).toEqual(answerOf('1'));
      expect(answerOf('3')).toEqual({ type: 'write', purpose: 'reason', initialText: '' });
      expect(answerOf('n')).toEqual(answerOf('3'));
      expect(answerOf('a')).toEqual(answerOf('2'));
      for (const digit of ['4', '5', '6', '7', '8', '9']) expect(answerOf(digit)).toBeUndefined();
      const stored = options.filter(remembersBeyondSession);
      if (asked.danger === 'breaker' || asked.canRemember === 'never') {
        expect(options.filter(({ key }) => ['a', 's', 'p', 'A', 'r'].includes(key))).toEqual([]);
      }
      // For a call that is kept for the session, only rules for its other parts may be stored.
      if (asked.canRemember === 'session' && asked.suggestions?.length === 0 && asked.exact?.keep === 'session') {
        expect(stored).toEqual([]);
      }
    }),
    runs(200),
  );
});

test('nothing is preselected where approval could do harm, and the first line names the target', () => {
  fc.assert(
    fc.property(request, (asked) => {
      const grave = (asked.risks ?? []).filter(({ kind }) => KINDS.some((one) => one === kind));
      const isHarmful = grave.length > 0 || asked.danger === 'breaker' || asked.concealed !== 'none';
      const selected = getInitialSelection(ask(asked), form);
      if (isHarmful) expect(selected).toBeUndefined();
      const { headline } = createPermissionBody({ ...REQUEST, ...asked }, DRAWING, 'hidden');
      const text = headline.map((span) => span.text).join('');
      for (const { targets = [], text: words } of grave) {
        const isNamed = targets.every((target) => text.includes(target)) || text.includes(words);
        expect([text, isNamed]).toEqual([text, true]);
      }
      if (grave.some(({ kind }) => kind === 'reads_secret')) expect(text).toContain('may be a secret');
    }),
    runs(200),
  );
});

test('sending a secret is one risk, with its name and its destination', () => {
  const risks: readonly CallRisk[] = [
    { kind: 'reads_secret', text: 'reads id_rsa', targets: ['id_rsa'] },
    { kind: 'sends', text: 'sends data', targets: ['evil.example'] },
  ];
  const { headline } = createPermissionBody({ ...REQUEST, risks }, DRAWING, 'hidden');
  expect(headline).toEqual([{ text: 'sends id_rsa (may be a secret) to evil.example', style: { token: 'warn' } }]);
});

test('printed credentials may be a secret, also where the command names them', () => {
  const risks: readonly CallRisk[] = [{ kind: 'reads_secret', text: 'prints credentials', targets: ['github'] }];
  const { headline } = createPermissionBody({ ...REQUEST, risks }, DRAWING, 'hidden');
  expect(headline).toEqual([{ text: 'prints credentials: github (may be a secret)', style: { token: 'warn' } }]);
});

test('a long here-document is dim except for its risky lines', () => {
  const command = ['bash <<EOF', 'one', 'two', 'rm -rf build', 'four', 'EOF', 'ls'].join('\n');
  const facts: ToolFacts = { tool: 'Bash', kind: 'shell', command, input: {} };
  const risks: readonly CallRisk[] = [{ kind: 'deletes', text: 'deletes build', targets: ['build'] }];
  const { subject } = createPermissionBody({ ...REQUEST, facts, risks }, DRAWING, 'hidden');
  const bold = subject.filter(({ spans }) => spans[0]?.style?.bold === true);
  expect(bold.map(({ spans }) => spans[0]?.text)).toEqual(['bash <<EOF', 'rm -rf build', 'EOF', 'ls']);
});
