import type { RuleBehavior } from '../../contracts/permission.ts';
import { explainText } from '../../permissions/explain.ts';
import { lintRules } from '../../permissions/lint-rules.ts';
import { ruleSays } from '../../permissions/paths/finding.ts';
import { parseRule } from '../../permissions/rules/rules.ts';
import { TOOL_STATEMENTS } from '../../tools/statements.ts';
import type { KeptDecision } from '../permissions/permissions.ts';
import type { SandboxState } from '../permissions/sandbox.ts';
import { trustFolder, trustShow } from '../settings/trust-commands.ts';
import { type BuiltinCommand, done, failed, plain } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const RECENT = 12;
const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];

/** Commands about what may be done, and why. */
export const PERMISSION_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'permissions',
    description: 'rules, workspace and recent decisions; add or forget a rule',
    argumentHint: '[allow|ask|deny|forget <rule>]',
    run: async (args, parts) => (args.trim() === '' ? plain(overview(parts)) : changeRule(args.trim(), parts)),
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
    async run(args, { core: { cwd, environment } }) {
      if (args.trim() === '') return plain((await trustShow(cwd, environment)).join('\n'));
      if (args.trim() !== 'yes') return failed('Say /trust to look, /trust yes to trust this folder.');
      const answer = await trustFolder(cwd, 'folder', environment);
      return answer.ok
        ? plain([...answer.lines, 'It counts from the next start of ouro on.'].join('\n'))
        : failed(answer.lines.join('\n'));
    },
  },
  {
    name: 'sandbox',
    description: 'what shell commands may reach; on and off for this session',
    argumentHint: '[on|off]',
    async run(args, { permissions: { sandbox } }) {
      const wanted = args.trim();
      if (wanted !== '' && wanted !== 'on' && wanted !== 'off')
        return failed('Say /sandbox, /sandbox on or /sandbox off.');
      if (wanted !== '') sandbox.switchTo(wanted);
      return plain(sandboxWords(sandbox.state()));
    },
  },
];

function sandboxWords(state: SandboxState): string {
  if (state.is === 'off') return 'Shell commands run without a sandbox. /sandbox on puts them into one.';
  if (state.is === 'unavailable') return `A sandbox is asked for and cannot be had: ${state.why}. No command runs.`;
  const { roots, allowWrite, denyRead, network } = state.plan;
  return [
    'Shell commands run in a sandbox.',
    `  may write  ${[...roots, ...allowWrite, '/tmp of their own'].join(', ')}`,
    '  may not    see keys and credentials, reach daemons, change or make .git/hooks, .mcp.json, .envrc, .vscode and the like',
    ...(denyRead.length === 0 ? [] : [`             read ${denyRead.join(', ')}`]),
    `  network    ${network === 'open' ? 'open' : 'none'}`,
  ].join('\n');
}

function overview({ permissions, core: { live, trusted, cwd } }: ConversationParts): string {
  const rules = permissions.rules();
  const [, ...more] = permissions.roots();
  const recent = permissions.decisions().slice(-RECENT);
  return [
    `Mode: ${live.now().mode}`,
    `Workspace: ${cwd} (${trusted ? 'trusted' : 'not trusted'})`,
    ...more.map((folder) => `           ${folder}`),
    '',
    rules.length === 0 ? 'No rules.' : 'Rules, the strongest first:',
    ...BEHAVIORS.flatMap((behavior) =>
      rules.filter((rule) => rule.behavior === behavior).map((rule) => `  ${behavior.padEnd(6)} ${ruleSays(rule)}`),
    ),
    ...lintRules(rules, TOOL_STATEMENTS).map(({ text }) => `  note   ${text}`),
    '',
    recent.length === 0 ? 'Nothing was decided yet.' : 'Recent decisions (/why tells more):',
    ...recent.map((one) => `  ${headOf(one)}: ${one.decision.reasons[0] ?? ''}`),
  ].join('\n');
}

function headOf({ tool, title, verdict, by }: KeptDecision): string {
  const who = by === 'answer' ? ' by answer' : by === 'hook' ? ' by a hook' : '';
  return `${verdict === 'allow' ? 'allowed' : 'refused'}${who} ${tool} ${title}`;
}

async function changeRule(args: string, { permissions }: ConversationParts) {
  const [, what = '', text = ''] = /^(\S+)\s+([\s\S]+)$/.exec(args) ?? [];
  const behavior = BEHAVIORS.find((one) => one === what);
  if (behavior === undefined && what !== 'forget') {
    return failed('Say what to do with which rule: /permissions allow Bash(npm test:*), or ask, deny, forget.');
  }
  const rule = parseRule(text, behavior ?? 'allow', { source: 'local' });
  if (rule.problem !== undefined) return failed(`${text} cannot be understood: ${rule.problem}`);
  if (behavior !== undefined) {
    await permissions.update([{ type: 'addRules', behavior, rules: [rule.text], destination: 'local' }]);
    return done(`From now on: ${behavior} ${rule.text}.`);
  }
  const known = permissions.rules().filter((one) => one.text === rule.text);
  if (known.length === 0) return failed(`There is no rule ${rule.text}.`);
  for (const each of BEHAVIORS) {
    for (const destination of ['session', 'local'] as const) {
      await permissions.update([{ type: 'removeRules', behavior: each, rules: [rule.text], destination }]);
    }
  }
  const left = permissions.rules().find((one) => one.text === rule.text);
  return left === undefined
    ? done(`Forgotten: ${rule.text}.`)
    : failed(`${ruleSays(left)} is not mine to forget. Change it where it stands.`);
}
