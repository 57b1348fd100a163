import { archiveReading } from './grammars.ts';
import { each, type Program, type Programs } from './program.ts';

/** Its operands are files that are made, changed or removed. */
const WRITES: Program = { writes: 'operands' };
const NEVER: Program = { suggest: 'never' };
const EDITOR: Program = {
  texts: 'editor',
  code: { hasBareNames: true, options: /^(?:-c|--cmd|-S|-s|-\w*s|-l\w*|--eval|-u|-U|\+\D.*)$/s },
};
const OWNERS: Program = { writes: 'after-first', changesFolders: 'recursive-flag' };

/** Programs that change files, or reach out. */
export const CHANGERS: Programs = {
  rm: { ...WRITES, ...NEVER, opensNothing: true, deletes: true, changesFolders: 'recursive-flag' },
  ...each('unlink shred', { ...WRITES, deletes: true }),
  rmdir: { ...WRITES, opensNothing: true },
  mkdir: { ...WRITES, opensNothing: true, edits: /^(?:-p|-v|-pv|-vp|--parents|--verbose)$/ },
  touch: { ...WRITES, opensNothing: true, edits: /^(?:-[acm]+|--no-create)$/ },
  ...each('tee truncate mkfifo mknod nano pico sponge logrotate', WRITES),
  patch: { ...WRITES, outputs: ['-d', '--directory', '-o', '-r'] },
  ...each('vi vim nvim ex ed', { ...EDITOR, ...WRITES }),
  view: { ...EDITOR, reads: 'operands' },
  chmod: { ...OWNERS, opensNothing: true },
  chown: { ...OWNERS, opensNothing: true },
  chgrp: OWNERS,
  ...each('chattr setfacl setfattr', { writes: 'after-first' }),
  cp: {
    writes: 'target',
    takesFolders: 'recursive-flag',
    copiesFiles: true,
    edits: /^(?:-[fnpuv]+|--(?:force|no-clobber|update|verbose))$/,
  },
  mv: {
    writes: 'target-and-sources',
    changesFolders: 'always',
    copiesFiles: true,
    edits: /^(?:-[fnuv]+|--(?:force|no-clobber|update|verbose))$/,
  },
  ln: { writes: 'target', copiesFiles: true, links: true },
  install: { writes: 'target', copiesFiles: true },
  rsync: { writes: 'target', takesFolders: 'always', copiesFiles: true, textOptions: ['-e', '--rsh', '--rsync-path'] },
  scp: { writes: 'target', takesFolders: 'always', copiesFiles: true, textOptions: ['-S', '-o'] },
  sftp: { textOptions: ['-S', '-o'] },
  dd: { ...NEVER, copiesFiles: true, outputStarts: ['of='] },
  split: { writes: 'second', textOptions: ['--filter'] },
  csplit: { outputs: ['-f', '--prefix'] },
  tar: {
    grammar: archiveReading(/^-?(?=\w*t)[tvzjJa]*f$/),
    takesFolders: 'always',
    outputs: ['-C', '--directory'],
    textOptions: [
      '--checkpoint-action',
      '--to-command',
      '--use-compress-program',
      '-I',
      '--info-script',
      '-F',
      '--rsh-command',
    ],
  },
  bsdtar: { outputs: ['-C', '--directory'] },
  zip: { takesFolders: 'always', textOptions: ['-TT', '--unzip-command'] },
  unzip: { outputs: ['-d'], grammar: archiveReading(/^-(?:l|lv|lq|Z1)$/) },
  '7z': { takesFolders: 'always', outputStarts: ['-o'] },
  ...each('7za 7zr', { outputStarts: ['-o'] }),
  cpio: { takesFolders: 'always', outputs: ['-D'] },
  man: { textOptions: ['-P', '--pager', '-H', '--html'] },
  wget: { ...NEVER, outputs: ['-P', '-o', '-a'] },
  ...each('curl pkill killall', NEVER),
  ...each('nc ncat', { ...NEVER, runsAfter: ['-c', '-e', '--exec', '--sh-exec'] }),
  socat: { ...NEVER, texts: 'addresses' },
  kill: { ...NEVER, opensNothing: true },
  'ssh-keygen': { outputs: ['-f'] },
  ...each('mount pgrep', { otherO: true }),
};
