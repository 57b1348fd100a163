/** Programs that run another program: how many plain words come before it, and which options take a value. */
type Wrapper = {
  readonly operands: number;
  readonly valued: string;
  readonly safe?: RegExp;
  readonly longValued?: readonly string[];
};

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  timeout: {
    operands: 1,
    valued: 'ks',
    longValued: ['kill-after', 'signal'],
    safe: /^(?:-[ks]|-[ks]?[0-9A-Z]+[smhd]?|--foreground|--preserve-status|-v|--verbose|--(?:kill-after|signal)=[0-9A-Za-z]+)$/,
  },
  gtimeout: { operands: 1, valued: 'ks', longValued: ['kill-after', 'signal'] },
  time: { operands: 0, valued: 'fo', safe: /^-[pv]$/ },
  nice: { operands: 0, valued: 'n', longValued: ['adjustment'], safe: /^(?:-n|-n-?\d+|-\d+|--adjustment=-?\d+)$/ },
  nohup: { operands: 0, valued: '' },
  stdbuf: {
    operands: 0,
    valued: 'ioe',
    longValued: ['input', 'output', 'error'],
    safe: /^(?:-[ioe]|-[ioe][0L]|--(?:input|output|error)=[0L])$/,
  },
  ionice: { operands: 0, valued: 'cnpPu' },
  chrt: { operands: 1, valued: 'TPD' },
  taskset: { operands: 1, valued: 'p' },
  setsid: { operands: 0, valued: '' },
  sudo: { operands: 0, valued: 'ugpChDRTU' },
  doas: { operands: 0, valued: 'uC' },
  env: { operands: 0, valued: 'uCS', longValued: ['unset', 'chdir'] },
  command: { operands: 0, valued: '' },
  builtin: { operands: 0, valued: '' },
  exec: { operands: 0, valued: 'a' },
  xargs: {
    operands: 0,
    valued: 'aEdIiLlnPs',
    longValued: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'max-lines'],
  },
  watch: { operands: 0, valued: 'nq' },
  strace: { operands: 0, valued: 'eopsuaEIOPSUX' },
  ltrace: { operands: 0, valued: 'eopsuaAlnx' },
  unshare: { operands: 0, valued: 'SGRw' },
  nsenter: { operands: 0, valued: 'tSGrw' },
  chroot: { operands: 1, valued: '' },
  flock: { operands: 1, valued: 'wE' },
  busybox: { operands: 0, valued: '' },
  toybox: { operands: 0, valued: '' },
  parallel: { operands: 0, valued: 'jIaNnLSCd' },
  script: { operands: 0, valued: 'cEIOoTB' },
  npx: { operands: 0, valued: 'pcw', longValued: ['package'] },
  bunx: { operands: 0, valued: 'p' },
  pnpx: { operands: 0, valued: '' },
  uvx: { operands: 0, valued: '' },
  firejail: { operands: 0, valued: '' },
  bwrap: { operands: 0, valued: '' },
  proot: { operands: 0, valued: 'rbwq' },
  fakeroot: { operands: 0, valued: 'lsib' },
  caffeinate: { operands: 0, valued: 'tw' },
  catchsegv: { operands: 0, valued: '' },
  ssh: { operands: 1, valued: 'bcDEeFIiJLlmOopQRSWw' },
  'ssh-agent': { operands: 0, valued: 'aEtP' },
  'xvfb-run': { operands: 0, valued: 'efnpsw' },
  'systemd-run': { operands: 0, valued: 'pEHMtu' },
  'run-parts': { operands: 0, valued: '' },
  valgrind: { operands: 0, valued: '' },
  coproc: { operands: 0, valued: '' },
  '!': { operands: 0, valued: '' },
};

/** Every word from which another command may start. Generous: an option nobody knows may or may not take a value. */
export function wrappedStarts(argv: readonly string[]): readonly number[] {
  const name = nameOf(argv);
  // The loader runs the program it is given.
  const known = /^ld(?:-[\w-]+)?\.so(?:\.\d+)*$/.test(name) ? 'nohup' : name;
  const wrapper = Object.hasOwn(WRAPPERS, known) ? WRAPPERS[known] : undefined;
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
    const name = argv[start] ?? '';
    const wrapper = ['timeout', 'time', 'nice', 'nohup', 'stdbuf'].includes(name) ? WRAPPERS[name] : undefined;
    if (wrapper === undefined) return start;
    let at = start + 1;
    for (; at < argv.length && (argv[at] ?? '').startsWith('-'); at += 1) {
      const option = argv[at] ?? '';
      if (option === '--') {
        at += 1;
        break;
      }
      if (wrapper.safe?.test(option) !== true) return undefined;
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

function nameOf(argv: readonly string[]): string {
  return (argv[0] ?? '').replace(/^.*\//, '');
}
