import type {
  PermissionAnswer,
  PermissionRequest,
  RememberDestination,
  RuleSuggestion,
} from '../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import type { Ask, AskForm } from './ask.ts';
import { askedParts, MOST_CHOICES, wholeAnswer } from './asked-parts.ts';

/** What choosing an option does. */
export type DialogAct =
  | { readonly type: 'answer_permission'; readonly answer: PermissionAnswer }
  | { readonly type: 'answer_question'; readonly answer: UserAnswer | undefined }
  /** Lends the composer to the dialog. */
  | { readonly type: 'write'; readonly what: AskForm['writing']; readonly start: string }
  | { readonly type: 'details' | 'view' | 'back' | 'edit_proposal' | 'list' }
  | { readonly type: 'answer_several'; readonly ids: readonly string[] }
  | { readonly type: 'choose'; readonly choice: number }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'skip' };

/** A way to answer; an `aside` stands among the keys below the others. Letters never move. */
export type DialogOption = {
  readonly key: string;
  readonly label: string;
  readonly act: DialogAct;
  readonly place: 'line' | 'aside';
  /** What it is about, in a colour of its own, and what it leaves out. */
  readonly about?: string;
  readonly note?: string;
};

/** The ways to answer, in the order they are shown. */
export function dialogOptions(ask: Ask, form: AskForm): readonly DialogOption[] {
  return ask.kind === 'permission' ? permissionOptions(ask.request) : questionOptions(ask.question, form);
}

/** The option that a key means: its letter, or its place among the lines. */
export function optionOfKey(options: readonly DialogOption[], chord: string): DialogOption | undefined {
  const named = options.find(({ key }) => key === chord);
  return named ?? (/^[1-9]$/.test(chord) ? linesOf(options)[Number(chord) - 1] : undefined);
}

/** The options that stand on lines of their own: the cursor goes from one to the next. */
export function linesOf(options: readonly DialogOption[]): readonly DialogOption[] {
  return options.filter(({ place }) => place === 'line');
}

/** The option that is under the cursor at once: never one that could do harm. */
export function preselected(ask: Ask, form: AskForm): number | undefined {
  if (ask.kind === 'question') return ask.question.kind === 'elicitation' ? presetOf(ask.question, form) : 0;
  const { danger, concealed, targets, risks = [] } = ask.request;
  const isHarmful = risks.some(({ kind }) => kind !== 'runs_project' && kind !== 'network');
  return danger === 'none' && concealed === 'none' && targets.length === 0 && !isHarmful ? 0 : undefined;
}

/** In a form the cursor stands on what the field has by itself, or on the first: nothing goes before it was seen as a whole. */
function presetOf(question: UserQuestion, form: AskForm): number | undefined {
  const asked = askedParts(question)[form.question];
  if (asked === undefined) return undefined;
  return Math.max(
    0,
    asked.options.findIndex(({ answer }) => answer === asked.skip?.answer),
  );
}

function permissionOptions(request: PermissionRequest): readonly DialogOption[] {
  const { facts, danger } = request;
  const whole = facts.kind === 'shell' ? 'whole command' : facts.kind === 'edit' ? 'whole diff' : 'all of it';
  return [
    line('y', 'Yes, once', allow()),
    ...(danger === 'none' ? alwaysOptions(request) : []),
    line('n', 'No, and tell it what to do instead', { type: 'write', what: 'reason', start: '' }),
    ...editOptions(request),
    aside('v', whole, { type: 'view' }),
    ...(danger === 'none' && request.suggestions.length > 0
      ? [aside('r', 'a rule of yours', { type: 'write', what: 'rule', start: request.suggestions[0]?.rule ?? '' })]
      : []),
    aside('d', 'why', { type: 'details' }),
  ];
}

/** What would end the asking, with what it would leave behind. */
function alwaysOptions(request: PermissionRequest): readonly DialogOption[] {
  const { facts, suggestions } = request;
  if (facts.kind === 'edit') return [line('a', 'Yes, and all edits until I leave', allow({ mode: 'acceptEdits' }))];
  const rules = suggestions.map(({ rule }) => rule);
  const server = facts.kind === 'mcp' ? /^mcp__.+?(?=__)/.exec(facts.tool)?.[0] : undefined;
  const [first] = suggestions;
  const ask = / parts$/.test(first?.leaves ?? '') ? 'ask' : 'asks';
  const here: DialogOption = {
    ...line('a', 'Yes, and do not ask again here for', remember(rules, 'local')),
    about: suggestions.map(ruleWords).join(', '),
    ...(first?.leaves === undefined ? {} : { note: `(${first.leaves.replace(/^the | part$/g, '')} still ${ask})` }),
  };
  const all = {
    ...line('A', 'Yes, and never for all of the server', remember([server ?? ''], 'local')),
    about: server ?? '',
  };
  return [
    ...(rules.length === 0 ? [] : [here]),
    ...programOption(request),
    ...exactOptions(request),
    ...(server === undefined ? [] : [all]),
  ];
}

/** What is opened is opened to the programs of this line alone. */
function programOption({ ofPrograms }: PermissionRequest): readonly DialogOption[] {
  if (ofPrograms === undefined) return [];
  const { names, rules } = ofPrograms;
  return [
    { ...line('p', 'Yes, and the same here for no program but', remember(rules, 'local')), about: names.join(', ') },
  ];
}

