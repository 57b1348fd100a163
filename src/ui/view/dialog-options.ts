import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import type { Ask, AskForm } from './ask.ts';

/** What choosing an option does. */
export type DialogAct =
  | { readonly type: 'answer_permission'; readonly answer: PermissionAnswer }
  | { readonly type: 'answer_question'; readonly answer: UserAnswer | undefined }
  /** Lends the composer to the dialog. */
  | { readonly type: 'write'; readonly what: AskForm['writing']; readonly start: string }
  | { readonly type: 'details' | 'view' | 'back' | 'edit_proposal' | 'list' }
  | { readonly type: 'answer_several'; readonly ids: readonly string[] }
  | { readonly type: 'choose'; readonly choice: number }
  | { readonly type: 'skip' };

/** `line` options stand alone, `shared` ones side by side where there is room. */
export type DialogOption = {
  readonly key: string;
  readonly label: string;
  readonly act: DialogAct;
  readonly place: 'line' | 'shared';
};

/** The ways to answer, in the order they are shown. Letters never move. */
export function dialogOptions(ask: Ask, form: AskForm): readonly DialogOption[] {
  return ask.kind === 'permission' ? permissionOptions(ask.request) : questionOptions(ask.question, form);
}

function permissionOptions(request: PermissionRequest): readonly DialogOption[] {
  return [
    shared('y', 'once', allow()),
    ...(request.danger === 'none' ? alwaysOptions(request) : []),
    ...editOptions(request),
    shared('n', 'no', { type: 'answer_permission', answer: { behavior: 'deny' } }),
    shared('t', 'no, and tell it why', { type: 'write', what: 'reason', start: '' }),
    ...(request.facts.kind === 'edit'
      ? [shared('v', 'whole diff', { type: 'view' }), shared('e', 'edit first', { type: 'edit_proposal' })]
      : []),
    shared('d', 'details', { type: 'details' }),
  ];
}

/** What would end the asking, with the exact rules it would leave behind. */
function alwaysOptions({ facts, suggestions }: PermissionRequest): readonly DialogOption[] {
  if (facts.kind === 'edit') return [shared('a', 'all edits this session', allow({ mode: 'acceptEdits' }))];
  const rules = suggestions.map(({ rule }) => rule);
  const server = facts.kind === 'mcp' ? /^mcp__.+?(?=__)/.exec(facts.tool)?.[0] : undefined;
  const [first] = suggestions;
  const ask = / parts$/.test(first?.leaves ?? '') ? 'ask' : 'asks';
  const still = first?.leaves === undefined ? '' : `  (${first.leaves} still ${ask})`;
  const remember = (list: readonly string[]) => allow({ remember: { rules: list, destination: 'local' } });
  return [
    ...(rules.length === 0 ? [] : [line('a', `always in this project:  ${rules.join('  ')}${still}`, remember(rules))]),
    ...(server === undefined ? [] : [line('A', `always, all of the server:  ${server}`, remember([server]))]),
    ...(rules.length === 0
      ? []
      : [shared('r', 'always, by a rule of yours', { type: 'write', what: 'rule', start: rules[0] ?? '' })]),
  ];
}

function editOptions({ facts }: PermissionRequest): readonly DialogOption[] {
  return facts.kind === 'shell' && facts.command !== undefined
    ? [shared('e', 'edit the command', { type: 'write', what: 'command', start: facts.command })]
    : [];
}

function questionOptions(question: UserQuestion, form: AskForm): readonly DialogOption[] {
  switch (question.kind) {
    case 'plan':
      return [
        shared('y', 'yes, ask before edits', plan('accept')),
        shared('a', 'yes, accept edits', plan('accept_edits')),
        shared('e', 'change the plan', { type: 'write', what: 'plan', start: question.plan }),
        shared('t', 'tell it what to change', { type: 'write', what: 'reason', start: '' }),
        shared('n', 'keep planning', plan('keep_planning')),
      ];
    case 'elicitation':
      return [
        shared('y', 'accept', { type: 'write', what: 'own_words', start: '' }),
        shared('n', 'decline', { type: 'answer_question', answer: { kind: 'elicitation', action: 'decline' } }),
      ];
    default: {
      const asked = question.questions[form.question];
      const choices = (asked?.options ?? []).map(({ label, description }, at): DialogOption => {
        const mark = asked?.multiSelect === true ? (form.marked.includes(at) ? '[x] ' : '[ ] ') : '';
        const words = `${mark}${label}${description === undefined ? '' : `: ${description}`}`;
        return line(String(at + 1), words, { type: 'choose', choice: at });
      });
      return [
        ...choices.slice(0, 9),
        shared('o', 'own words', { type: 'write', what: 'own_words', start: '' }),
        shared('s', 'skip', { type: 'skip' }),
        ...(form.question === 0 ? [] : [shared('b', 'back', { type: 'back' })]),
      ];
    }
  }
}

function shared(key: string, label: string, act: DialogAct): DialogOption {
  return { key, label, act, place: 'shared' };
}

function line(key: string, label: string, act: DialogAct): DialogOption {
  return { key, label, act, place: 'line' };
}

function allow(more: Omit<Extract<PermissionAnswer, { behavior: 'allow' }>, 'behavior'> = {}): DialogAct {
  return { type: 'answer_permission', answer: { behavior: 'allow', ...more } };
}

function plan(verdict: 'accept' | 'accept_edits' | 'keep_planning'): DialogAct {
  return { type: 'answer_question', answer: { kind: 'plan', verdict } };
}
