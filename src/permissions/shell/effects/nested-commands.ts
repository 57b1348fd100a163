import { findProgramFacts, getExactProgramFacts } from '../programs/find-program-facts.ts';

const MAX_INNER = 50;

/** Returns the indexes where the command and each command nested in it start; all end at the last argument. */
export function findNestedCommandStarts(argv: readonly string[]): readonly number[] {
  const starts = new Set([0]);
  for (const outer of starts) {
    const rest = argv.slice(outer);
    for (const start of [...findWrappedCommandStarts(rest), ...findExecCommandStarts(rest)])
      if (starts.size <= MAX_INNER && outer + start < argv.length) starts.add(outer + start);
  }
  return [...starts];
}

/** Returns every index where a wrapped command may start. An unknown option is taken both with and without a value. */
export function findWrappedCommandStarts(argv: readonly string[]): readonly number[] {
  const wrapper = findProgramFacts(argv[0] ?? '').wrapper;
  if (wrapper === undefined) return [];
  const starts = new Set<number>();
  let operands = wrapper.operands;
  for (let index = 1; index < argv.length; index += 1) {
    const arg = argv[index] ?? '';
    if (/^[A-Za-z_]\w*=/.test(arg) && operands === 0) continue;
    if (arg.startsWith('-') && arg !== '-') {
      const takesNext = !arg.startsWith('--') && arg.length === 2;
      if (takesNext && !wrapper.valueLetters.includes(arg.charAt(1))) starts.add(index + 1);
      if (takesNext || (arg.startsWith('--') && !arg.includes('='))) {
        starts.add(index + 1);
        if (wrapper.valueLetters.includes(arg.charAt(1)) || wrapper.longValueOptions?.includes(arg.slice(2)) === true)
          index += 1;
      }
      continue;
    }
    if (operands > 0) {
      operands -= 1;
      continue;
    }
    starts.add(index);
    break;
  }
  return [...starts].filter((start) => start < argv.length);
}

/** Returns the index of the command behind wrappers with known options only: 0 without one, `undefined` if unclear. */
export function skipSafeWrappers(argv: readonly string[]): number | undefined {
  let start = 0;
  for (let depth = 0; depth < 4; depth += 1) {
    const wrapper = getExactProgramFacts(argv[start] ?? '').wrapper;
    if (wrapper?.safeOptions === undefined) return start;
    let index = start + 1;
    for (; index < argv.length && (argv[index] ?? '').startsWith('-'); index += 1) {
      const option = argv[index] ?? '';
      if (option === '--') {
        index += 1;
        break;
      }
      if (!wrapper.safeOptions.test(option)) return undefined;
      if (option.length === 2 && wrapper.valueLetters.includes(option.charAt(1))) {
        index += 1;
        if (!/^-?[0-9A-Za-z.]+$/.test(argv[index] ?? '')) return undefined;
      }
    }
    if (wrapper.operands === 1) {
      if (!/^[0-9.]+[smhd]?$/.test(argv[index] ?? '')) return undefined;
      index += 1;
    }
    if (index >= argv.length) return undefined;
    start = index;
  }
  return undefined;
}

/** True if a program runs its arguments or its input as shell commands. */
export function runsShellScripts(name: string): boolean {
  const { isShell, runsShellCommands } = findProgramFacts(name);
  return isShell === true || runsShellCommands === true;
}

/** Returns the indexes of arguments that start a command: `find … -exec cmd`, `git bisect run cmd`. */
export function findExecCommandStarts(argv: readonly string[]): readonly number[] {
  const { commandMarkers = [] } = findProgramFacts(argv[0] ?? '');
  return argv.flatMap((arg, index) => (index > 0 && commandMarkers.includes(arg) ? [index + 1] : []));
}

/** Lists the arguments that a program would run as a shell script. */
export function listInlineScripts(argv: readonly string[]): readonly string[] {
  // A single argument in place of a command goes to a shell as a whole: `git rebase -x 'cat a'`, `xterm -e 'cat a'`.
  const execWords = findExecCommandStarts(argv).flatMap((index) => argv[index] ?? []);
  return [...execWords.filter((word) => /\s/.test(word)), ...listOwnScripts(argv)];
}

function listOwnScripts([name = '', ...args]: readonly string[]): readonly string[] {
  const { scriptOptions = [] } = findProgramFacts(name);
  return [...listOptionScripts(scriptOptions, args), ...listScriptsByForm(name, args)];
}

