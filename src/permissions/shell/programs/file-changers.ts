import { splitWords } from '../../../lib/text/lines.ts';
import { defineProgramFacts, type ProgramFacts, type ProgramFactsByName } from './program-facts.ts';
import { createArchiveAnalysis } from './read-only-grammars.ts';

/** Creates, changes or removes its operands. */
const WRITES_OPERANDS: ProgramFacts = { writes: 'operands' };
const NO_RULE: ProgramFacts = { suggest: 'never' };
const EDITOR: ProgramFacts = {
  inlineScripts: 'editor-command',
  interpreter: { hasUnquotedPaths: true, codeOptions: /^(?:-c|--cmd|-S|-s|-\w*s|-l\w*|--eval|-u|-U|\+\D.*)$/s },
};
const OWNERSHIP: ProgramFacts = { writes: 'after-first', changesRecursively: 'recursive-flag' };

/** Programs that change files or use the network. */
export const createFileChangers = (): ProgramFactsByName => ({
  rm: {
    ...WRITES_OPERANDS,
    ...NO_RULE,
    opensNoFiles: true,
    deletes: true,
    changesRecursively: 'recursive-flag',
    editOptions: /^(?:-[rRfvd]+|--(?:recursive|force|verbose|dir))$/,
  },
  ...defineProgramFacts('unlink shred', { ...WRITES_OPERANDS, deletes: true }),
  rmdir: { ...WRITES_OPERANDS, opensNoFiles: true },
  mkdir: { ...WRITES_OPERANDS, opensNoFiles: true, editOptions: /^(?:-p|-v|-pv|-vp|--parents|--verbose)$/ },
  touch: { ...WRITES_OPERANDS, opensNoFiles: true, editOptions: /^(?:-[acm]+|--no-create)$/ },
  ...defineProgramFacts('tee truncate mkfifo mknod nano pico sponge logrotate', WRITES_OPERANDS),
  ...defineProgramFacts('unrar unar ar jar pax', {
    unpacks: /^-?[a-df-qs-wyzA-Z]*[xer][a-zA-Z]*$/,
    readsNames: /^-?[a-vx-zA-Z]*w[a-zA-Z]*$|^@/,
  }),
  patch: {
    ...WRITES_OPERANDS,
    unpacks: /^(?:|-p\d*|--strip.*|-i|--input.*)$/,
    outputOptions: ['-d', '--directory', '-o', '-r'],
  },
  ...defineProgramFacts('vi vim nvim ex ed', { ...EDITOR, ...WRITES_OPERANDS }),
  view: { ...EDITOR, reads: 'operands' },
  chmod: { ...OWNERSHIP, opensNoFiles: true },
  chown: { ...OWNERSHIP, opensNoFiles: true },
  chgrp: OWNERSHIP,
  ...defineProgramFacts('chattr setfacl setfattr', { writes: 'after-first' }),
  cp: {
    writes: 'target',
    readsRecursively: 'recursive-flag',
    copiesFiles: true,
    editOptions: /^(?:-[fnpuv]+|--(?:force|no-clobber|update|verbose))$/,
  },
  mv: {
    writes: 'target-and-sources',
    changesRecursively: 'always',
    copiesFiles: true,
    editOptions: /^(?:-[fnuv]+|--(?:force|no-clobber|update|verbose))$/,
  },
  ln: { writes: 'target', copiesFiles: true, createsLinks: true },
  install: { writes: 'target', copiesFiles: true },
  rsync: {
    writes: 'target',
    readsRecursively: 'always',
    copiesFiles: true,
    inPlaceOption: /^--remove-(?:source|sent)-files$/,
    readsNames: /^--files-from/,
    scriptOptions: ['-e', '--rsh', '--rsync-path'],
  },
  scp: { writes: 'target', readsRecursively: 'always', copiesFiles: true, scriptOptions: ['-S', '-o'] },
  sftp: { scriptOptions: ['-S', '-o'] },
  dd: { ...NO_RULE, copiesFiles: true, outputPrefixes: ['of='] },
  split: { writes: 'second', scriptOptions: ['--filter'] },
  csplit: { outputOptions: ['-f', '--prefix'] },
  tar: {
    analyzeArgs: createArchiveAnalysis(/^-?(?=\w*t)[tvzjJa]*f$/),
    inPlaceOption: /^--remove-files$/,
    packs: /^-?(?=[a-z]*c)[acjJpvz]+f$/,
    unpacks: /^-?(?=[a-zA-Z]*x)[a-zA-Z]+$|^--(?:extract|get)$/,
    readsNames: /^-\w*T|^--files-from/,
    readsRecursively: 'always',
    outputOptions: ['-C', '--directory'],
    scriptOptions: [
      '--checkpoint-action',
      '--to-command',
      '--use-compress-program',
      '-I',
      '--info-script',
      '-F',
      '--rsh-command',
    ],
  },
  bsdtar: {
    outputOptions: ['-C', '--directory'],
    unpacks: /^-?(?=[a-zA-Z]*x)[a-zA-Z]+$|^--extract$/,
    readsNames: /^-\w*T|^--files-from|^@/,
  },
  zip: {
    inPlaceOption: /^-(?!-)\w*m|^--move$/,
    packs: /^-[qry0-9]+$/,
    readsNames: /^-\w*@|^--names-stdin$/,
    readsRecursively: 'always',
    scriptOptions: ['-TT', '--unzip-command'],
  },
  unzip: { unpacks: /^(?!-)/, outputOptions: ['-d'], analyzeArgs: createArchiveAnalysis(/^-(?:l|lv|lq|Z1)$/) },
  '7z': { packs: /^a$/, unpacks: /^[xe]$/, readsNames: /^@/, readsRecursively: 'always', outputPrefixes: ['-o'] },
  ...defineProgramFacts('7za 7zr', { unpacks: /^[xe]$/, readsNames: /^@/, outputPrefixes: ['-o'] }),
  cpio: {
    unpacks: /^-\w*[ip]|^--(?:extract|pass-through)$/,
    readsNames: /^-\w*[op]|^--create$/,
    readsRecursively: 'always',
    outputOptions: ['-D'],
  },
  wget: {
    ...NO_RULE,
    readsNames: /^-\w*i|^--input-file/,
    outputOptions: ['-P', '-o', '-a'],
    riskyOptions: splitWords('-e --use-askpass --no-check-certificate'),
  },
  curl: {
    ...NO_RULE,
    riskyOptions: splitWords(
      '-x --proxy --preproxy --proxy1.0 --socks4 --socks4a --socks5 --socks5-hostname --connect-to --resolve --doh-url --haproxy-clientip -K -n --netrc --netrc-file --netrc-optional --unix-socket --abstract-unix-socket --proto-default --variable -k --insecure',
    ),
  },
  ...defineProgramFacts('pkill killall', NO_RULE),
  ...defineProgramFacts('nc ncat', { ...NO_RULE, commandMarkers: ['-c', '-e', '--exec', '--sh-exec'] }),
  socat: { ...NO_RULE, inlineScripts: 'addresses' },
  kill: { ...NO_RULE, opensNoFiles: true },
  'ssh-keygen': { outputOptions: ['-f'] },
  ...defineProgramFacts('mount pgrep', { dashOIsNotOutput: true }),
});
