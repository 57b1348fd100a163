import type {
  CallRisk,
  PermissionAnswer,
  PermissionRequest,
  RememberDestination,
  RuleSuggestion,
} from '../../../contracts/permission.ts';
import type { UserQuestion } from '../../../contracts/tool.ts';
import { isApprovalQuestionPart, listQuestionParts } from '../form/question-fields.ts';
import { createQuestionOptions } from '../form/question-options.ts';
import {
  createAlwaysOption,
  createChoiceOption,
  createKeyOption,
  createNoOption,
  createYesOption,
  type DialogAction,
  type DialogForm,
  type DialogOption,
  type DialogRequest,
  SHOW_ALL_OPTION,
} from './dialog-state.ts';

/** Returns the options for a request, in the order of display. */
export function createDialogOptions(request: DialogRequest, form: DialogForm): readonly DialogOption[] {
  return request.kind === 'permission'
    ? createPermissionOptions(request.permission)
    : createQuestionOptions(request.question, form);
}

/** Finds the option for a key: its letter or its digit. */
export function findDialogOption(options: readonly DialogOption[], chord: string): DialogOption | undefined {
  return options.find(({ key }) => key === chord) ?? options.find(({ digit }) => digit === chord);
}

/** Returns the options of the list, between which the cursor moves. */
export function filterOptionsInList(options: readonly DialogOption[]): readonly DialogOption[] {
  return options.filter(({ position }) => position === 'list');
}

/** Risks for which a yes is as harmless as for any other call. */
const MINOR_RISKS: readonly CallRisk['kind'][] = ['runs_project', 'network'];

/** Returns whether a risk is named in the first line of the dialog: it destroys, discloses or publishes something. */
export function isSevereRisk({ kind }: CallRisk): boolean {
  return !MINOR_RISKS.includes(kind);
}

/** Returns the index of the option that is selected at first; none if the first one could do harm. */
export function getInitialSelection(request: DialogRequest, form: DialogForm): number | undefined {
  if (request.kind === 'question') {
    if (request.question.kind === 'elicitation') return getDefaultChoice(request.question, form);
    const part = listQuestionParts(request.question)[form.partIndex];
    return part !== undefined && isApprovalQuestionPart(part) ? undefined : 0;
  }
  const { facts, danger, concealed, targets, risks = [], canRemember = 'always' } = request.permission;
  const isHarmless =
    danger === 'none' &&
    concealed === 'none' &&
    targets.length === 0 &&
    canRemember === 'always' &&
    facts.kind !== 'mcp';
  return isHarmless && !risks.some(isSevereRisk) ? 0 : undefined;
}

/** Returns the index of the default of a form field, or the first choice: a form is reviewed before it is sent. */
function getDefaultChoice(question: UserQuestion, form: DialogForm): number | undefined {
  const part = listQuestionParts(question)[form.partIndex];
  if (part === undefined) return undefined;
  return Math.max(
    0,
    part.options.findIndex(({ answer }) => answer === part.skip?.answer),
  );
}

function createPermissionOptions(request: PermissionRequest): readonly DialogOption[] {
  const { danger, canRemember } = request;
  const mayRemember = danger === 'none' && canRemember !== 'never';
  return [
    createYesOption('Yes', allow()),
    ...(mayRemember ? createRememberOptions(request) : []),
    createNoOption(NO_LABEL, { type: 'write', purpose: 'reason', initialText: '' }),
    ...(request.canSandbox === true ? [SANDBOX_OPTION] : []),
    ...(mayRemember ? createScopeOptions(request) : []),
    ...createEditOptions(request),
    SHOW_ALL_OPTION,
    createKeyOption('d', 'why it asks', { type: 'details' }),
  ];
}

/** Lets commands write in the project instead of asking about each one. */
const SANDBOX_OPTION: DialogOption = {
  ...createChoiceOption('w', 'Yes, and let commands write in this project this session', allow({ sandbox: 'auto' })),
  digit: '4',
  shortLabel: 'sandbox',
  note: '(in a sandbox)',
  isOptional: true,
};

const NO_LABEL = 'No, and say what to do instead';

/** Creates the option that also allows further calls, by a mode or by rules stored for the project. */
function createRememberOptions(request: PermissionRequest): readonly DialogOption[] {
  const { facts, suggestions, exact, narrow, trace } = request;
  const [first] = suggestions;
  if (facts.kind === 'edit') {
    if (!isDueToOutsidePath(trace))
      return [createAlwaysOption("Yes, and don't ask again for edits in this session", allow({ mode: 'acceptEdits' }))];
    // Accepting edits would not cover a file outside of the workspace.
    const option = createAlwaysOption("Yes, and don't ask again for", rememberRules(suggestions, 'session'));
    const subject = suggestions.map(formatRule).join(', ');
    return first === undefined ? [] : [{ ...option, subject, labelEnd: 'in this session' }];
  }
  if (first !== undefined) {
    const { uncovered = [] } = first;
    const option: DialogOption = {
      ...createAlwaysOption("Yes, and don't ask again for", rememberRules(suggestions, 'local')),
      subject: suggestions.map(formatRule).join(', '),
      labelEnd: 'in this project',
    };
    const verb = uncovered.length === 1 ? 'asks' : 'ask';
    return [uncovered.length === 0 ? option : { ...option, note: `(${uncovered.join(' and ')} still ${verb})` }];
  }
  if (exact?.keep !== 'always') return [];
  const option = createAlwaysOption(
    "Yes, and don't ask again for this exact command in this project",
    rememberRules([exact], 'local'),
  );
  return [narrow === undefined ? option : { ...option, note: `(others still ask: ${narrow})` }];
}

