import type {
  Command,
  CommandExpansionPart,
  CommandNode,
  CompoundList,
  For,
  If,
  ParsedScript,
  PipelineNode,
  Statement,
} from 'unbash';
import type { CertainReading, Places, ShellPart, Standing } from '../shell-part.ts';
import { isCovered } from './covered.ts';
import { bind, roundsOf } from './loop-rounds.ts';
import { folderChange, simpleCommand } from './simple-command.ts';

const MAX_FOLDERS = 8;
const MAX_DEPTH = 12;
const MAX_PARTS = 400;
const TOO_MANY = 'It holds more commands than are looked at.';

/** What a piece of script holds, and the folders it ends in, by whether it succeeded. */
type Outcome = CertainReading & { readonly ok: readonly string[]; readonly failed: readonly string[] };

/** The strict reading: every command that will run, or why nobody can tell. */
export function readCertain(source: string, script: ParsedScript, cwd: string, places: Places): CertainReading {
  const { parts, problems } = readScript(script, {
    source,
    cwds: [cwd],
    bound: new Map(),
    depth: 0,
    before: 0,
    places,
  });
  const none = parts.length === 0 ? ['There is no command in it.'] : [];
  return { parts, problems: [...new Set([...problems, ...none])] };
}

function readScript(script: ParsedScript, at: Standing): Outcome {
  const errors = (script.errors ?? []).map(({ message }) => `bash syntax that could not be parsed: ${message}.`);
  return withProblems(readList(script.commands, at), errors);
}

function readList(statements: readonly Statement[], at: Standing): Outcome {
  return inTurn(statements, at, (statement, from) => {
    const background = statement.background === true ? ['It starts something in the background.'] : [];
    return withProblems(readNode(statement.command, from), background);
  });
}

/** One after the other, whether those before succeeded or not. */
function inTurn<Item>(items: readonly Item[], at: Standing, read: (item: Item, from: Standing) => Outcome): Outcome {
  const parts: ShellPart[] = [];
  const problems: string[] = [];
  let last: Pick<Outcome, 'ok' | 'failed'> = { ok: at.cwds, failed: [] };
  for (const item of items) {
    if (at.before + parts.length > MAX_PARTS) {
      problems.push(TOO_MANY);
      break;
    }
    const ends = union(last.ok, last.failed);
    const ran = read(item, { ...at, cwds: ends.folders, before: at.before + parts.length });
    parts.push(...ran.parts);
    problems.push(...ends.problems, ...ran.problems);
    last = ran;
  }
  return { parts, problems, ok: last.ok, failed: last.failed };
}

function readNode(node: Statement['command'], at: Standing): Outcome {
  const depth = at.depth + 1;
  if (depth > MAX_DEPTH) return nothing(at, 'It is nested too deeply.');
  return node.type === 'AndOr' ? readAndOr(node, { ...at, depth }) : readPipeline(node, { ...at, depth });
}

function readAndOr(node: Extract<Statement['command'], { type: 'AndOr' }>, at: Standing): Outcome {
  const [first, ...rest] = node.commands;
  let sum: Outcome = first === undefined ? nothing(at) : readNode(first, at);
  rest.forEach((next, index) => {
    const isAnd = node.operators[index] === '&&';
    const from = isAnd ? sum.ok : sum.failed;
    const ran = readNode(next, behind(at, sum, from.length === 0 ? at.cwds : from));
    const ends = isAnd ? union(sum.failed, ran.failed) : union(sum.ok, ran.ok);
    const where = isAnd ? { ok: ran.ok, failed: ends.folders } : { ok: ends.folders, failed: ran.failed };
    sum = { ...withProblems(joined(sum, ran), ends.problems), ...where };
  });
  return sum;
}

function readPipeline(node: PipelineNode, at: Standing): Outcome {
  if (node.type !== 'Pipeline') return readCommandNode(node, at);
  const isNegated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1;
  const [only, ...others] = node.commands;
  if (only === undefined) return nothing(at, 'A command is missing in it.');
  if (others.length > 0) {
    const sum = inTurn(node.commands, at, (command, from) => ({ ...readNode(command, from), ok: at.cwds, failed: [] }));
    return { ...sum, ok: at.cwds, failed: at.cwds };
  }
  const ran = readNode(only, at);
  return isNegated ? { ...ran, ok: ran.failed, failed: ran.ok } : ran;
}

function readCommandNode(node: CommandNode, at: Standing): Outcome {
  switch (node.type) {
    case 'Command':
      return readSimple(node, at);
    case 'Subshell':
      return { ...readList(node.body.commands, at), ok: at.cwds, failed: at.cwds };
    case 'BraceGroup':
      return readList(node.body.commands, at);
    case 'If':
      return readIf(node, at);
    case 'For':
      return readLoop(node, at);
    default:
      return nothing(at, `It uses a construct (${describe(node.type)}) that is not analysed.`);
  }
}

