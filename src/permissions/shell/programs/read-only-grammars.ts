import { createLazy } from '../../../lib/memoize.ts';
import { splitWords } from '../../../lib/text/lines.ts';
import type { ShellArgument } from '../parse/shell-words.ts';
import {
  type AncestorFileCondition,
  CURRENT_FOLDER,
  READS_NOTHING,
  type ReadOnlyAnalysis,
  refuse,
  refuseUnlisted,
} from './program-facts.ts';
import { isHarmlessSedScript, parseSedArgs } from './sed-script.ts';

/** Refuses jq programs that read more than their input. */
export function analyzeJqCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis | undefined {
  const readsElsewhere =
    /\benv\b|\$ENV|\$__prog|\b(?:import|include|input_filename|modulemeta|debug|halt_error|getpath)\b/;
  return args.some((arg) => readsElsewhere.test(arg.text))
    ? refuse('The jq program reads more than its input.')
    : undefined;
}

/** Refuses tail options that follow a file. */
export function analyzeTailCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis | undefined {
  return args.some((arg) => /^-[a-zA-Z]*[fF]/.test(arg.text) || /^--(?:follow|retry|pid)/.test(arg.text))
    ? refuse('tail would follow the file and never end.')
    : undefined;
}

/** Allows `date -I`, which prints a date. */
export function analyzeDateCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis | undefined {
  return args.some((arg) => /^-I/.test(arg.text)) &&
    args.every((arg) => /^(?:-I(?:date|hours|minutes|seconds|ns)?|-u)$/.test(arg.text))
    ? READS_NOTHING
    : undefined;
}

