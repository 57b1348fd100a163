import type { Decision, Policy, ToolFacts } from '../contracts/permission.ts';
import type { CallRequest } from '../contracts/tool.ts';
import { findCallConcealment, listCallRisks } from './call-risks.ts';
import { decide } from './decide.ts';
import type { PermissionFs } from './permission-fs.ts';
import { FAMILY_RULE_NAMES } from './rules/rule-families.ts';
import { getShellAnalysis } from './shell/analyze.ts';
import { collectShellEffects } from './shell/effects/collect-shell-effects.ts';
import { getProgramBaseName } from './shell/parse/shell-words.ts';
import { needsService } from './shell/programs/program-risks.ts';

/** Words that start a server or a watcher, or name this machine. */
const SERVING =
  /(?:^|[\s:'"])(?:serve|server|dev|start|watch|preview|up|--watch)(?=$|[\s'";|&])|localhost|127\.0\.0\.1|:\/\//;
const IN_BACKGROUND = /(?:^|[^&>|])&(?![&>\d])/;
const NOT_SHOWN = ['reads_secret', 'publishes', 'sends', 'runs_download', 'network'];
const TRYING_MODES: readonly Policy['mode'][] = ['default', 'acceptEdits', 'auto'];

/**
 * Returns whether a command that needs approval may first run in a throw-away layer over the workspace: all it is asked
 * about is what it may change there, and a run there would show that.
 */
export function isWorthTrying({ facts, decision, policy }: JudgedCall, { trial }: Pick<CallRequest, 'trial'>): boolean {
  const { kind, command, input, outside, opens, blocked, problem } = facts;
  if (
    trial !== undefined ||
    kind !== 'shell' ||
    command === undefined ||
    input.run_in_background === true ||
    !policy.trusted
  )
    return false;
  if ((outside ?? opens ?? blocked ?? problem) !== undefined || policy.sandbox !== undefined) return false;
  if (!TRYING_MODES.includes(policy.mode) || decision.secrets !== undefined || decision.copies !== undefined)
    return false;
  const asks = decision.trace.filter(({ verdict }) => verdict === 'ask');
  if (asks.some(({ stage, reason }) => stage !== 'default' || reason?.code === 'outside_workspace')) return false;
  if (findCallConcealment(facts) !== 'none' || SERVING.test(command) || IN_BACKGROUND.test(command)) return false;
  if (listCallRisks(facts).some((risk) => NOT_SHOWN.includes(risk.kind))) return false;
  const { parse } = getShellAnalysis(facts);
  const { commands } = collectShellEffects(parse(command), parse);
  return !commands.some(({ argv: [word = ''] }) => needsService(getProgramBaseName(word)));
}

type JudgedCall = { readonly facts: ToolFacts; readonly decision: Decision; readonly policy: Policy };

/** Lets a command run in a throw-away layer. Nothing of it counts as written before that is allowed. */
export function allowTrial({ writes: _, creates: __, opens: ___, ...decision }: Decision): Decision {
  const text = 'It runs in a throw-away copy of the workspace first.';
  return {
    ...decision,
    verdict: 'allow',
    reasons: [text],
    trace: [...decision.trace, { stage: 'default', verdict: 'allow', text }],
    enforce: { kind: 'trial', readable: [] },
  };
}

/** Adds to a decision what the trial of the call has shown: its changes are judged like those of an edit. */
export function judgeTrial(
  decision: Decision,
  { trial }: Pick<CallRequest, 'trial'>,
  policy: Policy,
  fs: PermissionFs,
): Decision {
  if (trial === undefined || decision.verdict !== 'ask') return decision;
  if (trial.is === 'void')
    return withReasons(decision, [`In a copy of the workspace it ${trial.why}, so nothing of it was kept.`]);
  const edit = decide({ tool: FAMILY_RULE_NAMES.edit, input: {}, kind: 'edit', writes: trial.paths }, policy, fs);
  if (edit.verdict === 'deny') return edit;
  const grave = edit.trace.filter(({ stage }) => stage === 'breaker' || stage === 'ask');
  return {
    ...withReasons(decision, [
      'It has run in a copy of the workspace: yes makes these changes, without a second run.',
      ...grave.map(({ text }) => text),
    ]),
    trace: [...decision.trace, ...grave],
    targets: [...decision.targets, ...edit.targets],
  };
}

const withReasons = (decision: Decision, reasons: readonly string[]): Decision => ({
  ...decision,
  reasons: [...reasons, ...decision.reasons],
});
