import type { Command, CommandExpansionPart } from 'unbash';
import { exactProgram } from '../programs.ts';
import { assignmentProblems, readRedirect } from '../redirects.ts';
import { type ShellPart, type Standing, spelled } from '../shell-part.ts';
import { type Argument, readWord, SHOWN_EXPANSIONS, substitutionsIn } from '../words.ts';
import { wordsPutIn } from './put-in.ts';

/** One command as bash will run it, what speaks against that, and the substitutions that run before it. */
export type SimpleCommand = {
  readonly part: ShellPart;
  readonly problems: readonly string[];
  readonly substitutions: readonly CommandExpansionPart[];
};

export function simpleCommand(command: Command, at: Standing): SimpleCommand {
  const { source, bound, cwds } = at;
  const words = [command.name, ...command.args].filter((word) => word !== undefined);
  const argv: Argument[] = [];
  let isFilled = false;
  for (const word of words) {
    if (word.type === 'Assignment') {
      const problem = `${word.name}= is an assignment.`;
      argv.push({ text: word.text, kind: 'unknown', prefix: '', home: 'none', problem });
    } else {
      const shows = exactProgram(argv[0]?.text ?? '').readOnly?.operands === 'words';
      const putIn = argv[0] === undefined ? undefined : wordsPutIn(word, argv[0].text, at);
      if (putIn !== undefined) isFilled = true;
      argv.push(...(putIn ?? [readWord(word, shows ? SHOWN_EXPANSIONS : undefined, bound)]));
    }
  }
  const assignments = command.prefix.filter((entry) => entry.type === 'Assignment');
  const redirects = command.redirects.map((redirect) => readRedirect(redirect, source, bound));
  const isPlain = bound.size === 0;
  return {
    part: {
      text: isPlain ? source.slice(command.pos, command.end) : argv.map((word) => word.text).join(' '),
      argv,
      assignments: assignments.map((each) => each.text),
      redirects: redirects.flatMap((each) => each.redirects),
      cwds,
      isRound: isFilled || !isPlain,
    },
    problems: [
      ...argv.flatMap(({ problem }) => problem ?? []),
      ...nameProblems(argv),
      ...assignments.flatMap(assignmentProblems),
      ...redirects.flatMap((each) => each.problems),
    ],
    substitutions: words.flatMap((word) => (word.type === 'Assignment' ? [] : substitutionsIn(word))),
  };
}

function nameProblems([name, second]: readonly Argument[]): readonly string[] {
  if (exactProgram(name?.text ?? '').finds?.test(second?.text ?? '') === true) return [];
  if (name === undefined) return [];
  return [
    ...(name.kind === 'literal' ? [] : ['The name of the command is not a plain word.']),
    ...(exactProgram(name.text).changesShell === true ? [`${name.text} changes what later commands mean.`] : []),
  ];
}

/** The folders a command leads to, and whether those are all; `undefined` when it stays where it is. */
export function folderChange(
  { argv }: ShellPart,
  { cwds, places }: Standing,
): { readonly folders: readonly string[]; readonly isKnown: boolean } | undefined {
  const [name, ...args] = argv;
  const { changesFolder, changesShell } = exactProgram(name?.text ?? '');
  // One that changes more than that is not read at all.
  if (changesFolder !== true || changesShell === true) return undefined;
  const operands = args.filter((word, index) => !(index === 0 && word.text === '--'));
  const [target] = operands;
  const isUnclear =
    operands.length > 1 || target?.kind === 'glob' || target?.text.startsWith('-') === true || target?.text === '';
  const moved = isUnclear ? [] : cwds.map((cwd) => places.change(cwd, target === undefined ? '~' : spelled(target)));
  const folders = moved.filter((folder) => folder !== undefined);
  return { folders, isKnown: !isUnclear && folders.length === moved.length };
}