const NODE_EXPRESSION =
  /^(?:process\.(?:version|platform|arch|versions(?:\.\w+)?)|require\((["'])\.\/package\.json\1\)(?:\.(?!constructor\b|__)[A-Za-z_]\w*)*)$/;
/** Files that node would load instead of package.json. */
const SHADOWING_FILES: readonly AncestorFileCondition[] = [
  { name: 'package.json.js' },
  { name: 'package.json.json' },
  { name: 'package.json.node' },
  { name: 'package.json/index.js' },
  { name: 'package.json/index.json' },
  { name: 'package.json/index.node' },
  { name: 'package.json/package.json' },
];
const PACKAGE_JSON: ShellArgument = { ...CURRENT_FOLDER, text: './package.json', prefix: './package.json' };

/** Analyzes `node --check a.js`, and `node -p` with an expression that prints a version. */
export function analyzeNodeCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const check = createSyntaxCheckAnalyzer(/^(?:--check|-c)$/)(args);
  if (check !== undefined) return check;
  const [option, code, rest] = args;
  const isPrint = option?.kind === 'literal' && /^(?:-p|-pe|--print)$/.test(option.text) && code?.kind === 'literal';
  if (!isPrint || rest !== undefined || !NODE_EXPRESSION.test(code.text)) return refuseUnlisted('This code');
  return { ok: true, reads: [PACKAGE_JSON], searches: [], follows: 'none', unlessFiles: SHADOWING_FILES };
}

/** Creates the analysis of an interpreter that only checks the syntax of files: its option, then paths. */
export function createSyntaxCheckAnalyzer(
  option: RegExp,
  listUnlessFiles?: () => readonly AncestorFileCondition[],
): (args: readonly ShellArgument[]) => ReadOnlyAnalysis | undefined {
  return (args) => {
    const texts = args.map(({ text }) => text);
    const start = texts[0] === '-m' ? 2 : 1;
    const files = args.slice(start);
    const isCheck = option.test(texts.slice(0, start).join(' ')) && files.length > 0;
    // Matches that begin with a dash are found when the files are checked.
    const isFile = ({ kind, text }: ShellArgument) => /^(?:literal|glob)$/.test(kind) && !text.startsWith('-');
    if (!isCheck || args.some((arg, at) => (at < start ? arg.kind !== 'literal' : !isFile(arg)))) return undefined;
    const reads = { ok: true, reads: files, searches: [], follows: 'none' } as const;
    return listUnlessFiles === undefined ? reads : { ...reads, unlessFiles: listUnlessFiles() };
  };
}

/** Modules that `python -m py_compile` loads, from the working directory if they are there. */
const COMPILER_MODULES = splitWords(`
  py_compile __future__ _bootlocale _collections_abc _colorize _compat_pickle _py_warnings _weakrefset abc argparse ast
  bisect bz2 codecs collections contextlib copy copyreg dataclasses dis encodings enum fnmatch functools genericpath
  gettext glob heapq importlib inspect io ipaddress keyword linecache locale lzma math ntpath opcode operator os pathlib
  pkgutil platform posixpath random re reprlib runpy shutil signal site sitecustomize sre_compile sre_constants sre_parse
  stat string struct subprocess sys tempfile textwrap threading time token tokenize traceback types typing unicodedata
  urllib usercustomize warnings weakref zipfile zipimport zlib
`);

/** Files of the project that Python would load as such a module. */
export const listShadowingModules = createLazy((): readonly AncestorFileCondition[] =>
  COMPILER_MODULES.flatMap((name) =>
    ['.py', '.pyc', '.so', '/__init__.py', '/__init__.pyc'].map((end) => ({ name: `${name}${end}` })),
  ),
);

/** Analyzes `tsc --noEmit`, which checks types and writes nothing, with a project or files. */
export function analyzeTscCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis | undefined {
  const texts = args.map(({ text }) => text);
  const isProjectOption = (text = '') => text === '-p' || text === '--project';
  const isPlain = args.every(({ kind, text }, at) => {
    if (kind !== 'literal') return false;
    if (isProjectOption(text)) return texts[at + 1]?.startsWith('-') === false;
    return !text.startsWith('-') || /^--(?:noEmit|pretty|strict|skipLibCheck|noErrorTruncation)$/.test(text);
  });
  if (!isPlain || !texts.includes('--noEmit')) return undefined;
  return { ok: true, reads: args.filter(({ text }) => !text.startsWith('-')), searches: [], follows: 'none' };
}

/** Predicates of find that only read: those with a value, and those without. */
const FIND_VALUE_PREDICATES = new Set(
  splitWords(
    '-name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -size -maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -links -inum -printf -newermt -newer -anewer -cnewer',
  ),
);
const FIND_PREDICATES = new Set(
  splitWords(
    '-empty -print -print0 -ls -prune -quit -true -false -depth -xdev -mount -not ! -a -and -o -or ( ) -readable -writable -executable -daystart -noleaf -nouser -nogroup',
  ),
);

/** Analyzes the arguments of `find`: its folders, then predicates that only read. */
export function analyzeFindCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const expanded = args.find((arg) => arg.kind !== 'literal');
  if (expanded !== undefined) return refuse(`${expanded.text} is expanded before find sees it.`);
  let index = 0;
  while (args[index]?.text === '-P') index += 1;
  const folders: ShellArgument[] = [];
  const referenceFiles: ShellArgument[] = [];
  for (; index < args.length && !/^(?:-|!|\(|\)|,)/.test(args[index]?.text ?? ''); index += 1)
    folders.push(...args.slice(index, index + 1));
  for (; index < args.length; index += 1) {
    const predicate = args[index]?.text ?? '';
    if (!FIND_VALUE_PREDICATES.has(predicate) && !FIND_PREDICATES.has(predicate))
      return refuseUnlisted(`find ${predicate}`);
    if (!FIND_VALUE_PREDICATES.has(predicate)) continue;
    index += 1;
    if (index >= args.length) return refuse(`find ${predicate} has no value.`);
    if (/^-[ac]?newer$/.test(predicate)) referenceFiles.push(...args.slice(index, index + 1));
  }
  return {
    ok: true,
    reads: [...(folders.length === 0 ? [CURRENT_FOLDER] : folders), ...referenceFiles],
    searches: [],
    follows: 'none',
  };
}

/** Analyzes sed: its script must not start programs, nor read or write other files. */
export function analyzeSedCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const parsed = parseSedArgs(args.map((arg) => arg.text));
  if (parsed === undefined || parsed.isInPlace) return refuse('sed with these options may do more than print.');
  const files = args.filter((_, index) => parsed.files.includes(index));
  const unclear = args.find(
    (arg) => (arg.kind !== 'literal' || arg.count === 'some') && !(files.includes(arg) && arg.kind !== 'data'),
  );
  if (unclear !== undefined) return refuseUnlisted(`sed ${unclear.text}`);
  if (!isHarmlessSedScript(parsed.script)) return refuseUnlisted('This sed script');
  return { ok: true, reads: files.filter(({ text }) => text !== '-'), searches: [], follows: 'none' };
}

/** Code that starts programs, opens files or reads the environment, also inside a text or a pattern. */
const AWK_SIDE_EFFECT =
  /\||\bgetline|system|close|fflush|print(?:(?!print)[\s\S])*>|@|extension|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARGV|ARGC|\\\n/;

/** Analyzes `awk '{print $1, $NF}'` and `awk -F: 'NR>=2'`: programs that only compute and print. */
export function analyzeAwkCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const [first, second] = args;
  const isSeparateValue = first?.text === '-F';
  const hasSeparator = isSeparateValue || (first?.kind === 'literal' && /^-F(?:.|\\t)$/.test(first.text));
  if (isSeparateValue && (second?.kind !== 'literal' || second.text.length > 2))
    return refuse('The value of awk -F is not a plain separator.');
  const [program, ...files] = args.slice(hasSeparator ? (isSeparateValue ? 2 : 1) : 0);
  const text = program?.text.replaceAll('||', ' ') ?? '|';
  if (program?.kind !== 'literal' || text.startsWith('-') || AWK_SIDE_EFFECT.test(text))
    return refuse('The awk program may do more than print and count.');
  const isFile = ({ kind, text }: ShellArgument) => kind === 'literal' || (kind === 'glob' && !text.startsWith('-'));
  const unclear = files.find((arg) => !isFile(arg) || arg.text.startsWith('-') || arg.text.includes('='));
  if (unclear !== undefined) return refuseUnlisted(`awk ${unclear.text}`);
  return { ok: true, reads: files, searches: [], follows: 'none' };
}

