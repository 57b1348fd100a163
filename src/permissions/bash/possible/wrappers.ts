import { exactProgram, programOf } from '../programs.ts';

/** Every word from which another command may start. Generous: an option nobody knows may or may not take a value. */
export function wrappedStarts(argv: readonly string[]): readonly number[] {
  const wrapper = programOf(argv[0] ?? '').wraps;
  if (wrapper === undefined) return [];
  const starts = new Set<number>();
  let operands = wrapper.operands;
  for (let at = 1; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (/^[A-Za-z_]\w*=/.test(word) && operands === 0) continue;
    if (word.startsWith('-') && word !== '-') {
      const takesNext = !word.startsWith('--') && word.length === 2;
      if (takesNext && !wrapper.valued.includes(word.charAt(1))) starts.add(at + 1);
      if (takesNext || (word.startsWith('--') && !word.includes('='))) {
        starts.add(at + 1);
        if (wrapper.valued.includes(word.charAt(1)) || wrapper.longValued?.includes(word.slice(2)) === true) at += 1;
      }
      continue;
    }
    if (operands > 0) {
      operands -= 1;
      continue;
    }
    starts.add(at);
    break;
  }
  return [...starts].filter((start) => start < argv.length);
}

/** Where the command starts behind wrappers whose every option is known; 0 without a wrapper, `undefined` if unclear. */
export function safelyPeeled(argv: readonly string[]): number | undefined {
  let start = 0;
  for (let depth = 0; depth < 4; depth += 1) {
    const wrapper = exactProgram(argv[start] ?? '').wraps;
    if (wrapper?.safe === undefined) return start;
    let at = start + 1;
    for (; at < argv.length && (argv[at] ?? '').startsWith('-'); at += 1) {
      const option = argv[at] ?? '';
      if (option === '--') {
        at += 1;
        break;
      }
      if (!wrapper.safe.test(option)) return undefined;
      if (option.length === 2 && wrapper.valued.includes(option.charAt(1))) {
        at += 1;
        if (!/^-?[0-9A-Za-z.]+$/.test(argv[at] ?? '')) return undefined;
      }
    }
    if (wrapper.operands === 1) {
      if (!/^[0-9.]+[smhd]?$/.test(argv[at] ?? '')) return undefined;
      at += 1;
    }
    if (at >= argv.length) return undefined;
    start = at;
  }
  return undefined;
}