function readIf(node: If, at: Standing): Outcome {
  let sum = readList(node.clause.commands, at);
  let ends: readonly string[] = [];
  let from = sum.failed;
  const branch = (list: CompoundList, cwds: readonly string[]): Outcome => {
    const ran = readList(list.commands, behind(at, sum, cwds));
    sum = joined(sum, ran);
    return ran;
  };
  const end = (...more: readonly (readonly string[])[]) => {
    for (const folders of more) {
      const both = union(ends, folders);
      ends = both.folders;
      sum = withProblems(sum, both.problems);
    }
  };
  const ran = branch(node.then, sum.ok.length === 0 ? at.cwds : sum.ok);
  end(ran.ok, ran.failed);
  for (const elif of node.elif) {
    const again = branch(elif.clause, from);
    const then = branch(elif.then, again.ok);
    end(then.ok, then.failed);
    const both = union(again.ok, again.failed);
    sum = withProblems(sum, both.problems);
    from = both.folders;
  }
  const last = node.else === undefined ? { ok: from, failed: from } : branch(node.else, from);
  end(last.ok, last.failed);
  return { ...sum, ok: ends, failed: ends };
}

/** A loop over words that are known is its rounds, one after the other. */
function readLoop(loop: For, at: Standing): Outcome {
  // What a pattern matches before anything has run is what it matches when the loop begins.
  const isFirst = at.before === 0 && at.bound.size === 0;
  const namesOf = (pattern: string) => {
    const names = isFirst ? at.cwds.map((each) => at.places.namesOf(each, pattern)) : [undefined];
    return names.some((each) => each === undefined) ? undefined : names.flatMap((each) => each ?? []);
  };
  const rounds = roundsOf(loop, at.bound, namesOf);
  if (!rounds.ok) return nothing(at, rounds.why);
  const ran = inTurn(rounds.values, at, (value, from) => {
    if (from.before > MAX_PARTS) return nothing(from, 'Its loop goes round too often.');
    const round = readList(loop.body.commands, { ...from, bound: bind(at.bound, rounds.name, value) });
    const ends = union(round.ok, round.failed);
    const isMoving = value.kind === 'glob' && ends.folders.some((folder) => !from.cwds.includes(folder));
    return withProblems(round, [...ends.problems, ...(isMoving ? ['It changes folders round after round.'] : [])]);
  });
  const ends = union(ran.ok, ran.failed);
  return { ...withProblems(ran, ends.problems), ok: ends.folders, failed: ends.folders };
}

function readSimple(command: Command, at: Standing): Outcome {
  const { part, problems, substitutions } = simpleCommand(command, at);
  const inner = substitutions.reduce(
    (read, each) => joined(read, readSubstitution(each, behind(at, read))),
    nothing(at, ...problems),
  );
  const own = joined(inner, { parts: [part], problems: [] });
  const change = folderChange(part, at);
  if (change === undefined) return own;
  const known = union(change.folders, []);
  const unclear = change.isKnown ? [] : ['Where cd leads is not known.'];
  const folders = known.folders.length === 0 ? at.cwds : known.folders;
  return { ...withProblems(own, [...unclear, ...known.problems]), ok: folders, failed: at.cwds };
}

function readSubstitution({ script, text, pos, end }: CommandExpansionPart, at: Standing): Outcome {
  if (script === undefined || text.startsWith('`')) return nothing(at, `What ${text} stands for is not known.`);
  const source = script.source ?? at.source;
  const isRead = isCovered(source, script, { from: pos + 2, to: end - 1 });
  const unread = isRead ? [] : [`Some of ${text} was not understood.`];
  const depth = at.depth + 1;
  if (depth > MAX_DEPTH) return nothing(at, ...unread, 'It is nested too deeply.');
  return withProblems(readScript(script, { ...at, source, depth }), unread);
}

/** Nothing that could be read, and why. */
function nothing({ cwds }: Standing, ...problems: readonly string[]): Outcome {
  return { parts: [], problems, ok: cwds, failed: cwds };
}

function withProblems<Reading extends CertainReading>(reading: Reading, more: readonly string[]): Reading {
  return more.length === 0 ? reading : { ...reading, problems: [...reading.problems, ...more] };
}

/** Both, with the folders of the first. */
function joined(left: Outcome, right: CertainReading): Outcome {
  return {
    ...left,
    parts: [...left.parts, ...right.parts],
    problems: [...left.problems, ...right.problems],
  };
}

/** The same place behind what was read, in other folders. */
function behind(at: Standing, read: CertainReading, cwds: readonly string[] = at.cwds): Standing {
  return { ...at, cwds, before: at.before + read.parts.length };
}

function union(
  left: readonly string[],
  right: readonly string[],
): { readonly folders: readonly string[]; readonly problems: readonly string[] } {
  const all = [...new Set([...left, ...right])];
  const problems = all.length > MAX_FOLDERS ? ['It changes folders in too many ways.'] : [];
  return { folders: all.slice(0, MAX_FOLDERS), problems };
}

function describe(type: string): string {
  return type.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
