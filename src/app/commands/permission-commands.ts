import type { PanelRow } from '../../contracts/frontend/command.ts';
import type { PermissionUpdateDestination } from '../../contracts/frontend/host-capabilities.ts';
import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import { formatHomePath } from '../../lib/files/path-style.ts';
import { describeRule, formatRuleSource } from '../../permissions/decision-context.ts';
import { explainCall, formatDecision } from '../../permissions/explain.ts';
import { findRuleProblems } from '../../permissions/lint-rules.ts';
import { parseRule } from '../../permissions/rules/parse-rule.ts';
import { formatSandboxStatus } from '../../sandbox/format-sandbox-status.ts';
import { bashTraits } from '../../tools/bash/bash.ts';
import { TOOL_TRAITS } from '../../tools/tool-traits.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import type { PastDecision } from '../permissions/session-permissions.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createPanelOutcome,
  createPlainTextOutcome,
  createSuccessOutcome,
  formatPermissionMode,
} from './builtin-slash-command.ts';

const RECENT_DECISIONS = 12;
const DECIDED_BY: Readonly<Record<PastDecision['by'], string>> = {
  decision: '',
  answer: ' by the user',
  hook: ' by a hook',
  judge: ' by the small model',
};
/** Labels for the sources of rules that are in no file. */
const SOURCE_LABELS: Partial<Record<Rule['source'], string>> = { session: 'this session', flag: 'this run' };
const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
/** The destinations for rules, and their descriptions. */
const DESTINATIONS = ['session', 'local', 'project', 'user'] as const;
const DESTINATION_LABELS: Readonly<Record<PermissionUpdateDestination, string>> = {
  session: 'until this session ends',
  local: 'for you in this project',
  project: 'for everyone in this project',
  user: 'for you in all projects',
};

/** Commands for permissions, trust and the sandbox. */
export const PERMISSION_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'permissions',
    aliases: ['allowed-tools'],
    description: 'show and change permission rules',
    argumentHint: '[allow|ask|deny|forget [session|local|project|user] <rule> | test <command>]',
    run: async (args, parts) => (args.trim() === '' ? createOverview(parts) : changeRule(args.trim(), parts)),
  },
  {
    name: 'why',
    description: 'explain why recent calls were allowed or denied',
    argumentHint: '[count]',
    async run(args, { permissions }) {
      const count = Math.max(1, Number.parseInt(args, 10) || 1);
      const recent = permissions.listDecisions().slice(-count);
      if (recent.length === 0) return createErrorOutcome('No decisions yet.');
      return createPlainTextOutcome(
        recent.map((decision) => `${formatHead(decision)}\n${formatDecision(decision.decision)}`).join('\n\n'),
      );
    },
  },
  {
    name: 'trust',
    description: 'show the effects of trusting this folder; /trust yes trusts it',
    argumentHint: '[yes]',
    async run(args, { trustCommands }) {
      if (args.trim() === '') return createPlainTextOutcome((await trustCommands.show()).join('\n'));
      if (args.trim() !== 'yes')
        return createErrorOutcome('Usage: /trust shows the effects, /trust yes trusts this folder.');
      const answer = await trustCommands.agree();
      return answer.ok
        ? createPlainTextOutcome([...answer.lines, 'Trust takes effect in new conversations.'].join('\n'))
        : createErrorOutcome(answer.lines.join('\n'));
    },
  },
  {
    name: 'sandbox',
    description: 'show the sandbox, or switch it for this session',
    argumentHint: '[on|auto|off]',
    async run(args, { permissions: { sandbox, getRules }, core }) {
      const setting = args.trim();
      if (setting !== '' && setting !== 'on' && setting !== 'auto' && setting !== 'off')
        return createErrorOutcome('Usage: /sandbox, /sandbox on, /sandbox auto or /sandbox off.');
      if (setting !== '') sandbox.switchTo(setting);
      return createPlainTextOutcome(formatSandboxStatus(sandbox, core.settings.current().sandbox, getRules()));
    },
  },
];

/** Creates the list of rules, workspace folders and recent decisions. */
function createOverview({ permissions, core: { live, trusted, cwd, environment } }: ConversationParts) {
  const rules = permissions.getRules();
  const [, ...more] = permissions.getRoots();
  const trustLabel = trusted ? 'trusted' : 'not trusted';
  return createPanelOutcome({
    title: 'Permissions',
    command: 'permissions',
    note: `mode ${formatPermissionMode(live.current().mode)}, workspace ${formatHomePath(cwd, environment.home)} (${trustLabel})`,
    rows: [
      ...createRuleRows(rules, (path) => formatHomePath(path, environment.home, cwd)),
      ...more.map(
        (folder): PanelRow => ({
          id: `folder ${folder}`,
          group: 'Additional workspace folders',
          cells: ['folder', folder],
          detail: [],
          actions: [],
        }),
      ),
      ...permissions.listDecisions().slice(-RECENT_DECISIONS).toReversed().map(createDecisionRow),
    ],
    empty: 'No rules and no decisions yet.',
    actions: [
      { kind: 'write', key: 'ctrl+a', label: 'adds a rule', command: 'permissions', initialText: 'allow ' },
      { kind: 'write', key: 'ctrl+t', label: 'tests a command', command: 'permissions test', initialText: '' },
    ],
  });
}