/** Just this line: until one leaves, and where no wider rule is offered and it does no harm, for good. */
function exactOptions({ exact, narrow, suggestions }: PermissionRequest): readonly DialogOption[] {
  if (exact === undefined) return [];
  const why = narrow === undefined ? {} : { note: `(no wider rule: ${narrow})` };
  const lasts = exact.keep === 'always' && suggestions.length === 0;
  const here = {
    ...line('a', 'Yes, and do not ask again here for this line', remember([exact.rule], 'local')),
    ...why,
  };
  const now = line('s', 'Yes to this exact line until I leave', remember([exact.rule], 'session'));
  return lasts ? [here, now] : [{ ...now, ...why }];
}

function remember(rules: readonly string[], destination: RememberDestination): DialogAct {
  return allow({ remember: { rules, destination } });
}

/** What a rule covers: a command as it would be typed, files in words. */
function ruleWords({ rule, covers }: RuleSuggestion): string {
  const inner = /^Bash\((.*?)(:\*)?\)$/s.exec(rule);
  if (inner !== null) return `${inner[1] ?? ''}${inner[2] === undefined ? '' : ' …'}`;
  // Two slashes begin a path that is not one of the project.
  return /^(?:reading|changing|writing) [^;]+/.exec(covers)?.[0] ?? rule.replace('(//', '(/');
}

function editOptions({ facts }: PermissionRequest): readonly DialogOption[] {
  if (facts.kind === 'edit') return [aside('e', 'edit first', { type: 'edit_proposal' })];
  return facts.kind === 'shell' && facts.command !== undefined
    ? [aside('e', 'edit', { type: 'write', what: 'command', start: facts.command })]
    : [];
}

function questionOptions(question: UserQuestion, form: AskForm): readonly DialogOption[] {
  switch (question.kind) {
    case 'plan':
      return [
        line('y', 'Yes, and ask before edits', plan('accept')),
        line('a', 'Yes, and edit without asking', plan('accept_edits')),
        line('t', 'No, and tell it what to change', { type: 'write', what: 'reason', start: '' }),
        line('n', 'No, keep planning', plan('keep_planning')),
        aside('e', 'change the plan', { type: 'write', what: 'plan', start: question.plan }),
        aside('v', 'whole plan', { type: 'view' }),
      ];
    case 'elicitation':
      return question.wants.mode === 'url'
        ? [
            line('y', 'Yes, I open this address', ACCEPTED),
            DECLINE,
            aside('c', 'copies it', { type: 'copy', text: question.wants.url }),
            ALL_OF_IT,
          ]
        : [...formOptions(question, form), DECLINE];
    default:
      return partOptions(question, form);
  }
}

const ACCEPTED: DialogAct = { type: 'answer_question', answer: { kind: 'elicitation', action: 'accept', content: {} } };
const DECLINE = line('n', 'Decline', { type: 'answer_question', answer: { kind: 'elicitation', action: 'decline' } });

/** A form is filled in part by part, and looked at as a whole before it goes. */
function formOptions(question: UserQuestion, form: AskForm): readonly DialogOption[] {
  const parts = askedParts(question);
  if (parts.length === 0) return [line('y', 'Accept', ACCEPTED)];
  if (form.question < parts.length) return partOptions(question, form);
  const answer = wholeAnswer(question, form.answers);
  return [line('y', 'Send it', { type: 'answer_question', answer }), BACK];
}

function partOptions(question: UserQuestion, form: AskForm): readonly DialogOption[] {
  const asked = askedParts(question)[form.question];
  if (asked === undefined) return [];
  const choices = asked.options.map(({ label, description }, at): DialogOption => {
    const mark = asked.multiSelect ? (form.marked.includes(at) ? '[x] ' : '[ ] ') : '';
    const option = line(String(at + 1), `${mark}${label}`, { type: 'choose', choice: at });
    return description === undefined ? option : { ...option, note: description };
  });
  const { ownWords, others = [], start, skip } = asked;
  const note = others.length === 0 ? {} : { note: others.join(', ') };
  return [
    ...choices.slice(0, MOST_CHOICES),
    ...(ownWords === undefined
      ? []
      : [{ ...line('o', ownWords, { type: 'write', what: 'own_words', start }), ...note }]),
    ...(skip === undefined ? [] : [aside('s', skip.label, { type: 'skip' })]),
    ...(form.question === 0 ? [] : [BACK]),
    ALL_OF_IT,
  ];
}

function aside(key: string, label: string, act: DialogAct): DialogOption {
  return { key, label, act, place: 'aside' };
}

function line(key: string, label: string, act: DialogAct): DialogOption {
  return { key, label, act, place: 'line' };
}

function allow(more: Omit<Extract<PermissionAnswer, { behavior: 'allow' }>, 'behavior'> = {}): DialogAct {
  return { type: 'answer_permission', answer: { behavior: 'allow', ...more } };
}

const ALL_OF_IT = aside('v', 'all of it', { type: 'view' });
const BACK = aside('b', 'back', { type: 'back' });

function plan(verdict: 'accept' | 'accept_edits' | 'keep_planning'): DialogAct {
  return { type: 'answer_question', answer: { kind: 'plan', verdict } };
}