/** Creates the analysis for listing a local archive: `tar tzf x`, `unzip -l x`. */
export function createArchiveAnalysis(listOption: RegExp): (args: readonly ShellArgument[]) => ReadOnlyAnalysis {
  return (args) => {
    const [option, archive, ...names] = args;
    const isLiteral = [option, archive, ...names].every((arg) => arg?.kind === 'literal');
    if (option === undefined || archive === undefined || !isLiteral || !listOption.test(option.text))
      return refuse('The command may do more than list the archive.');
    // A colon separates the name of another machine.
    if ([archive, ...names].some(({ text }) => text.startsWith('-')) || archive.text.includes(':'))
      return refuse(`${archive.text} may not be a plain archive name.`);
    return { ok: true, reads: [archive], searches: [], follows: 'none' };
  };
}

/** Analyzes xxd, which takes its options one by one and writes its second file. */
export function analyzeXxdCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  let index = 0;
  for (; args[index]?.text.startsWith('-') === true && args[index]?.text !== '-'; index += 1) {
    const option = args[index]?.text ?? '';
    const takesValue = /^-[cglos]$/.test(option);
    if (takesValue) index += 1;
    const isKnown = takesValue ? /^\d+$/.test(args[index]?.text ?? '') : /^-(?:[abeEiu]|ps?|[cglos]\d+)$/.test(option);
    if (!isKnown) return refuseUnlisted(`xxd ${option}`);
  }
  const files = args.slice(index);
  const isSingleFile = files.length < 2 && args.every(({ kind, count }) => kind === 'literal' && count !== 'some');
  if (!isSingleFile) return refuse('xxd with more than one file may write.');
  return { ok: true, reads: files.filter(({ text }) => text !== '-'), searches: [], follows: 'none' };
}

/** Refuses names without a known extension, for which zcat also opens the name with the extension added. */
export function analyzeZcatCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis | undefined {
  const unclear = args.find(({ text }) => !/^(?:-f?|--)$|\.(?:gz|z|Z|tgz|taz)$/.test(text));
  return unclear === undefined ? undefined : refuse(`zcat ${unclear.text} may open a file with another name.`);
}

/** Allows ps options that list processes without their environment. */
export function analyzePsCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const areKnownOptions = args.every(
    (arg, index) =>
      arg.kind === 'literal' &&
      (/^(?:-[eAafFlj]+|[auxwf]+)$/.test(arg.text) ||
        (args[index - 1]?.text === '-p' ? /^\d+$/ : /^-p$/).test(arg.text)),
  );
  return areKnownOptions ? READS_NOTHING : refuse('ps with these options may show more than the process list.');
}

const TEST_UNARY = new Set('-e -f -d -s -r -w -x -h -L -n -z -b -c -p -S -k -u -g -O -G'.split(' '));
const TEST_BINARY = new Set('= == != -eq -ne -lt -le -gt -ge -nt -ot -ef'.split(' '));

/** Analyzes test, which reads attributes; `-v` and similar operators evaluate subscripts and are not supported. */
export function analyzeTestCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const unknownArg = args.find((arg) => arg.kind !== 'literal' && arg.count !== 'one' && !/^\$[?#$]$/.test(arg.text));
  if (unknownArg !== undefined) return refuse(`${unknownArg.text} is not a plain word.`);
  const words = args.filter((word, index) => !(index === 0 && word.text === '!'));
  const texts = words.map((word) => word.text);
  const isKnownForm =
    texts.length === 1 ||
    (texts.length === 2 && TEST_UNARY.has(texts[0] ?? '')) ||
    (texts.length === 3 && TEST_BINARY.has(texts[1] ?? ''));
  if (!isKnownForm) return refuse('This form of test is not analyzed.');
  const operator = texts[texts.length - 2] ?? '';
  const asksDisk = /^-(?:[efdsrwxhLbcpSkugOG]|[no]t|ef)$/.test(operator);
  return { ...READS_NOTHING, ...(asksDisk ? { tests: words.filter(({ text }) => text !== operator) } : {}) };
}

/** Analyzes `[ … ]`, which is `test …`. */
export function analyzeBracketCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  return args.at(-1)?.text === ']' ? analyzeTestCommand(args.slice(0, -1)) : refuse('[ has no closing ].');
}

/** Analyzes printf, which must not set variables. */
export function analyzePrintfCommand(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const [format] = args;
  if (format === undefined || format.kind !== 'literal' || format.text.startsWith('-'))
    return refuse('printf with options may set variables.');
  // `%n` sets a variable, also as `%ln`: only the conversions that print are listed, without length modifiers.
  const conversions = format.text.replace(
    /%(?:%|[-+ #0']*(?:[1-9]\d*|\*)?(?:\.(?:\d+|\*)?)?(?:[diouxXeEfFgGcsbq]|\([^()%]*(?:%[a-zA-Z][^()%]*)*\)T))/g,
    '',
  );
  if (conversions.includes('%')) return refuse('printf with this format may set variables.');
  if (args.some((arg) => arg.kind === 'unknown' || arg.kind === 'spread'))
    return refuse('An argument of printf is unknown.');
  return READS_NOTHING;
}