/** Creates one row per rule. A rule can be known twice: from its file, and from the answer that added it. */
function createRuleRows(rules: readonly Rule[], shorten: (path: string) => string): readonly PanelRow[] {
  const notes = findRuleProblems(rules, TOOL_TRAITS);
  const rows = BEHAVIORS.flatMap((behavior) => rules.filter((rule) => rule.behavior === behavior)).map((rule) =>
    createRuleRow(
      rule,
      notes.filter((note) => note.rule === rule).map(({ text }) => text),
      rule.file === undefined ? (SOURCE_LABELS[rule.source] ?? rule.source) : shorten(formatRuleSource(rule)),
    ),
  );
  return rows.filter(({ id }, at) => rows.findIndex((row) => row.id === id) === at);
}

function createRuleRow(rule: Rule, notes: readonly string[], from: string): PanelRow {
  const destination = DESTINATIONS.find((candidate) => candidate === rule.source);
  const ruleText = `${rule.behavior} ${rule.text}`;
  return {
    id: `${rule.source} ${ruleText}`,
    group: 'Rules, strongest first',
    cells: [rule.behavior, rule.text, from],
    ...(notes.length === 0 ? {} : { mark: 'bad' as const }),
    detail: [rule.text, ...notes],
    actions:
      destination === undefined
        ? []
        : [
            {
              kind: 'run',
              key: 'ctrl+d',
              label: 'deletes it',
              command: `permissions forget ${destination} ${rule.text}`,
              confirmLabel: `deletes ${ruleText}`,
            },
          ],
  };
}

function createDecisionRow(kept: PastDecision, index: number): PanelRow {
  const verdict = kept.verdict === 'allow' ? 'allowed' : 'denied';
  const [first = '', ...steps] = formatDecision(kept.decision).split('\n');
  return {
    id: `decision ${index}`,
    group: 'Recent decisions',
    cells: [verdict, formatHead(kept).slice(verdict.length + 1)],
    mark: kept.verdict === 'allow' ? 'good' : 'bad',
    detail: [kept.decision.reasons[0] ?? first, ...steps.map((step) => step.trim())],
    actions: [],
  };
}

function formatHead({ title, verdict, by }: PastDecision): string {
  const decidedBy = DECIDED_BY[by];
  return `${verdict === 'allow' ? 'allowed' : 'denied'}${decidedBy} ${title}`;
}

async function changeRule(args: string, parts: ConversationParts) {
  const { permissions } = parts;
  const [, verb = '', rest = ''] = /^(\S+)\s+([\s\S]+)$/.exec(args) ?? [];
  if (verb === 'test') return testCall(rest, parts);
  const behavior = BEHAVIORS.find((candidate) => candidate === verb);
  if (behavior === undefined && verb !== 'forget') {
    return createErrorOutcome(
      'Usage: /permissions allow|ask|deny|forget <rule> or /permissions test <command>. For example: /permissions allow Bash(npm test:*)',
    );
  }
  const { destination, text } = parseRuleArgument(rest);
  const rule = parseRule(text, behavior ?? 'allow', { source: 'local' });
  if (rule.problem !== undefined) return createErrorOutcome(`Invalid rule ${text}: ${rule.problem}`);
  if (behavior !== undefined) {
    const target = destination ?? 'local';
    await permissions.applyUpdates([{ type: 'addRules', behavior, rules: [rule.text], destination: target }]);
    return createSuccessOutcome(`Rule added: ${behavior} ${rule.text}, ${DESTINATION_LABELS[target]}.`);
  }
  return deleteRule(rule.text, destination, parts);
}

/** Parses a rule with an optional destination before it. */
function parseRuleArgument(argument: string): {
  readonly destination: PermissionUpdateDestination | undefined;
  readonly text: string;
} {
  const [, first = '', rest = ''] = /^(\S+)\s+([\s\S]+)$/.exec(argument) ?? [];
  const destination = DESTINATIONS.find((candidate) => candidate === first);
  return { destination, text: destination === undefined ? argument : rest };
}

/** Deletes a rule from a destination; without one, from those that affect only this user: session and local. */
async function deleteRule(
  text: string,
  destination: PermissionUpdateDestination | undefined,
  { permissions }: ConversationParts,
) {
  const matches = (rule: Rule) => rule.text === text && (destination === undefined || rule.source === destination);
  if (!permissions.getRules().some(matches)) return createErrorOutcome(`There is no rule ${text}.`);
  for (const target of destination === undefined ? (['session', 'local'] as const) : [destination]) {
    for (const behavior of BEHAVIORS) {
      await permissions.applyUpdates([{ type: 'removeRules', behavior, rules: [text], destination: target }]);
    }
  }
  const remaining = permissions.getRules().find(matches);
  if (remaining === undefined) return createSuccessOutcome(`Rule deleted: ${text}.`);
  const source = DESTINATIONS.find((candidate) => candidate === remaining.source);
  const help = source === undefined ? 'Change it in its file.' : `Run /permissions forget ${source} ${text}.`;
  return createErrorOutcome(`${describeRule(remaining)} still applies. ${help}`);
}

/** Explains the decision about a call without making the call. */
function testCall(argument: string, { permissions, core: { live } }: ConversationParts) {
  const [, first = '', rest = ''] = /^([A-Z]\w*)\s+([\s\S]+)$/.exec(argument) ?? [];
  const isTool = TOOL_TRAITS.some(({ name }) => name === first);
  const call = isTool ? { tool: first, text: rest } : { tool: bashTraits.name, text: argument };
  const context = { policy: permissions.getPolicy(live.current().cwd), tools: TOOL_TRAITS };
  const explanation = explainCall(call, context, 'text');
  return explanation.ok ? createSuccessOutcome(explanation.output) : createErrorOutcome(explanation.problem);
}
