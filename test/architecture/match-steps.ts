/** A part of a regular expression. */
export type Part =
  | { readonly kind: 'set'; readonly matches: (code: number) => boolean }
  | { readonly kind: 'edge'; readonly source: string }
  | { readonly kind: 'back'; readonly group: string }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Part[] }
  | { readonly kind: 'group'; readonly names: readonly string[]; readonly part: Part }
  | { readonly kind: 'look'; readonly isBehind: boolean; readonly isNegated: boolean; readonly part: Part }
  | {
      readonly kind: 'loop';
      readonly part: Part;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
    };

const ATOM =
  /(?<open>\((?:\?(?:[:=!]|<[=!]|<(?<name>\w+)>))?)|(?<edge>[\^$]|\\[bB])|\\(?:(?<back>[1-9]\d*)|k<(?<named>\w+)>)|\[(?:\\.|[^\]\\])*\]|\\(?:x\w\w|u\{\w+\}|u\w{4}|[pP]\{[^}]*\}|c\w|.)|[^)|]/suy;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y;

/** Parses a valid regular expression without set operations. */
export function parsePattern({ source, flags }: RegExp): Part {
  const setFlags = flags.replace(/[gmyd]/g, '');
  let at = 0;
  let groups = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    at += match?.[0].length ?? 0;
    return match;
  };
  const parseChoice = (): Part => {
    const options = [parseSequence()];
    for (; source[at] === '|'; options.push(parseSequence())) at += 1;
    return { kind: 'choice', parts: options };
  };
  const parseSequence = (): Part => {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = parseAtom();
      const [quantifier, sign, min, comma, max, lazy] = take(QUANTIFIER) ?? [];
      const from = sign === undefined ? Number(min) : sign === '+' ? 1 : 0;
      const to = sign === undefined ? (comma === '' ? from : Number(max) || Infinity) : sign === '?' ? 1 : Infinity;
      parts.push(quantifier === undefined ? part : { kind: 'loop', part, min: from, max: to, isLazy: lazy === '?' });
    }
    return { kind: 'sequence', parts };
  };
  const parseAtom = (): Part => {
    const match = take(ATOM);
    if (match === null) throw new Error(`cannot parse ${source} at ${at}`);
    const { open, name, edge, back, named } = match.groups ?? {};
    if (edge !== undefined) return { kind: 'edge', source: edge };
    if (back !== undefined || named !== undefined) return { kind: 'back', group: back ?? named ?? '' };
    if (open === undefined) return { kind: 'set', matches: createSet(match[0], setFlags) };
    const isCapture = open === '(' || name !== undefined;
    if (isCapture) groups += 1;
    const names = isCapture ? [String(groups), ...(name === undefined ? [] : [name])] : [];
    const part = parseChoice();
    at += 1;
    return /[=!]$/.test(open)
      ? { kind: 'look', isBehind: open.includes('<'), isNegated: open.endsWith('!'), part }
      : { kind: 'group', names, part };
  };
  return parseChoice();
}

/** Asks the real engine once for each character, so that cases and Unicode properties count as they do there. */
function createSet(source: string, flags: string): (code: number) => boolean {
  const pattern = new RegExp(`^${/^[{}]$/.test(source) ? `\\${source}` : source}$`, flags);
  const ask = (code: number): boolean => pattern.test(String.fromCharCode(code));
  const known = new Int8Array(256);
  return (code) => {
    if (code > 255) return ask(code);
    if (known[code] === 0) known[code] = ask(code) ? 1 : -1;
    return known[code] === 1;
  };
}

type Instruction =
  | { readonly op: 'set'; readonly matches: (code: number) => boolean; readonly step: 1 | -1 }
  | { readonly op: 'edge'; readonly source: string }
  | { readonly op: 'back'; readonly group: string; readonly step: 1 | -1 }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'save' | 'moved'; readonly register: string }
  | { readonly op: 'look'; readonly isNegated: boolean; after: number }
  | { readonly op: 'accept' };

