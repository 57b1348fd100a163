import { type ParsedScript, parse } from 'unbash';
import { type DecisionContext, findRule, resolveIn } from '../paths/context.ts';
import { type Findings, type Need, ruleSays } from '../paths/finding.ts';
import { expandGlob } from '../paths/folder-scan.ts';
import { pathNeed } from '../paths/path-findings.ts';
import { commandPattern } from '../rules/command-rule.ts';
import { characterProblems } from './check-bytes.ts';
import { isCovered } from './covered.ts';
import { opaqueTexts } from './opaque.ts';
import { readNarrowly } from './read/narrow.ts';
import { partNeeds, redirectNeeds } from './shell-needs.ts';
import { shellObjections } from './shell-objections.ts';
import type { ShellPart } from './shell-part.ts';
import { shellPaths } from './shell-paths.ts';
import { readWidely, type WideReading } from './wide.ts';

const MAX_EXPLAINED = 2_000;

/** Reads a command line both ways: widely for what speaks against it, narrowly for what it needs. */
export function shellFindings(context: DecisionContext, command: string): Findings {
  const script = parse(command);
  const narrow = readNarrowly(command, script, context.policy.cwd, {
    change(cwd, target) {
      const path = resolveIn(context, cwd, target);
      return path.problem === undefined ? path.real : undefined;
    },
    namesOf(cwd, pattern) {
      const names = expandGlob(context.fs, cwd, pattern);
      return names === 'cut' ? undefined : names;
    },
  });
  const unrolled = narrow.parts.filter((part) => part.unrolled === 'yes');
  const wide = readAllWidely(command, script, unrolled);
  const characters = characterProblems(command);
  const unanalysed = [
    ...characters,
    ...narrow.problems,
    ...(isCovered(command, script) ? [] : ['Some of its text was not understood.']),
    ...(wide.overflow === 'cut' ? ['It holds more commands than are looked at.'] : []),
  ];
  const cwds = [...new Set([context.policy.cwd, ...narrow.parts.flatMap((part) => part.cwds)])];
  const paths = shellPaths(context, wide, cwds);
  const objections = shellObjections(context, command, wide, paths);
  const whole = findRule(
    context,
    'allow',
    (rule) => rule.tool === 'Bash' && (rule.specifier === undefined || isWhole(rule.specifier, command)),
  );
  const opaque = watchesBash(context) ? opaqueTexts(script, wide) : [];
  const isNamed = !watchesBash(context) || (unanalysed.length === 0 && opaque.length === 0);
  if (whole !== undefined && characters.length === 0 && (isNamed || whole.specifier !== undefined)) {
    const cover: Need = {
      kind: 'command',
      subject: command,
      text: `${command} is allowed by ${ruleSays(whole)}.`,
      cover: { by: 'rule', rule: whole },
    };
    const writes =
      unanalysed.length === 0
        ? narrow.parts.flatMap((part) => redirectNeeds(context, part))
        : paths.writes
            .filter((each) => each.command.startsWith('> '))
            .map(({ path }) => pathNeed(context, { tool: 'Bash', use: 'write', path }));
    return { objections, needs: [cover, ...writes], unanalysed, hardened: 'none' };
  }
  // What asks anyway needs no long list of reasons.
  const isSettled = unanalysed.length > 0 && command.length > MAX_EXPLAINED;
  const parts = isSettled ? [] : narrow.parts.map((part) => partNeeds(context, part));
  // A rule for just this command has looked at its text.
  const isOpen = parts.some((part) => part.needs.some((need) => need.cover === undefined));
  const unread = [...unanalysed, ...(isOpen ? opaque : [])];
  const unclear: readonly Need[] = unread.map((text) => ({ kind: 'command', subject: command, text }));
  const hardened = parts.some((part) => part.hardened === 'git') ? 'git' : 'none';
  return { objections, needs: [...unclear, ...parts.flatMap((part) => part.needs)], unanalysed: unread, hardened };
}

/** Lines that go on are read both as they stand and joined, as bash joins them before it looks at the words. */
function readAllWidely(command: string, script: ParsedScript, unrolled: readonly ShellPart[]): WideReading {
  const wide = readWidely(script, unrolled);
  const joined = command.replaceAll('\\\n', '');
  if (joined === command) return wide;
  const other = readWidely(parse(joined));
  return {
    commands: [...wide.commands, ...other.commands],
    reads: [...wide.reads, ...other.reads],
    writes: [...wide.writes, ...other.writes],
    overflow: wide.overflow === 'cut' ? 'cut' : other.overflow,
    nested: wide.nested === 'yes' ? 'yes' : other.nested,
  };
}

/** A command line of several parts can be allowed word for word. */
function isWhole(specifier: string, command: string): boolean {
  return specifier === command.trim() && commandPattern(specifier).open === 'exact';
}

/** With a rule that denies or asks for commands, what cannot be named is not run. */
export function watchesBash(context: DecisionContext): boolean {
  return context.policy.rules.some((rule) => rule.behavior !== 'allow' && (rule.tool === 'Bash' || rule.tool === '*'));
}
