import { type Command, forEachChild, type ParsedScript, parse, type Redirect, type SyntaxNode } from 'unbash';
import type { ParseScript } from '../analyze.ts';
import type { ResolvedCommand } from '../exact/shell-state.ts';
import { getCommandArgv, getProgramBaseName, parseShellArgument } from '../parse/shell-words.ts';
import { findProgramFacts } from '../programs/find-program-facts.ts';
import { type ComputedArg, hasExpansion, listComputedArgs, listPipedNameArgs } from './computed-args.ts';
import { mayRunInputAsCode } from './interpreter-code.ts';
import {
  findExecCommandStarts,
  findWrappedCommandStarts,
  listInlineScripts,
  runsShellScripts,
} from './nested-commands.ts';

/** A command that may run, and the name of the program that would run it. */
export type ReachableCommand = { readonly argv: readonly string[]; readonly via: string };

/** Everything a line may do, over-approximated for denials: commands it could run, files its redirections open. */
export type ShellEffects = {
  readonly commands: readonly ReachableCommand[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Standard input that an interpreter would run as code. */
  readonly inputCode: readonly string[];
  /** Text printed into a program that would run it as a script. */
  readonly inputScripts: readonly string[];
  /** Text outside the arguments of commands: the values of variables and here-documents. */
  readonly otherTexts: readonly string[];
  readonly computedArgs: readonly ComputedArg[];
  /** Commands that read names which cannot be listed; `index` is the position where the names would be passed. */
  readonly nameArgs: readonly ComputedArg[];
  /** True if the command line contains more than was analyzed. */
  readonly isTruncated: boolean;
  /** True if a command is inside a substitution. */
  readonly hasSubstitution: boolean;
};

const MAX_REACHED = 1_000;
/** Limits for the words of all commands and the characters of all scripts: both grow with nesting. */
const MAX_WORDS = 6_000;
const MAX_TEXT = 50_000;
const MAX_DEPTH = 12;
const SYSTEM_PROGRAM = /^\/(?:usr\/)?(?:local\/)?s?bin\/[^/]+$/;

type PendingCommand = ReachableCommand & { readonly depth: number };
type PendingScript = { readonly text: string; readonly via: string };

/** Collects the effects of a script, of scripts in its arguments, and of its loops with their variables filled in. */
export function collectShellEffects(
  script: ParsedScript,
  parseScript: ParseScript = parse,
  expandedCommands: readonly ResolvedCommand[] = [],
): ShellEffects {
  const commands: ReachableCommand[] = [];
  const contents: ScriptContents[] = [];
  const scripts: PendingScript[] = [];
  let isTruncated = false;
  let [wordCount, characterCount] = [0, 0];

  // A nested command follows the command that runs it; scripts wait until the whole command line is done.
  function addCommands(pending: readonly PendingCommand[]): void {
    const stack = pending.toReversed();
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (next.argv.length === 0) continue;
      wordCount += next.argv.length;
      if (commands.length >= MAX_REACHED || wordCount > MAX_WORDS || next.depth > MAX_DEPTH) {
        isTruncated = true;
        continue;
      }
      commands.push({ argv: next.argv, via: next.via });
      stack.push(...listNestedCommands(next).reverse());
      const via = getProgramBaseName(next.argv[0] ?? '');
      scripts.push(...listInlineScripts(next.argv).map((text) => ({ text, via })));
    }
  }

  function addScript(root: SyntaxNode, via: string): void {
    const content = collectContents(root);
    contents.push(content);
    if (content.isTruncated) isTruncated = true;
    addCommands(content.commands.map((argv) => ({ argv, via, depth: 0 })));
    scripts.push(...content.inputScripts.map((text) => ({ text, via: via || 'pipe' })));
  }

  function addScripts(scriptTexts: readonly PendingScript[] = []): void {
    scripts.push(...scriptTexts);
    for (let next = scripts.shift(); next !== undefined; next = scripts.shift()) {
      characterCount += next.text.length;
      if (commands.length >= MAX_REACHED || wordCount > MAX_WORDS || characterCount > MAX_TEXT) isTruncated = true;
      else if (next.text.trim() !== '') addScript(parseScript(next.text), next.via);
    }
  }

  addCommands(expandedCommands.map(({ argv }) => ({ argv: argv.map((arg) => arg.text), via: '', depth: 0 })));
  addScript(script, '');
  addScripts();
  // A here-document is data unless a command on the line may run it.
  if (commands.some(({ argv }) => runsShellScripts(argv[0] ?? '')))
    addScripts(contents.flatMap(({ data }) => data).map((text) => ({ text, via: 'here-document' })));
  const redirects = expandedCommands.flatMap(({ redirects }) => redirects);
  return {
    commands,
    reads: [
      ...redirects.filter(({ use }) => use !== 'write').map(({ target }) => target.text),
      ...contents.flatMap(({ reads }) => reads),
    ],
    writes: [
      ...redirects.filter(({ use }) => use !== 'read').map(({ target }) => target.text),
      ...contents.flatMap(({ writes }) => writes),
    ],
    inputCode: contents.flatMap(({ inputCode }) => inputCode),
    inputScripts: contents.flatMap(({ inputScripts }) => inputScripts),
    otherTexts: contents.flatMap(({ assigned, data }) => [...assigned, ...data]),
    computedArgs: contents.flatMap(({ computedArgs }) => computedArgs),
    nameArgs: contents.flatMap(({ nameArgs }) => nameArgs),
    isTruncated,
    hasSubstitution: contents.some((content) => content.hasSubstitution),
  };
}

