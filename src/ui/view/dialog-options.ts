import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import type { Ask, AskForm } from './ask.ts';

/** What choosing an option does. */
export type DialogAct =
  | { readonly type: 'answer_permission'; readonly answer: PermissionAnswer }
  | { readonly type: 'answer_question'; readonly answer: UserAnswer | undefined }
  /** Lends the composer to the dialog. */
  | { readonly type: 'write'; readonly what: AskForm['writing']; readonly start: string }
  | { readonly type: 'details' }
  | { readonly type: 'choose'; readonly choice: number }
  | { readonly type: 'skip' };

export type DialogOption = { readonly key: string; readonly label: string; readonly act: DialogAct };

/** The ways to answer, in the order they are shown. Letters never move. */
export function dialogOptions(ask: Ask, form: AskForm): readonly DialogOption[] {
  return ask.kind === 'permission' ? permissionOptions(ask.request) : questionOptions(ask.question, form);
}

function permissionOptions(request: PermissionRequest): readonly DialogOption[] {
  const { suggestions, facts, danger } = request;
  const once: DialogOption = { key: 'y', label: 'yes, once', act: allow() };
  const rules = suggestions.map(({ rule }) => rule);
  const always: DialogOption[] = [];
  if (danger === 'none' && facts.kind === 'edit') {
    always.push({ key: 'a', label: 'yes, and all edits in this session', act: allow({ mode: 'acceptEdits' }) });
  } else if (danger === 'none' && rules.length > 0) {
    const label = `always in this project:  ${rules.join('  ')}`;
    always.push({ key: 'a', label, act: allow({ remember: { rules, destination: 'local' } }) });
    always.push({
      key: 'e',
      label: 'always, after editing the rule',
      act: { type: 'write', what: 'rule', start: rules[0] ?? '' },
    });
  }
  return [
    once,
    ...always,
    { key: 'n', label: 'no', act: { type: 'answer_permission', answer: { behavior: 'deny' } } },
    { key: 't', label: 'no, and tell it why', act: { type: 'write', what: 'reason', start: '' } },
    { key: 'd', label: 'details', act: { type: 'details' } },
  ];
}

function questionOptions(question: UserQuestion, form: AskForm): readonly DialogOption[] {
  switch (question.kind) {
    case 'plan':
      return [
        { key: 'y', label: 'yes, ask before edits', act: plan('accept') },
        { key: 'a', label: 'yes, accept edits', act: plan('accept_edits') },
        { key: 't', label: 'tell it what to change', act: { type: 'write', what: 'reason', start: '' } },
        { key: 'n', label: 'keep planning', act: plan('keep_planning') },
      ];
    case 'elicitation':
      return [
        { key: 'y', label: 'accept', act: { type: 'write', what: 'own_words', start: '' } },
        {
          key: 'n',
          label: 'decline',
          act: { type: 'answer_question', answer: { kind: 'elicitation', action: 'decline' } },
        },
      ];
    default: {
      const asked = question.questions[form.question];
      const choices = (asked?.options ?? []).map(({ label, description }, at): DialogOption => {
        const mark = asked?.multiSelect === true ? (form.marked.includes(at) ? '[x] ' : '[ ] ') : '';
        return {
          key: String(at + 1),
          label: `${mark}${label}${description === undefined ? '' : `: ${description}`}`,
          act: { type: 'choose', choice: at },
        };
      });
      return [
        ...choices.slice(0, 9),
        { key: 'o', label: 'own words', act: { type: 'write', what: 'own_words', start: '' } },
        { key: 's', label: 'skip', act: { type: 'skip' } },
      ];
    }
  }
}

function allow(more: Omit<Extract<PermissionAnswer, { behavior: 'allow' }>, 'behavior'> = {}): DialogAct {
  return { type: 'answer_permission', answer: { behavior: 'allow', ...more } };
}

function plan(verdict: 'accept' | 'accept_edits' | 'keep_planning'): DialogAct {
  return { type: 'answer_question', answer: { kind: 'plan', verdict } };
}
