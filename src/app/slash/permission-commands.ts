import type { UpdateDestination } from '../../contracts/face/host.ts';
import type { PanelRow } from '../../contracts/face/panel.ts';
import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import { homePath } from '../../lib/text/home-path.ts';
import { explainText } from '../../permissions/explain.ts';
import { explainCall } from '../../permissions/explain-call.ts';
import { lintRules } from '../../permissions/lint-rules.ts';
import { ruleSays, sourceOf } from '../../permissions/paths/finding.ts';
import { parseRule } from '../../permissions/rules/rules.ts';
import { bashStatement } from '../../tools/bash/bash.ts';
import { TOOL_STATEMENTS } from '../../tools/statements.ts';
import type { KeptDecision } from '../permissions/permissions.ts';
import { sandboxWords } from '../permissions/sandbox-words.ts';
import { asPanel, type BuiltinCommand, done, failed, plain } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const RECENT = 12;
const DECIDED_BY: Readonly<Record<KeptDecision['by'], string>> = {
  decision: '',
  answer: ' by answer',
  hook: ' by a hook',
  judge: ' by the small model',
};
/** Where rules stand that are in no file. */
const SOURCES: Partial<Record<Rule['source'], string>> = { session: 'this session', flag: 'this run' };
const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
/** Where a person may keep a rule, and how that is told. */
const PLACES = ['session', 'local', 'project', 'user'] as const;
const STORED: Readonly<Record<UpdateDestination, string>> = {
  session: 'until this session ends',
  local: 'for you in this project',
  project: 'for everybody in this project',
  user: 'for you everywhere',
};

/** Commands about what may be done, and why. */
export const PERMISSION_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'permissions',
    aliases: ['allowed-tools'],
    description: 'rules, workspace and recent decisions; add or forget a rule',
    argumentHint: '[allow|ask|deny|forget [session|local|project|user] <rule> | test <command>]',
    run: async (args, parts) => (args.trim() === '' ? overview(parts) : changeRule(args.trim(), parts)),
  },
  {
    name: 'why',
    description: 'why the last calls were allowed or refused',
    argumentHint: '[how many]',
    async run(args, { permissions }) {
      const wanted = Math.max(1, Number.parseInt(args, 10) || 1);
      const last = permissions.decisions().slice(-wanted);
      if (last.length === 0) return failed('Nothing was decided yet.');
      return plain(last.map((one) => `${headOf(one)}\n${explainText(one.decision)}`).join('\n\n'));
    },
  },
  {
    name: 'trust',
    description: 'what this folder brings about; /trust yes trusts it',
    argumentHint: '[yes]',
    async run(args, { trustTalk }) {
      if (args.trim() === '') return plain((await trustTalk.show()).join('\n'));
      if (args.trim() !== 'yes') return failed('Say /trust to look, /trust yes to trust this folder.');
      const answer = await trustTalk.agree();
      return answer.ok
        ? plain([...answer.lines, 'It counts for conversations that are opened from now on.'].join('\n'))
        : failed(answer.lines.join('\n'));
    },
  },
  {
    name: 'sandbox',
    description: 'what shell commands may reach; on and off for this session',
    argumentHint: '[on|auto|off]',
    async run(args, { permissions: { sandbox, rules }, core }) {
      const wanted = args.trim();
      if (wanted !== '' && wanted !== 'on' && wanted !== 'auto' && wanted !== 'off')
        return failed('Say /sandbox, /sandbox on, /sandbox auto or /sandbox off.');
      if (wanted !== '') sandbox.switchTo(wanted);
      return plain(sandboxWords(sandbox, core.settings.now().sandbox, rules()));
    },
  },
];

/** Rules, folders and what was decided last: each with its reason, and with what can be done about it. */
function overview({ permissions, core: { live, trusted, cwd, environment } }: ConversationParts) {
  const rules = permissions.rules();
  const [, ...more] = permissions.roots();
  const trustWord = trusted ? 'trusted' : 'not trusted';
  return asPanel({
    title: 'Permissions',
    line: 'permissions',
    note: `mode ${live.now().mode}, workspace ${homePath(cwd, environment.home)} (${trustWord})`,
    rows: [
      ...ruleRows(rules, (path) => homePath(path, environment.home, cwd)),
      ...more.map((folder) => ({
        id: `folder ${folder}`,
        group: 'Also in the workspace',
        cells: ['folder', folder],
        detail: [],
        acts: [],
      })),
      ...permissions.decisions().slice(-RECENT).toReversed().map(decisionRow),
    ],
    empty: 'No rules, and nothing was decided yet.',
    acts: [
      { kind: 'write', key: 'ctrl+a', label: 'adds a rule', line: 'permissions', words: 'allow ' },
      { kind: 'write', key: 'ctrl+t', label: 'tests a command', line: 'permissions test', words: '' },
    ],
  });
}