function listScriptsByForm(name: string, args: readonly string[]): readonly string[] {
  const { inlineScripts, scriptOptions, runsShellCommands } = findProgramFacts(name);
  switch (inlineScripts) {
    case 'scripts':
      return args.filter((arg) => !/^[-+]\w*$/.test(arg));
    case 'joined':
      return [args.join(' '), ...args, ...args.map((arg) => arg.replace(/^[A-Za-z]+=/, ''))];
    case 'assigned':
      return args.map((arg) => arg.replace(/^[^=]*=/, ''));
    case 'split-string':
      return args.flatMap((arg, index) => {
        const glued = /^(?:-\w*S|--s[a-z-]*=)(.+)$/s.exec(arg)?.[1];
        return glued ?? (/^(?:-\w*S|--s[a-z-]*)$/.test(args[index - 1] ?? '') ? arg : []);
      });
    case 'sed-command':
      return args.flatMap((arg) => /(?:^|[;\n\d$/])[^\S\n]*e\s+(.+)/s.exec(arg)?.[1] ?? []);
    case 'editor-command':
      return args.map((arg) => arg.replace(/^\+?[:!\s]*!?/, ''));
    case 'settings':
      return [
        ...args.flatMap((arg) => /=!?(.*)/s.exec(arg)?.[1] ?? []),
        // `config alias.x '!cat a'`
        ...args.flatMap((arg) => /^!(.*)/s.exec(arg)?.[1] ?? []),
      ];
    case 'addresses':
      return args.flatMap((arg) => /^(?:EXEC|SYSTEM|SHELL):(.*)/is.exec(arg)?.[1] ?? []);
    case 'calls':
      return args.flatMap(listSystemCalls);
    default:
      return runsShellCommands === true && scriptOptions === undefined ? args.filter((arg) => /\s/.test(arg)) : [];
  }
}

/** Returns the scripts in option values, however the option is abbreviated, combined or glued. */
function listOptionScripts(options: readonly string[], args: readonly string[]): readonly string[] {
  if (options.length === 0) return [];
  return args.flatMap((arg, index) => {
    const values = options.flatMap((option) => listOptionValues(option, arg, args[index + 1]));
    // `exec=command`, `ProxyCommand=command`.
    return values.flatMap((value) => [value, value.replace(/^[A-Za-z]+=/, '')]);
  });
}

function listOptionValues(option: string, arg: string, next: string | undefined): readonly string[] {
  if (arg === option) return next === undefined ? [] : [next];
  if (option.startsWith('--')) {
    const [name = '', ...value] = arg.split('=');
    if (name.length < 4 || !option.startsWith(name)) return [];
    return value.length > 0 ? [value.join('=')] : next === undefined ? [] : [next];
  }
  const letter = option.length === 2 ? option.charAt(1) : '';
  const position = letter !== '' && /^-\w/.test(arg) ? arg.indexOf(letter, 1) : -1;
  if (position === -1 || !/^-[A-Za-z]*$/.test(arg.slice(0, position))) return [];
  const glued = arg.slice(position + 1);
  return glued === '' ? (next === undefined ? [] : [next]) : [glued];
}

/** Returns the commands of calls like `system("rm x")`; computed commands are missed. */
function listSystemCalls(text: string): readonly string[] {
  return [
    ...text.matchAll(
      /(?:system|exec|execSync|popen|spawn|run|qx|call|check_output)\s*(?:\(\s*)?(["'`])((?:(?!\1).)*)\1/gs,
    ),
  ].map((match) => match[2] ?? '');
}

/** Returns the placeholders for names in the arguments of a command: `{}`, or those that its options define. */
export function listArgPlaceholders(argv: readonly string[]): readonly string[] {
  const { inputBecomes, lists } = findProgramFacts(argv[0] ?? '');
  // A program that searches files itself knows `{/}` and similar placeholders too.
  if (inputBecomes === undefined)
    return findExecCommandStarts(argv).length === 0 ? [] : lists === undefined ? ['{}'] : ['{}', '{'];
  const tokens = argv.flatMap(
    (arg, index) =>
      /^(?:-[iIJ]|--replace=)(.+)$/.exec(arg)?.[1] ?? (/^-[IJ]$/.test(arg) ? argv[index + 1] : undefined) ?? [],
  );
  return [...tokens.filter((token) => token !== ''), '{}', ...(inputBecomes === 'operands' ? [] : ['{'])];
}
