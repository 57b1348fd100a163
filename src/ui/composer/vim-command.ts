/** A command of normal or visual mode, read from the keys pressed so far. */
export type VimCommand = {
  readonly count: number | undefined;
  readonly operator: VimOperator | undefined;
  /** A motion, a text object (`iw`), a line (the operator again) or a command of its own. */
  readonly target: string;
};

export type VimOperator = 'd' | 'c' | 'y';

const PARTS = /^([1-9]\d*)?([dcy](?!$))?([1-9]\d*)?(.*)$/su;
const MOTION = /^(?:gg|[hjklwbe0^$G;,]|[fFtT].)$/su;
const OBJECT = /^[ia][wp"'`()[\]{}b]$/;
const COMMAND = /^(?:[iaIAoOxXDCYsSpPuvV.]|r.)$/su;
const SELECTION_COMMAND = /^[dcyxXsvV]$/;

/** Reads keys; `undefined` while more are needed, `nonsense` when no command begins like this. */
export function readVimCommand(keys: string, mode: 'normal' | 'visual'): VimCommand | 'nonsense' | undefined {
  const [, outer, operator, inner, target = ''] = PARTS.exec(keys) ?? [];
  const count = outer === undefined && inner === undefined ? undefined : Number(outer ?? 1) * Number(inner ?? 1);
  if (target === '') return undefined;
  if (isOperator(operator)) {
    if (MOTION.test(target) || OBJECT.test(target) || target === operator) return { count, operator, target };
    return /^[fFtTgia]$/.test(target) ? undefined : 'nonsense';
  }
  const isCommand = mode === 'normal' ? COMMAND.test(target) : SELECTION_COMMAND.test(target) || OBJECT.test(target);
  if (isCommand || MOTION.test(target)) return { count, operator: undefined, target };
  return (mode === 'normal' ? /^[fFtTrgdcy]$/ : /^[fFtTgia]$/).test(target) ? undefined : 'nonsense';
}

function isOperator(key: string | undefined): key is VimOperator {
  return key === 'd' || key === 'c' || key === 'y';
}