/** Each rule once, though it may be known from its file and from the answer that put it there. */
function ruleRows(rules: readonly Rule[], short: (path: string) => string): readonly PanelRow[] {
  const notes = lintRules(rules, TOOL_STATEMENTS);
  const rows = BEHAVIORS.flatMap((behavior) => rules.filter((rule) => rule.behavior === behavior)).map((rule) =>
    ruleRow(
      rule,
      notes.filter((note) => note.rule === rule).map(({ text }) => text),
      rule.file === undefined ? (SOURCES[rule.source] ?? rule.source) : short(sourceOf(rule)),
    ),
  );
  return rows.filter(({ id }, at) => rows.findIndex((row) => row.id === id) === at);
}

function ruleRow(rule: Rule, notes: readonly string[], from: string): PanelRow {
  const place = PLACES.find((one) => one === rule.source);
  const said = `${rule.behavior} ${rule.text}`;
  return {
    id: `${rule.source} ${said}`,
    group: 'Rules, the strongest first',
    cells: [rule.behavior, rule.text, from],
    ...(notes.length === 0 ? {} : { mark: 'bad' as const }),
    detail: [rule.text, ...notes],
    acts:
      place === undefined
        ? []
        : [
            {
              kind: 'run',
              key: 'ctrl+d',
              label: 'forgets it',
              line: `permissions forget ${place} ${rule.text}`,
              sure: `forgets ${said}`,
            },
          ],
  };
}

function decisionRow(one: KeptDecision, at: number): PanelRow {
  const word = one.verdict === 'allow' ? 'allowed' : 'refused';
  const [first = '', ...steps] = explainText(one.decision).split('\n');
  return {
    id: `decision ${at}`,
    group: 'Decided last',
    cells: [word, headOf(one).slice(word.length + 1)],
    mark: one.verdict === 'allow' ? 'good' : 'bad',
    detail: [one.decision.reasons[0] ?? first, ...steps.map((step) => step.trim())],
    acts: [],
  };
}

function headOf({ tool, title, verdict, by }: KeptDecision): string {
  const who = DECIDED_BY[by];
  return `${verdict === 'allow' ? 'allowed' : 'refused'}${who} ${title.startsWith(tool) ? title : `${tool} ${title}`}`;
}

async function changeRule(args: string, parts: ConversationParts) {
  const { permissions } = parts;
  const [, what = '', rest = ''] = /^(\S+)\s+([\s\S]+)$/.exec(args) ?? [];
  if (what === 'test') return tested(rest, parts);
  const behavior = BEHAVIORS.find((one) => one === what);
  if (behavior === undefined && what !== 'forget') {
    return failed(
      'Say what to do with which rule: /permissions allow Bash(npm test:*), or ask, deny, forget; or /permissions test <command>.',
    );
  }
  const { place, text } = placedRule(rest);
  const rule = parseRule(text, behavior ?? 'allow', { source: 'local' });
  if (rule.problem !== undefined) return failed(`${text} cannot be understood: ${rule.problem}`);
  if (behavior !== undefined) {
    const destination = place ?? 'local';
    await permissions.update([{ type: 'addRules', behavior, rules: [rule.text], destination }]);
    return done(`From now on: ${behavior} ${rule.text}, ${STORED[destination]}.`);
  }
  return forget(rule.text, place, parts);
}

/** A rule, and before it the place it is meant for. */
function placedRule(words: string): { readonly place: UpdateDestination | undefined; readonly text: string } {
  const [, first = '', rest = ''] = /^(\S+)\s+([\s\S]+)$/.exec(words) ?? [];
  const place = PLACES.find((one) => one === first);
  return place === undefined ? { place, text: words } : { place, text: rest };
}

/** Takes a rule out of the place it stands in; where none is said, out of what is nobody else's. */
async function forget(text: string, place: UpdateDestination | undefined, { permissions }: ConversationParts) {
  const fits = (rule: Rule) => rule.text === text && (place === undefined || rule.source === place);
  if (!permissions.rules().some(fits)) return failed(`There is no rule ${text}.`);
  for (const destination of place === undefined ? (['session', 'local'] as const) : [place]) {
    for (const behavior of BEHAVIORS) {
      await permissions.update([{ type: 'removeRules', behavior, rules: [text], destination }]);
    }
  }
  const left = permissions.rules().find(fits);
  if (left === undefined) return done(`Forgotten: ${text}.`);
  const where = PLACES.find((one) => one === left.source);
  const how = where === undefined ? 'Change it where it stands.' : `Say /permissions forget ${where} ${text}.`;
  return failed(`${ruleSays(left)} still counts. ${how}`);
}

/** What would be said to a call, without making it. */
function tested(words: string, { permissions, core: { live } }: ConversationParts) {
  const [, first = '', rest = ''] = /^([A-Z]\w*)\s+([\s\S]+)$/.exec(words) ?? [];
  const isTool = TOOL_STATEMENTS.some(({ name }) => name === first);
  const call = isTool ? { tool: first, text: rest } : { tool: bashStatement.name, text: words };
  const known = { policy: permissions.policy(live.now().cwd), tools: TOOL_STATEMENTS };
  const explained = explainCall(call, known, 'text');
  return explained.ok ? done(explained.words) : failed(explained.problem);
}
