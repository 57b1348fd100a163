import type { Reached } from '../wide.ts';
import { baseName } from '../words.ts';
import { writtenWords } from '../write-words.ts';

/** A folder some command goes through to the bottom, and what its options leave of it. */
export type SearchScope = {
  readonly place: string;
  readonly use: 'read' | 'write';
  readonly sure: 'certain' | 'possible';
  readonly command: string;
  /** Patterns of names; nothing else is opened. All names when empty. */
  readonly only: readonly string[];
  /** Patterns of folders and files that are left out. */
  readonly skips: readonly string[];
};

/** Commands that do not open the files they are given. */
export const SILENT =
  /^(?:echo|printf|true|false|:|cd|pwd|export|type|which|kill|sleep|basename|dirname|mkdir|rmdir|rm|touch|ls|chmod|chown|stat|test|\[|find|realpath|readlink|npm|pnpm|yarn)$/;
const PATTERN_FIRST = /^(?:grep|egrep|fgrep|rg|ag|ack)$/;
const ARCHIVERS = /^(?:tar|zip|7z|rsync|scp|cpio)$/;

/** Every folder the commands of a line would go through, in the widest sense. */
export function searchScopes(commands: readonly Reached[]): readonly SearchScope[] {
  const fed = commands.filter(({ via }) => via === 'xargs' || via === 'parallel').map(({ argv }) => argv);
  return commands.flatMap(({ argv }) => scopesOf(argv, fed));
}

/** What a command does with the names it is given. */
function usesOf(argv: readonly string[]): readonly SearchScope['use'][] {
  if (argv.length === 0) return [];
  return [
    ...(SILENT.test(baseName(argv[0] ?? '')) ? [] : ['read' as const]),
    ...(writtenWords([...argv, 'x', 'x']).length > 0 ? ['write' as const] : []),
  ];
}

function scopesOf(argv: readonly string[], fed: readonly (readonly string[])[]): readonly SearchScope[] {
  const uses = [...new Set(fed.flatMap(usesOf))];
  const name = baseName(argv[0] ?? '');
  const command = argv.join(' ');
  const flags = argv.slice(1).filter((word) => word.startsWith('-'));
  const operands = argv.slice(1).filter((word) => !word.startsWith('-'));
  const recursive = flags.some((flag) => /^-[a-zA-Z]*[rR]/.test(flag) || /^--(?:dereference-)?recursive$/.test(flag));
  const scope = (
    places: readonly string[],
    sure: SearchScope['sure'],
    use: SearchScope['use'] = 'read',
    only: readonly string[] = [],
  ): readonly SearchScope[] =>
    (places.length === 0 ? ['.'] : places).map((place) => ({ place, use, sure, command, only, skips: skipped(argv) }));
  if (name === 'find' || name === 'gfind') {
    const end = argv.findIndex((word, at) => at > 0 && /^(?:-(?![HLP]$)|!|\()/.test(word));
    const places = argv.slice(1, end === -1 ? undefined : end).filter((word) => !/^-[HLP]$/.test(word));
    const only = argv.filter((_, at) => /^-i?name$/.test(argv[at - 1] ?? ''));
    const run = argv.findIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
    const own = run === -1 ? [] : usesOf(argv.slice(run + 1).filter((word) => !/^[;+]$|\{\}/.test(word)));
    const all = new Set([...uses, ...own, ...(argv.includes('-delete') ? ['write' as const] : [])]);
    return [...all].flatMap((use) => scope(places, 'certain', use, only));
  }
  if (/^(?:rm|mv|chmod|chown|chgrp)$/.test(name) && (recursive || name === 'mv'))
    return operands.flatMap((word) => scope([word], 'certain', 'write'));
  if (PATTERN_FIRST.test(name)) {
    const isSearch = /^(?:rg|ag|ack)$/.test(name) || recursive;
    const named = flags.some((flag) => /^-[a-zA-Z]*[ef]/.test(flag) || flag === '--files')
      ? operands
      : operands.slice(1);
    return isSearch ? scope(named, 'certain') : [];
  }
  if (name === 'git') {
    const listed = argv.includes('ls-files') ? uses.flatMap((use) => scope([], 'certain', use)) : [];
    return argv.includes('grep') ? [...listed, ...scope([], 'certain')] : listed;
  }
  if (name === 'diff' && recursive) return scope(operands, 'certain');
  if (/^(?:ls|fd|fdfind|tree)$/.test(name))
    return uses.flatMap((use) => scope(name === 'ls' ? operands : [], 'possible', use));
  const copies = name === 'cp' && (recursive || flags.some((flag) => /^-[a-zA-Z]*a/.test(flag)));
  return ARCHIVERS.test(name) || copies ? operands.flatMap((word) => scope([word], 'possible')) : [];
}

/** `--exclude-dir=x`, `--exclude x`, `-g '!x'`: what the person left out. */
function skipped(argv: readonly string[]): readonly string[] {
  return argv
    .flatMap((word, at) => {
      const before = argv[at - 1] ?? '';
      const joined = /^--(?:exclude(?:-dir)?=|i?glob=!)(.+)$/.exec(word)?.[1];
      if (joined !== undefined) return [joined];
      if (/^--exclude(?:-dir)?$/.test(before)) return [word];
      return /^(?:-g|--i?glob)$/.test(before) && word.startsWith('!') ? [word.slice(1)] : [];
    })
    .map((pattern) => pattern.replace(/^(?:\.?\/|\*\*\/)+/, '').replace(/\/(?:\*\*)?$/, ''));
}