/** Compiles a pattern for a backtracking machine, as the engines of JavaScript have one. */
function compile(part: Part, needsGroups: boolean): readonly Instruction[] {
  const code: Instruction[] = [];
  const emit = (part: Part, step: 1 | -1): void => {
    switch (part.kind) {
      case 'set':
        code.push({ op: 'set', matches: part.matches, step });
        return;
      case 'edge':
        code.push({ op: 'edge', source: part.source });
        return;
      case 'back':
        code.push({ op: 'back', group: part.group, step });
        return;
      case 'sequence':
        for (const one of step === 1 ? part.parts : part.parts.toReversed()) emit(one, step);
        return;
      case 'choice':
        emitChoice(part.parts, step);
        return;
      case 'group': {
        if (!needsGroups) {
          emit(part.part, step);
          return;
        }
        const ends = step === 1 ? ['<', '>'] : ['>', '<'];
        for (const name of part.names) code.push({ op: 'save', register: `${ends[0]}${name}` });
        emit(part.part, step);
        for (const name of part.names) code.push({ op: 'save', register: `${ends[1]}${name}` });
        return;
      }
      case 'look': {
        const look: Instruction = { op: 'look', isNegated: part.isNegated, after: 0 };
        code.push(look);
        emit(part.part, part.isBehind ? -1 : 1);
        code.push({ op: 'accept' });
        look.after = code.length;
        return;
      }
      case 'loop':
        emitLoop(part, step);
    }
  };
  const emitChoice = (options: readonly Part[], step: 1 | -1): void => {
    const jumps = options.map((option, index) => {
      const split: Instruction = { op: 'split', first: code.length + 1, second: 0 };
      if (index < options.length - 1) code.push(split);
      emit(option, step);
      const jump: Instruction = { op: 'jump', to: 0 };
      if (index < options.length - 1) code.push(jump);
      split.second = code.length;
      return jump;
    });
    for (const jump of jumps) jump.to = code.length;
  };
  const emitLoop = ({ part, min, max, isLazy }: Part & { readonly kind: 'loop' }, step: 1 | -1): void => {
    for (let count = 0; count < min; count += 1) emit(part, step);
    const splits: { first: number; second: number }[] = [];
    for (let count = min; count < (max === Infinity ? min + 1 : max); count += 1) {
      const from = code.length;
      const split: Instruction = { op: 'split', first: from + 1, second: from + 1 };
      const isNeverEmpty = part.kind === 'set';
      splits.push(split);
      code.push(split);
      if (!isNeverEmpty) code.push({ op: 'save', register: `@${from}` });
      emit(part, step);
      if (!isNeverEmpty) code.push({ op: 'moved', register: `@${from}` });
      if (max === Infinity) code.push({ op: 'jump', to: from });
    }
    for (const split of splits) split[isLazy ? 'first' : 'second'] = code.length;
  };
  emit(part, 1);
  code.push({ op: 'accept' });
  return code;
}

type Choice = { readonly pc: number; readonly at: number };
type Written = { readonly register: string; readonly before: number | undefined };

/** Returns a function that counts the steps in which a backtracking engine finds the matches in a text, up to a limit. */
export function createStepCounter(pattern: RegExp, part: Part): (text: string, limit: number) => number {
  const code = compile(part, /\\[1-9k]/.test(pattern.source));
  return (text, limit) => {
    let steps = 0;
    const registers = new Map<string, number | undefined>();
    const isLineEnd = (at: number) => pattern.multiline && /^[\n\r\u2028\u2029]$/.test(text[at] ?? '');
    const isWord = (at: number) => /^\w$/.test(text[at] ?? '');
    const holds = (edge: string, at: number): boolean => {
      if (edge === '^') return at === 0 || isLineEnd(at - 1);
      if (edge === '$') return at === text.length || isLineEnd(at);
      return (isWord(at - 1) !== isWord(at)) === (edge === '\\b');
    };
    const captured = (group: string): string =>
      text.slice(registers.get(`<${group}`) ?? 0, registers.get(`>${group}`) ?? 0);

    /** Returns the end of the match at a position, or -1. */
    const run = (start: number, from: number): number => {
      const choices: (Choice | Written)[] = [];
      let [pc, at] = [start, from];
      while (steps < limit) {
        const one = code[pc];
        if (one === undefined || one.op === 'accept') return at;
        let isFitting = true;
        steps += 1;
        pc += 1;
        switch (one.op) {
          case 'set':
            isFitting = one.matches(text.charCodeAt(one.step === 1 ? at : at - 1));
            at += one.step;
            break;
          case 'edge':
            isFitting = holds(one.source, at);
            break;
          case 'back': {
            const again = captured(one.group);
            steps += again.length;
            isFitting = text.startsWith(again, one.step === 1 ? at : at - again.length);
            at += one.step * again.length;
            break;
          }
          case 'split':
            choices.push({ pc: one.second, at });
            pc = one.first;
            break;
          case 'jump':
            pc = one.to;
            break;
          case 'save':
            choices.push({ register: one.register, before: registers.get(one.register) });
            registers.set(one.register, at);
            break;
          case 'moved':
            isFitting = registers.get(one.register) !== at;
            break;
          case 'look':
            isFitting = (run(pc, at) !== -1) !== one.isNegated;
            pc = one.after;
        }
        if (isFitting) continue;
        let choice = choices.pop();
        for (; choice !== undefined && 'register' in choice; choice = choices.pop())
          registers.set(choice.register, choice.before);
        if (choice === undefined) return -1;
        ({ pc, at } = choice);
      }
      return -1;
    };
    for (let at = 0; at <= text.length && steps < limit; ) {
      const end = run(0, at);
      if (end === -1 ? pattern.sticky : !pattern.global && !pattern.sticky) break;
      at = end === -1 || end === at ? at + 1 : end;
    }
    return steps;
  };
}
