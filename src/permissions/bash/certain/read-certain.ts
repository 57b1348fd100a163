import type {
  Command,
  CommandExpansionPart,
  CommandNode,
  CompoundList,
  If,
  ParsedScript,
  PipelineNode,
  Redirected,
  Statement,
} from 'unbash';
import { readRedirect } from '../redirects.ts';
import type { CertainReading, Places, ShellPart, Standing } from '../shell-part.ts';
import { isCovered } from './covered.ts';
import { behind, inTurn, joined, nothing, type Outcome, union, withProblems } from './outcome.ts';
import { namesListed } from './put-in.ts';
import { readFor, readWhile } from './read-loops.ts';
import { folderChange, simpleCommand } from './simple-command.ts';

const MAX_DEPTH = 12;

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
    const listed = node.operators[0] === '|' ? namesListed(only, at) : undefined;
    const sum = inTurn(node.commands, at, (command, from) => {
      const given = command === others[0] ? listed : undefined;
      const ran = command.type === 'While' ? readWhile(command, from, given, readBody) : readNode(command, from);
      return { ...ran, ok: at.cwds, failed: [] };
    });
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
      return readFor(node, at, readBody);
    case 'While':
      return readWhile(node, at, undefined, readBody);
    case 'Redirected':
      return readRedirected(node, at);
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

function readBody({ commands }: CompoundList, at: Standing): Outcome {
  return readList(commands, at);
}

/** What a whole construct reads from or writes to is opened before it begins. */
function readRedirected({ command, redirects, pos, end }: Redirected, at: Standing): Outcome {
  const opened = redirects.map((redirect) => readRedirect(redirect, at.source, at.bound));
  const part: ShellPart = {
    text: at.source.slice(pos, end),
    argv: [],
    assignments: [],
    redirects: opened.flatMap((each) => each.redirects),
    cwds: at.cwds,
    isRound: at.bound.size > 0,
  };
  const own = withProblems(
    { ...nothing(at), parts: [part] },
    opened.flatMap((each) => each.problems),
  );
  const ran = readCommandNode(command, behind(at, own));
  return { ...joined(own, ran), ok: ran.ok, failed: ran.failed };
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

function describe(type: string): string {
  return type.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