/** Analyzes the command line both as written and with its continued lines joined, as bash joins them before parsing. */
export function collectCommandLineEffects(
  command: string,
  parse: ParseScript,
  expandedCommands: readonly ResolvedCommand[],
): ShellEffects {
  const original = collectShellEffects(parse(command), parse, expandedCommands);
  const joined = command.replaceAll('\\\n', '');
  if (joined === command) return original;
  const joinedEffects = collectShellEffects(parse(joined), parse);
  return {
    commands: [...original.commands, ...joinedEffects.commands],
    reads: [...original.reads, ...joinedEffects.reads],
    writes: [...original.writes, ...joinedEffects.writes],
    inputCode: [...original.inputCode, ...joinedEffects.inputCode],
    inputScripts: [...original.inputScripts, ...joinedEffects.inputScripts],
    otherTexts: [...original.otherTexts, ...joinedEffects.otherTexts],
    computedArgs: [...original.computedArgs, ...joinedEffects.computedArgs],
    nameArgs: [...original.nameArgs, ...joinedEffects.nameArgs],
    isTruncated: original.isTruncated || joinedEffects.isTruncated,
    hasSubstitution: original.hasSubstitution || joinedEffects.hasSubstitution,
  };
}

/** Returns the commands that a command runs by its arguments. */
function listNestedCommands({ argv, depth }: PendingCommand): PendingCommand[] {
  const [name = ''] = argv;
  const via = getProgramBaseName(name);
  const nested = [...findWrappedCommandStarts(argv), ...findExecCommandStarts(argv)].map((index) => argv.slice(index));
  // A copy of a program is still that program under another name.
  const copied = findProgramFacts(name).copiesFiles === true ? argv.slice(1).map((arg) => arg.replace(/^if=/, '')) : [];
  const renamed = copied.filter((arg) => SYSTEM_PROGRAM.test(arg)).map((program) => [program]);
  return [...nested, ...renamed].map((nestedArgv) => ({ argv: nestedArgv, via, depth: depth + 1 }));
}

/** The contents of one script, without the scripts in its arguments. */
type ScriptContents = Pick<
  ShellEffects,
  'reads' | 'writes' | 'inputCode' | 'inputScripts' | 'computedArgs' | 'nameArgs' | 'isTruncated' | 'hasSubstitution'
> & {
  readonly commands: readonly (readonly string[])[];
  /** Here-documents and here-strings. */
  readonly data: readonly string[];
  /** The values that are assigned to variables. */
  readonly assigned: readonly string[];
};

