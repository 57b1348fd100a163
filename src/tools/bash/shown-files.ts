import { existsSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { ShellAnalysis } from '../../contracts/shell-analysis.ts';
import type { CallContext, ToolOutcome } from '../../contracts/tool.ts';
import { analyzeShell } from '../../permissions/shell/analyze.ts';
import { collectShellEffects } from '../../permissions/shell/effects/collect-shell-effects.ts';
import { getProgramBaseName } from '../../permissions/shell/parse/shell-words.ts';
import type { BashDeps } from './bash-deps.ts';

const MAX_FILES = 20;

/**
 * Returns the files whose lines a command has printed unchanged: with cat, head, tail, `sed -n`, or as a diff of git.
 * @internal Exported for tests.
 */
export function listFilesShownByCommand(
  { command, parse }: ShellAnalysis,
  cwd: string,
  output: string,
): readonly string[] {
  // Piped, redirected or computed text is not certainly the text of the file.
  if (!/\b(?:cat|head|tail|nl|bat|sed|git)\b/.test(command) || /[|<>`$]/.test(command)) return [];
  const { commands, hasSubstitution } = collectShellEffects(parse(command), parse);
  const names = commands.map(({ argv }) => getProgramBaseName(argv[0] ?? ''));
  if (hasSubstitution || names.includes('cd') || names.includes('pushd')) return [];
  const files = commands.flatMap(({ argv: [, ...args] }, index) => listPrintedFiles(names[index] ?? '', args));
  const diffed = commands.some(({ argv }, index) => names[index] === 'git' && /^(?:diff|show)$/.test(argv[1] ?? ''))
    ? listDiffedFiles(output, cwd)
    : [];
  const all = [...new Set([...files.map((file) => path.resolve(cwd, file)), ...diffed])];
  return all.length > MAX_FILES ? [] : all;
}

function listPrintedFiles(program: string, args: readonly string[]): readonly string[] {
  switch (program) {
    case 'cat':
    case 'nl':
    case 'bat':
      return args.filter((arg) => !arg.startsWith('-'));
    case 'head':
    case 'tail':
      if (args.some((arg) => /^(?:-c|--bytes|-f|-F)/.test(arg))) return [];
      return args.filter((arg, index) => !/^[-+]/.test(arg) && args[index - 1] !== '-n');
    case 'sed': {
      const [script = '', ...files] = args.filter((arg) => !arg.startsWith('-'));
      return args.includes('-n') && /^[\d,$;p\s]+$/.test(script) ? files : [];
    }
    default:
      return [];
  }
}

/** Decodes a path that git prints in quotes: the bytes of other characters than those of ASCII are octal. */
function unquoteGitPath(text: string): string {
  const bytes = text.replaceAll(/\\(?:([0-3][0-7]{2})|(.))/gs, (_, octal: string | undefined, other: string) =>
    octal === undefined ? other : String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Returns the files of a diff; their paths start at the root of the repository, which is the folder or above it. */
function listDiffedFiles(output: string, cwd: string): readonly string[] {
  return [...stripVTControlCharacters(output).matchAll(/^\+\+\+ (?:"(.+)"|(.+?))\t?$/gm)].flatMap(
    ([, quoted, plain = '']) => {
      const name = quoted === undefined ? plain : unquoteGitPath(quoted);
      // With `diff.mnemonicPrefix` the prefix names what is compared, with `diff.noprefix` there is none.
      const file = name.replace(/^[bciw]\//, '');
      for (let folder = cwd; ; folder = path.dirname(folder)) {
        const candidate = path.join(folder, file);
        if (existsSync(candidate)) return [candidate];
        if (folder === path.dirname(folder)) return [];
      }
    },
  );
}

/** Reports the files that a command has printed, unless a part of its output is left out. */
export async function reportShownFiles(
  command: string,
  outcome: ToolOutcome,
  context: CallContext,
  deps: BashDeps,
): Promise<void> {
  const { content, isError, display } = outcome;
  const isCut = display?.kind !== 'output' || display.fullPath !== undefined;
  if (deps.onShown === undefined || isError === true || isCut || typeof content !== 'string') return;
  await deps.onShown(listFilesShownByCommand(analyzeShell(command), context.cwd, content), context.callId);
}
