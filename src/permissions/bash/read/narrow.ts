import type {
  Command,
  CommandExpansionPart,
  CommandNode,
  CompoundList,
  For,
  ParsedScript,
  PipelineNode,
  Statement,
} from 'unbash';
import { isCovered } from '../covered.ts';
import { assignmentProblems, readRedirect } from '../redirects.ts';
import { type NarrowReading, type Places, type ShellPart, spelled } from '../shell-part.ts';
import { type Argument, type Bindings, readWord, SHOWN_EXPANSIONS, substitutionsIn } from '../words.ts';
import { bind, roundsOf } from './loop-rounds.ts';

const STATEFUL = new Set(
  'alias unalias hash enable trap set shopt export declare typeset local readonly unset read let eval source . exec builtin mapfile readarray pushd popd getopts bind complete compopt shift return break continue exit logout suspend fc history umask ulimit coproc wait jobs fg bg disown caller dirs command'.split(
    ' ',
  ),
);
const MAX_FOLDERS = 8;
const MAX_DEPTH = 12;
const MAX_PARTS = 400;

type Where = { readonly ok: readonly string[]; readonly failed: readonly string[] };

export function readNarrowly(source: string, script: ParsedScript, cwd: string, places: Places): NarrowReading {
  const parts: ShellPart[] = [];
  const problems = new Set<string>();
  let text = source;
  let depth = 0;
  let bound: Bindings = new Map();

  function readScript(inner: ParsedScript, cwds: readonly string[]): Where {
    for (const error of inner.errors ?? []) problems.add(`bash syntax that could not be parsed: ${error.message}.`);
    return readList(inner.commands, cwds);
  }

  function readList(statements: readonly Statement[], cwds: readonly string[]): Where {
    let where: Where = { ok: cwds, failed: [] };
    for (const statement of statements) {
      if (statement.background === true) problems.add('It starts something in the background.');
      where = readNode(statement.command, union(where.ok, where.failed));
    }
    return where;
  }

  function readNode(node: Statement['command'], cwds: readonly string[]): Where {
    depth += 1;
    try {
      if (depth > MAX_DEPTH) {
        problems.add('It is nested too deeply.');
        return { ok: cwds, failed: cwds };
      }
      return node.type === 'AndOr' ? readAndOr(node, cwds) : readPipeline(node, cwds);
    } finally {
      depth -= 1;
    }
  }

  function readAndOr(node: Extract<Statement['command'], { type: 'AndOr' }>, cwds: readonly string[]): Where {
    const [first, ...rest] = node.commands;
    let where: Where = first === undefined ? { ok: cwds, failed: [] } : readNode(first, cwds);
    rest.forEach((next, index) => {
      const after = node.operators[index] === '&&' ? where.ok : where.failed;
      const ran = readNode(next, after.length === 0 ? cwds : after);
      where =
        node.operators[index] === '&&'
          ? { ok: ran.ok, failed: union(where.failed, ran.failed) }
          : { ok: union(where.ok, ran.ok), failed: ran.failed };
    });
    return where;
  }

  function readPipeline(node: PipelineNode, cwds: readonly string[]): Where {
    if (node.type !== 'Pipeline') return readCommandNode(node, cwds);
    const negated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1;
    const [only] = node.commands;
    if (only === undefined) problems.add('A command is missing in it.');
    if (node.commands.length === 1 && only !== undefined) {
      const where = readNode(only, cwds);
      return negated ? { ok: where.failed, failed: where.ok } : where;
    }
    for (const command of node.commands) readNode(command, cwds);
    return { ok: cwds, failed: cwds };
  }

  function readCommandNode(node: CommandNode, cwds: readonly string[]): Where {
    switch (node.type) {
      case 'Command':
        return readSimple(node, cwds);
      case 'Subshell':
        readList(node.body.commands, cwds);
        return { ok: cwds, failed: cwds };
      case 'BraceGroup':
        return readList(node.body.commands, cwds);
      case 'If': {
        const branch = (list: CompoundList, from: readonly string[]) => readList(list.commands, from);
        const test = branch(node.clause, cwds);
        const ran = branch(node.then, test.ok.length === 0 ? cwds : test.ok);
        let ends = union(ran.ok, ran.failed);
        let from = test.failed;
        for (const elif of node.elif) {
          const again = branch(elif.clause, from);
          const then = branch(elif.then, again.ok);
          ends = union(ends, union(then.ok, then.failed));
          from = union(again.ok, again.failed);
        }
        const last = node.else === undefined ? { ok: from, failed: from } : branch(node.else, from);
        ends = union(ends, union(last.ok, last.failed));
        return { ok: ends, failed: ends };
      }
      case 'For':
        return readLoop(node, cwds);
      default:
        problems.add(`It uses a construct (${describe(node.type)}) that is not analysed.`);
        return { ok: cwds, failed: cwds };
    }
  }

  /** A loop over words that are known is its rounds, one after the other. */
  function readLoop(loop: For, cwds: readonly string[]): Where {
    // What a pattern matches before anything has run is what it matches when the loop begins.
    const isFirst = parts.length === 0 && bound.size === 0;
    const namesOf = (pattern: string) => {
      const names = isFirst ? cwds.map((each) => places.namesOf(each, pattern)) : [undefined];
      return names.some((each) => each === undefined) ? undefined : names.flatMap((each) => each ?? []);
    };
    const rounds = roundsOf(loop, bound, namesOf);
    if (!rounds.ok) problems.add(rounds.why);
    const outer = bound;
    let from = cwds;
    for (const value of rounds.ok ? rounds.values : []) {
      if (parts.length > MAX_PARTS) problems.add('Its loop goes round too often.');
      if (parts.length > MAX_PARTS) break;
      bound = bind(outer, rounds.ok ? rounds.name : '', value);
      const ran = readList(loop.body.commands, from);
      const ends = union(ran.ok, ran.failed);
      if (value.kind === 'glob' && ends.some((folder) => !from.includes(folder)))
        problems.add('It changes folders round after round.');
      from = ends;
    }
    bound = outer;
    return { ok: from, failed: from };
  }

  function readSimple(command: Command, cwds: readonly string[]): Where {
    const words = [command.name, ...command.args].filter((word) => word !== undefined);
    const argv: Argument[] = [];
    for (const word of words) {
      if (word.type === 'Assignment') {
        argv.push({
          text: word.text,
          kind: 'unknown',
          prefix: '',
          home: 'none',
          problem: `${word.name}= is an assignment.`,
        });
        problems.add(`${word.name}= is an assignment.`);
        continue;
      }
      const argument =
        argv[0]?.text === 'echo' ? readWord(word, SHOWN_EXPANSIONS, bound) : readWord(word, undefined, bound);
      argv.push(argument);
      if (argument.problem !== undefined) problems.add(argument.problem);
      for (const inner of substitutionsIn(word)) readSubstitution(inner, cwds);
    }
    const name = argv[0];
    if (name !== undefined && name.kind !== 'literal') problems.add('The name of the command is not a plain word.');
    if (name !== undefined && STATEFUL.has(name.text)) problems.add(`${name.text} changes what later commands mean.`);
    const assignments = command.prefix.filter((entry) => entry.type === 'Assignment');
    const redirects = command.redirects.map((redirect) => readRedirect(redirect, text, bound));
    for (const problem of [...assignments.flatMap(assignmentProblems), ...redirects.flatMap((each) => each.problems)])
      problems.add(problem);
    parts.push({
      text: bound.size === 0 ? text.slice(command.pos, command.end) : argv.map((word) => word.text).join(' '),
      argv,
      assignments: assignments.map((each) => each.text),
      redirects: redirects.flatMap((each) => each.redirects),
      cwds,
      unrolled: bound.size === 0 ? 'no' : 'yes',
    });
    return name?.text === 'cd' ? changeFolder(argv, cwds) : { ok: cwds, failed: cwds };
  }

  function readSubstitution(inner: CommandExpansionPart, cwds: readonly string[]): void {
    if (inner.script === undefined || inner.text.startsWith('`')) {
      problems.add(`What ${inner.text} stands for is not known.`);
      return;
    }
    const outer = text;
    text = inner.script.source ?? text;
    if (!isCovered(text, inner.script, { from: inner.pos + 2, to: inner.end - 1 })) {
      problems.add(`Some of ${inner.text} was not understood.`);
    }
    depth += 1;
    if (depth > MAX_DEPTH) problems.add('It is nested too deeply.');
    else readScript(inner.script, cwds);
    depth -= 1;
    text = outer;
  }

  function changeFolder(argv: readonly Argument[], cwds: readonly string[]): Where {
    const operands = argv.slice(1).filter((word, index) => !(index === 0 && word.text === '--'));
    const [target] = operands;
    const unclear =
      operands.length > 1 || target?.kind === 'glob' || target?.text.startsWith('-') === true || target?.text === '';
    const moved = unclear ? [] : cwds.map((cwd) => places.change(cwd, target === undefined ? '~' : spelled(target)));
    const known = moved.filter((folder) => folder !== undefined);
    if (unclear || known.length < moved.length) problems.add('Where cd leads is not known.');
    return { ok: known.length === 0 ? cwds : union(known, []), failed: cwds };
  }

  function union(left: readonly string[], right: readonly string[]): readonly string[] {
    const all = [...new Set([...left, ...right])];
    if (all.length > MAX_FOLDERS) problems.add('It changes folders in too many ways.');
    return all.slice(0, MAX_FOLDERS);
  }

  readScript(script, [cwd]);
  if (parts.length === 0) problems.add('There is no command in it.');
  return { parts, problems: [...problems] };
}

function describe(type: string): string {
  return type.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