function collectContents(root: SyntaxNode): ScriptContents {
  const { nodes, isTruncated } = listNodes(root);
  const commands = nodes.filter((node) => node.type === 'Command');
  const pipeContents = nodes.filter((node) => node.type === 'Pipeline').map(collectPipeContents);
  const openedFiles = nodes.filter((node) => node.type === 'Redirect').flatMap(listOpenedFiles);
  return {
    commands: commands.map(getCommandArgv),
    reads: openedFiles.filter(({ use }) => use !== 'write').map(({ target }) => target),
    writes: openedFiles.filter(({ use }) => use !== 'read').map(({ target }) => target),
    inputCode: [
      ...commands.filter((node) => mayRunInputAsCode(getCommandArgv(node))).flatMap(listInputTexts),
      ...pipeContents.flatMap(({ inputCode }) => inputCode),
    ],
    computedArgs: [
      ...commands.flatMap(listComputedArgs),
      ...openedFiles.filter(({ target }) => hasExpansion(target)).map(createComputedTarget),
    ],
    nameArgs: nodes.filter((node) => !isLongPipe(node)).flatMap(listPipedNameArgs),
    inputScripts: pipeContents.flatMap(({ inputScripts }) => inputScripts),
    assigned: nodes.flatMap((node) =>
      node.type === 'Assignment' ? [node.value.type === 'Word' ? parseShellArgument(node.value).text : node.text] : [],
    ),
    data: nodes.flatMap((node) => {
      if (node.type === 'HereDocBody') return [node.text];
      return node.type === 'HereString' && node.target !== undefined ? [parseShellArgument(node.target).text] : [];
    }),
    isTruncated: isTruncated || nodes.some(isLongPipe),
    hasSubstitution: nodes.some((node) => node.type === 'CommandExpansion'),
  };
}

const MAX_STAGES = 100;

function isLongPipe(node: SyntaxNode): boolean {
  return node.type === 'Pipeline' && node.commands.length > MAX_STAGES;
}

function listNodes(root: SyntaxNode): { readonly nodes: readonly SyntaxNode[]; readonly isTruncated: boolean } {
  const nodes: SyntaxNode[] = [];
  let isTruncated = false;
  const visit = (node: SyntaxNode, depth: number): void => {
    if (depth > MAX_DEPTH * 8) {
      isTruncated = true;
      return;
    }
    nodes.push(node);
    forEachChild(node, (child) => visit(child, depth + 1));
  };
  visit(root, 0);
  return { nodes, isTruncated };
}

/** Returns the here-documents and here-strings on the input of a command. */
function listInputTexts({ redirects }: Command): readonly string[] {
  return redirects.flatMap((redirect) => {
    if (redirect.type === 'HereDoc') return [redirect.body.text];
    return redirect.type === 'HereString' && redirect.target !== undefined
      ? [parseShellArgument(redirect.target).text]
      : [];
  });
}

/** Returns the text that is printed into a program which runs it: `echo 'rm x' | sh`, `cat <<EOF | python`. */
function collectPipeContents({
  commands,
}: Extract<SyntaxNode, { type: 'Pipeline' }>): Pick<ScriptContents, 'inputScripts' | 'inputCode'> {
  const commandNodes = commands.flatMap((node) => (node.type === 'Command' ? [node] : []));
  const receivers = commands.slice(1).flatMap((node) => (node.type === 'Command' ? [getCommandArgv(node)] : []));
  const printed = commandNodes.slice(0, -1).flatMap((node) => {
    const [name = '', ...rest] = getCommandArgv(node);
    const { printsArgs, copiesFiles } = findProgramFacts(name);
    return printsArgs === true || copiesFiles === true ? [rest.join(' ')] : [];
  });
  return {
    inputScripts: receivers.some((argv) => argv.some(runsShellScripts)) ? printed : [],
    inputCode: receivers.some(mayRunInputAsCode)
      ? [...printed, ...commandNodes.slice(0, -1).flatMap(listInputTexts)]
      : [],
  };
}

function createComputedTarget({ use, target }: OpenedFile): ComputedArg {
  return { argv: [use === 'read' ? '<' : '>', target], index: 1 };
}

type OpenedFile = { readonly use: 'read' | 'write' | 'both'; readonly target: string };

function listOpenedFiles({ target, operator }: Redirect): readonly OpenedFile[] {
  if (target === undefined) return [];
  const { text } = parseShellArgument(target);
  const duplicatesDescriptor = operator === '>&' || operator === '<&';
  if (duplicatesDescriptor && /^(?:\d+-?|-)$/.test(text)) return [];
  return [{ use: operator === '<>' ? 'both' : operator.startsWith('<') ? 'read' : 'write', target: text }];
}
