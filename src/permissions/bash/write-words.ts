import { join } from 'node:path';
import { baseName } from './words.ts';

/** A word that names a file which would be made, changed or removed. */
export type WrittenWord = { readonly word: string; readonly sure: 'certain' | 'possible' };

const ALL_OPERANDS =
  /^(?:tee|touch|mkdir|rmdir|rm|unlink|shred|truncate|patch|mkfifo|mknod|ed|ex|vim?|nvim|nano|pico|emacs|sponge|script|logrotate)$/;
/** The first operand is a mode, an owner or an attribute. */
const AFTER_FIRST = /^(?:chmod|chown|chgrp|chattr|setfacl|setfattr)$/;
const SECOND_IS_OUTPUT = /^(?:uniq|split|xxd)$/;
const COPIERS = /^(?:cp|mv|ln|install|rsync|scp)$/;
const IN_PLACE = /^(?:sed|perl|ruby)$/;
const GIT_WRITERS = /^(?:checkout|restore|rm|mv|clone|init|worktree|apply|clean|submodule)$/;
/** Options whose value is a file or folder to write, whoever the command is. */
const OUTPUT =
  /^(?:-out|--out(?:put(?:-(?:file|document|dir(?:ectory)?))?|file|dir)?|--dest(?:ination)?|--pack-destination|--directory-prefix|--log-file)$/;
/** For these `-o` is something else. */
const OTHER_O = /^(?:find|[ef]?grep|rg|ls|echo|ps|set|ssh|mount|test|\[|pgrep|kubectl)$/;
/** Where a command unpacks or writes to: `-C`, `-d`, `-P`, `-f`. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  tar: ['-C', '--directory'],
  bsdtar: ['-C', '--directory'],
  unzip: ['-d'],
  patch: ['-d', '--directory', '-o', '-r'],
  wget: ['-P', '-o', '-a'],
  cpio: ['-D'],
  csplit: ['-f', '--prefix'],
  'ssh-keygen': ['-f'],
  git: ['--directory', '-f', '--file', '--output', '-o', '--output-directory', '--separate-git-dir'],
};

/** Every file the words of one command would write to. */
export function writtenWords(argv: readonly string[]): readonly WrittenWord[] {
  const name = baseName(argv[0] ?? '');
  const operands = argv.slice(1).filter((word, at) => !word.startsWith('-') || argv.slice(1, at + 1).includes('--'));
  const flags = argv.slice(1).filter((word) => word.startsWith('-'));
  const certain = (words: readonly string[]) => words.map((word): WrittenWord => ({ word, sure: 'certain' }));
  const possible = (words: readonly string[]) => words.map((word): WrittenWord => ({ word, sure: 'possible' }));
  const inPlace =
    (IN_PLACE.test(name) && flags.some((flag) => /^-[a-zA-Z]*i|^--in-place/.test(flag))) ||
    (/^g?awk$/.test(name) && argv.includes('inplace'));
  return [
    ...(ALL_OPERANDS.test(name) || inPlace ? certain(operands) : []),
    ...(AFTER_FIRST.test(name) ? certain(operands.slice(1)) : []),
    ...(SECOND_IS_OUTPUT.test(name) ? possible(operands.slice(1)) : []),
    ...(COPIERS.test(name) ? copied(name, argv, operands) : []),
    ...(name === 'dd' ? certain(argv.flatMap((word) => (word.startsWith('of=') ? [word.slice(3)] : []))) : []),
    ...(name === 'git' ? gitWords(argv) : []),
    ...options(name, argv),
    ...(/^7z[ar]?$/.test(name) ? certain(flags.flatMap((flag) => /^-o(.+)$/.exec(flag)?.[1] ?? [])) : []),
    ...codeWords(name, argv),
  ];
}

/** `cp a b/` writes `b/a`; `mv` also takes the source away. */
function copied(name: string, argv: readonly string[], operands: readonly string[]): readonly WrittenWord[] {
  const targets = argv.flatMap((word, at) => {
    if (/^(?:-t|--target-directory)$/.test(argv[at - 1] ?? '')) return [word];
    return /^(?:-t|--target-directory=)(.+)$/.exec(word)?.[1] ?? [];
  });
  const into = targets.length > 0 ? targets : operands.slice(-1);
  const landed = into.flatMap((target) =>
    operands.filter((word) => word !== target).map((word) => join(target, baseName(word))),
  );
  return [...into, ...landed, ...(name === 'mv' ? operands : [])].map((word) => ({ word, sure: 'certain' }));
}

function gitWords(argv: readonly string[]): readonly WrittenWord[] {
  const at = argv.findIndex((word, index) => index > 0 && GIT_WRITERS.test(word));
  const bundle = argv.indexOf('create');
  const words = at === -1 ? [] : argv.slice(at + 1).filter((word) => !word.startsWith('-'));
  return [...words, ...(argv.includes('bundle') && bundle > 0 ? argv.slice(bundle + 1, bundle + 2) : [])].map(
    (word) => ({
      word,
      sure: 'possible',
    }),
  );
}

function options(name: string, argv: readonly string[]): readonly WrittenWord[] {
  const places = Object.hasOwn(PLACES, name) ? (PLACES[name] ?? []) : [];
  return argv.flatMap((word, at): readonly WrittenWord[] => {
    if (at === 0) return [];
    const [, option = '', value] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const next = value ?? argv[at + 1];
    const isPlace = places.includes(option) || OUTPUT.test(option);
    // `-so file`, `-ofile`: the letter may stand at the end of others, or before its value.
    const isLetter = name !== 'git' && !OTHER_O.test(name) && /^-[a-zA-Z]*[oO]$/.test(option);
    const glued = name !== 'git' && !OTHER_O.test(name) ? /^-[oO]([^-].*)$/s.exec(word)?.[1] : undefined;
    const found = [...(isPlace || isLetter ? [next] : []), glued];
    return found.flatMap((each) =>
      each === undefined || each.startsWith('-')
        ? []
        : [{ word: each, sure: isPlace && name !== 'git' ? 'certain' : 'possible' }],
    );
  });
}

/** `open("x", "w")` in the text of another language: a courtesy, not a promise. */
function codeWords(name: string, argv: readonly string[]): readonly WrittenWord[] {
  if (!/^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua)$/.test(name)) return [];
  return argv
    .filter((text) =>
      /write|append|unlink|remove|rmtree|rename|truncate|copy|mkdir|symlink|["'][wax]\+?b?["']|>/i.test(text),
    )
    .flatMap((text) => [...text.matchAll(/(["'`])([^"'`\n]{1,200})\1/g)])
    .map((hit): WrittenWord => ({ word: hit[2] ?? '', sure: 'possible' }));
}