/** Returns whether a call was not allowed because a path is outside of the workspace. */
export function isDueToOutsidePath(trace: PermissionRequest['trace']): boolean {
  return trace.some(({ reason }) => reason?.code === 'outside_workspace');
}

/** Creates the keys for narrower and wider answers than those of the list. */
function createScopeOptions(request: PermissionRequest): readonly DialogOption[] {
  const { facts, suggestions, exact, ofPrograms } = request;
  const [first] = suggestions;
  const sessionRules = exact === undefined ? suggestions : [exact];
  const { server } = splitMcpToolName(facts.tool);
  const canAllowServer = facts.kind === 'mcp' && first !== undefined && server !== '';
  return [
    ...(sessionRules.length === 0 || facts.kind === 'edit'
      ? []
      : [createKeyOption('s', 'this session only', rememberRules(sessionRules, 'session'))]),
    ...(ofPrograms === undefined
      ? []
      : [
          createKeyOption(
            'p',
            `only when run by ${ofPrograms.names.join(', ')}`,
            allow({ remember: { rules: ofPrograms.rules, destination: 'local' } }),
          ),
        ]),
    ...(canAllowServer
      ? [createKeyOption('A', `any tool of ${server}`, rememberRules([{ rule: `mcp__${server}` }], 'local'))]
      : []),
    ...(first === undefined
      ? []
      : [createKeyOption('r', 'write a rule', { type: 'write', purpose: 'rule', initialText: first.rule })]),
  ];
}

/** Splits the name of an MCP tool into its server and its own name; both are empty for any other tool. */
export function splitMcpToolName(name: string): { readonly server: string; readonly tool: string } {
  const [, server = '', tool = ''] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return { server, tool };
}

function rememberRules(rules: readonly Pick<RuleSuggestion, 'rule'>[], destination: RememberDestination): DialogAction {
  return allow({ remember: { rules: rules.map(({ rule }) => rule), destination } });
}

/** Describes what a rule covers: a command as it would be typed, a tool, a host, or the use of a file. */
function formatRule({ rule, access }: RuleSuggestion): string {
  const match = /^Bash\((.*?)(:\*)?\)$/s.exec(rule);
  if (match !== null) return `${match[1] ?? ''}${match[2] === undefined ? '' : ' *'}`;
  const { tool } = splitMcpToolName(rule);
  if (tool !== '') return tool;
  const host = /^\w+\(domain:(.+)\)$/.exec(rule)?.[1];
  if (host !== undefined) return host;
  // In rules two slashes start an absolute path.
  if (access === undefined) return rule.replace('(//', '(/');
  return `${access.use === 'read' ? 'reading' : 'changing'} ${access.path}`;
}

function createEditOptions({ facts }: PermissionRequest): readonly DialogOption[] {
  if (facts.kind === 'edit') return [createKeyOption('e', 'edit first', { type: 'edit_proposal' })];
  return facts.kind === 'shell' && facts.command !== undefined
    ? [createKeyOption('e', 'edit', { type: 'write', purpose: 'command', initialText: facts.command })]
    : [];
}

function allow(extra: Omit<Extract<PermissionAnswer, { behavior: 'allow' }>, 'behavior'> = {}): DialogAction {
  return { type: 'answer_permission', answer: { behavior: 'allow', ...extra } };
}

/** Returns the listed requests that are still open. Later requests are not listed, so no unseen request is answered. */
export function filterListedRequests(asks: readonly DialogRequest[], ids: readonly string[]): readonly DialogRequest[] {
  return asks.filter(({ id }) => ids.includes(id));
}

/** Returns whether a request can be allowed together with others: only reads and edits without a warning. */
export function isAnsweredTogether(request: DialogRequest): boolean {
  if (request.kind !== 'permission') return false;
  const { facts, danger, concealed, targets, risks = [] } = request.permission;
  const isSuspicious = danger !== 'none' || concealed !== 'none' || targets.length > 0 || risks.some(isSevereRisk);
  return (facts.kind === 'read' || facts.kind === 'edit') && !isSuspicious;
}

/** Creates the options of the list of requests: allow all that may be answered together, or go back. */
export function createRequestListOptions(listed: readonly DialogRequest[]): readonly DialogOption[] {
  const ids = listed.filter(isAnsweredTogether).map(({ id }) => id);
  const action: DialogAction = { type: 'answer_several', ids };
  const allowAll = { ...createChoiceOption('A', `Yes, to these ${ids.length} reads and edits`, action), digit: '1' };
  const back = createKeyOption('b', 'back to the first question', { type: 'list' });
  return ids.length === 0 ? [back] : [allowAll, back];
}
