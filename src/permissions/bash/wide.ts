import { type Assignment, forEachChild, type ParsedScript, parse, type Redirect, type SyntaxNode } from 'unbash';
import type { ShellPart } from './shell-part.ts';
import { execStarts, runsTexts, scriptTexts } from './texts-that-run.ts';
import { baseName, readWord } from './words.ts';
import { wrappedStarts } from './wrappers.ts';

/** A command that may run, by whatever way; `unknown` marks words nobody can read in advance. */
export type Reached = { readonly argv: readonly string[]; readonly unknown: readonly boolean[]; readonly via: string };

/** The generous reading, for denials: everything that could run, and every file a redirection names. */
export type WideReading = {
  readonly commands: readonly Reached[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly overflow: 'complete' | 'cut';
  /** Some command stands in a substitution. */
  readonly nested: 'yes' | 'no';
};

const MAX_REACHED = 4_000;
const MAX_DEPTH = 12;
const SYSTEM_PROGRAM = /^\/(?:usr\/)?(?:local\/)?s?bin\/[^/]+$/;

export function readWidely(script: ParsedScript, unrolled: readonly ShellPart[] = []): WideReading {
  const commands: Reached[] = [];
  const reads: string[] = [];
  const writes: string[] = [];
  const fed: string[] = [];
  const queue: { node: SyntaxNode; via: string; depth: number }[] = [{ node: script, via: '', depth: 0 }];
  let overflow: WideReading['overflow'] = 'complete';
  let nested: WideReading['nested'] = 'no';

  function reach(argv: readonly string[], unknown: readonly boolean[], via: string, depth: number): void {
    if (argv.length === 0) return;
    if (commands.length >= MAX_REACHED || depth > MAX_DEPTH) {
      overflow = 'cut';
      return;
    }
    commands.push({ argv, unknown, via });
    const name = baseName(argv[0] ?? '');
    const inner = [...wrappedStarts(argv), ...execStarts(argv)];
    for (const start of inner) reach(argv.slice(start), unknown.slice(start), name, depth + 1);
    for (const text of scriptTexts(name, argv)) readText(text, name, depth + 1);
    // A program under another name is still that program.
    if (/^(?:cp|ln|install|mv|cat|dd)$/.test(name)) {
      const programs = argv.map((word) => word.replace(/^if=/, '')).filter((word) => SYSTEM_PROGRAM.test(word));
      for (const program of programs) commands.push({ argv: [program], unknown: [false], via: name });
    }
  }

  function readText(text: string, via: string, depth: number): void {
    if (depth > MAX_DEPTH) {
      overflow = 'cut';
      return;
    }
    if (text.trim() !== '') queue.push({ node: parse(text), via, depth });
  }

  function visit(node: SyntaxNode, via: string, depth: number): void {
    if (depth > MAX_DEPTH * 8) {
      overflow = 'cut';
      return;
    }
    if (node.type === 'Command') {
      const words = [node.name, ...node.args].filter((word) => word !== undefined);
      const read = words.map((word) =>
        word.type === 'Assignment' ? { text: assigned(word), kind: 'literal' } : readWord(word),
      );
      const argv = read.map((word) => word.text);
      reach(
        argv,
        read.map((word) => word.kind !== 'literal'),
        via,
        0,
      );
    }
    if (node.type === 'CommandExpansion') nested = 'yes';
    if (node.type === 'Redirect') readRedirect(node);
    if (node.type === 'Pipeline') readFed(node, via);
    if (node.type === 'HereDocBody') fed.push(node.text);
    if (node.type === 'HereString' && node.target !== undefined) fed.push(readWord(node.target).text);
    forEachChild(node, (child) => visit(child, via, depth + 1));
  }

  /** `echo 'rm x' | sh`: what is printed into a shell is read as its script. */
  function readFed(node: Extract<SyntaxNode, { type: 'Pipeline' }>, via: string): void {
    const simple = node.commands.map((command) =>
      command.type === 'Command' && command.name !== undefined
        ? [command.name, ...command.args].map((word) => (word.type === 'Assignment' ? word.text : readWord(word).text))
        : [],
    );
    const run = simple.slice(1).some((argv) => argv.some((word) => runsTexts(baseName(word))));
    if (!run) return;
    for (const argv of simple.slice(0, -1)) {
      if (/^(?:echo|printf|cat)$/.test(baseName(argv[0] ?? ''))) readText(argv.slice(1).join(' '), via || 'pipe', 1);
    }
  }

  function readRedirect(redirect: Redirect): void {
    if (redirect.target === undefined) return;
    const text = readWord(redirect.target).text;
    if ((redirect.operator === '>&' || redirect.operator === '<&') && /^(?:\d+-?|-)$/.test(text)) return;
    if (redirect.operator !== '<' && redirect.operator !== '<&') writes.push(text);
    if (redirect.operator === '<' || redirect.operator === '<>' || redirect.operator === '<&') reads.push(text);
  }

  function drain(): void {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (commands.length >= MAX_REACHED) overflow = 'cut';
      else visit(next.node, next.via, next.depth);
    }
  }

  for (const { argv, redirects } of unrolled) {
    const words = argv.map((word) => word.text);
    reach(
      words,
      argv.map((word) => word.kind !== 'literal'),
      '',
      0,
    );
    for (const { use, target } of redirects) {
      if (use !== 'write') reads.push(target.text);
      if (use !== 'read') writes.push(target.text);
    }
  }
  drain();
  // A here-document is data, unless something on the line may run it.
  if (commands.some(({ argv }) => runsTexts(baseName(argv[0] ?? '')))) {
    for (const text of fed.splice(0)) readText(text, 'here-document', 2);
    drain();
  }
  return { commands, reads, writes, overflow, nested };
}

function assigned(word: Assignment): string {
  return word.value.type === 'Word' ? `${word.name}=${readWord(word.value).text}` : word.text;
}
