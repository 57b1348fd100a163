import { normalize } from 'node:path/posix';
import { createLazy } from '../../lib/memoize.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { type DecisionContext, isInWorkspace, resolveCallPath } from '../decision-context.ts';
import { listOptionOutputs } from './effects/written-file-args.ts';
import type { ResolvedCommand } from './exact/shell-state.ts';
import {
  findProgramFacts,
  getExactProgramFacts,
  isBuildTool,
  isUnknownProgram,
} from './programs/find-program-facts.ts';
import { isDownloader } from './programs/program-risks.ts';

/** Options that mean the same in most programs: what to run or load, which configuration to use, where to write. */
const COMMON_OPTION_NAMES =
  'exec eval command cmd shell script-shell rsh config config-file config-env conf rcfile rc-file init-file env-file require import preload loader plugin plugins plugin-dir rulesdir resolve-plugins-relative-to module-path upload-pack receive-pack toolexec vettool wrapper runner pre pager editor post-renderer to-command use-compress-program compress-program checkpoint-action filter-command output output-file output-document output-dir out-dir outdir outfile';
const listCommonOptions = createLazy(() => COMMON_OPTION_NAMES.split(' ').map((name) => `--${name}`));
/** The same, and names of single programs, without regard to case and dashes: `--outDir`, `-outDir`. */
const getCommonPlainNames = createLazy(
  () =>
    new Set(
      [
        ...COMMON_OPTION_NAMES.split(' '),
        ...splitWords(`
      outdirectory declarationdir tsbuildinfofile generatetrace generatecpuprofile rootdir basetemp confcutdir junitxml
      junitfile reportfile resultlog logfile tracefile profileoutput cachedir cachelocation cachedirectory cachefile
      configpath configs tsconfig globalconfig userconfig envdir dotenv dotenvpath settingsfile
      globalsetup globalteardown setupfile setupfiles setupfilesafterenv testrunner testenvironment transform
      transformer resolver parser formatterpath reporterpath executable executablepath browserpath interpreter
      scriptshell hook hooks initscript initfile preprocessor postprocessor onsuccess onfailure
      pyargs pastebin installtypes insecure noverifyssl nocheckcertificate skiptlsverify insecureskiptlsverify
    `),
      ].map((name) => name.replace(/-/g, '')),
    ),
);
/** Ends of names of options that say what to run: `--python-executable`, `-oProxyCommand`. */
const RUNNING_NAME = /^(?!no).*(?:executable|interpreter|command|compiler|plugin|loader)s?$/;
/** Names that programs which read and print use for something harmless. */
const READER_NAMES = new Set(splitWords('output pre command exec cmd require import pager wrapper parser transform'));
const MIN_ABBREVIATED = 5;
/** Options of many programs. tar, the only one with `--checkpoint-action`, has others that begin with `--check`; `--run` runs tests once. */
const WHOLE_OPTIONS = ['--check', '--run'];

/**
 * True if an argument starts a program, changes how the command works, or makes it write elsewhere; a prefix rule does
 * not cover that. `from` is the index of the first argument that the rule leaves open.
 */
export function hasRiskyArg(argv: readonly string[], from: number): boolean {
  const [name = ''] = argv;
  const {
    riskyOptions = [],
    scriptOptions = [],
    commandMarkers = [],
    outputOptions = [],
    walksFolders,
    interpreter,
  } = findProgramFacts(name);
  const programOptions = [
    ...riskyOptions.filter((option) => option !== 'WORD' || from > 1),
    ...scriptOptions,
    ...outputOptions,
    ...commandMarkers.filter((option) => /^-[^-]|^--./.test(option)),
  ];
  const allRiskyOptions = [
    ...listCommonOptions(),
    ...programOptions.flatMap((option) => resolveSubcommandOption(argv, option)),
  ];
  const dashes = argv.indexOf('--', from);
  const openArgs = argv.slice(from, dashes === -1 ? undefined : dashes);
  // Arguments after it are options of another program.
  if (dashes !== -1 && riskyOptions.includes('--')) return true;
  // Compilers and test runners take a file of further arguments.
  if (isUnknownProgram(name) && openArgs.some((arg) => arg.startsWith('@'))) return true;
  if (interpreter?.isHarmless?.(argv.slice(1)) === false) return true;
  // A format of curl that writes a file.
  if (openArgs.some((arg) => arg.includes('%output{'))) return true;
  if (walksFolders === true && openArgs.some((arg) => /^-(?:delete|f(?:ls|print))/.test(arg))) return true;
  const written = isUnknownProgram(name) ? [] : listOptionOutputs(argv).filter(({ word }) => word !== '/dev/null');
  if (written.some(({ word }) => openArgs.some((arg) => arg.includes(word)))) return true;
  // Go and Java accept long options with one dash or two, and do not combine short ones.
  const shortOptions = programOptions.some((option) => /^-\w\w/.test(option)) ? 'alone' : 'together';
  return (
    openArgs.some((arg) => allRiskyOptions.some((option) => matchesOption(arg, option, shortOptions))) ||
    openArgs.some((arg) => isCommonOption(name, arg))
  );
}

/** True for an option that names what to run, a configuration or an output in most programs, however it is spelled. */
function isCommonOption(program: string, arg: string): boolean {
  const [, option = ''] = /^--?([A-Za-z][\w-]{3,})(?:[=:.].*)?$/s.exec(arg) ?? [];
  const plain = option.toLowerCase().replace(/[-_]/g, '');
  // Programs that only read their operands give some of these names another meaning.
  const isCommon = getCommonPlainNames().has(plain) || RUNNING_NAME.test(plain);
  return isCommon && (!READER_NAMES.has(plain) || findProgramFacts(program).reads === undefined);
}

type OpenArgs = Pick<ResolvedCommand, 'cwds'> & { readonly argv: readonly string[] };

/**
 * True if an argument names another host, or leads out of the workspace: a rule for the beginning of a command does not
 * cover either. That holds for the values of options, and for operands of build tools and unknown programs, which may run
 * what they name. Other operands are what the command is about, so only those count that name a host to a program which
 * sends a token there.
 */
export function leadsElsewhere(context: DecisionContext, { argv, cwds }: OpenArgs, from: number): boolean {
  const [name = ''] = argv;
  const { namesHost, hostSubcommands, printsArgs, reads } = findProgramFacts(name);
  const sendsToken = hostSubcommands?.includes(argv[1] ?? '') ?? true;
  const given = argv.slice(1, from).filter(isAddress).map(readHost);
  const isBuild = buildsOperands(argv, from);
  // Readers take patterns and formats as values, and their operands may be anywhere as well.
  if (printsArgs === true || getExactProgramFacts(name).textArgs === 'all' || (reads !== undefined && !isBuild))
    return false;
  return argv.some((arg, index) => {
    if (index < Math.max(1, from)) return false;
    const [option, value] = splitValue(arg, argv[index - 1]);
    if (isTextArg(argv, index) || isTextOption(name, option)) return false;
    if (sendsToken && [value, arg.replace(/^-[A-Za-z]/, '')].some((text) => namesHost?.test(text) === true))
      return true;
    // A rule for one address covers no other.
    if (given.length > 0 && isDownloader(name) && isOtherAddress(given, option, value, arg)) return true;
    if (/^-[^-]/.test(arg) && leadsOutBehindLetters(context, cwds, arg)) return true;
    if (option === undefined && isBuild && !arg.startsWith('-')) return isForeignOperand(context, cwds, arg);
    if (option === undefined || (isDownloader(name) && /^-\w*$/.test(option) && isAddress(value))) return false;
    return isForeignAddress(option, value) || value.split(PIECES).some((piece) => isOutside(context, cwds, piece));
  });
}

/** An address behind the letters of a downloader, as in `curl -s https://…`, is what the rule is about. */
const isAddress = (value: string) => /^[a-z][\w+.-]*:\/\//i.test(value);

const readHost = (address: string) => /^[^/]*\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(address)?.[1]?.toLowerCase() ?? '';

/** Sub-commands of any program that run or pack what their operands name. */
const BUILDING_WORDS = splitWords('build test check lint compile bundle');

/** True for a build tool or an unknown program, unless the rule names a sub-command that installs what it is given. */
function buildsOperands([name = '', sub = '']: readonly string[], from: number): boolean {
  if (from > 1 && findProgramFacts(name).exactSubcommands?.includes(sub) === true) return false;
  return isUnknownProgram(name) || isBuildTool(name) || BUILDING_WORDS.includes(sub);
}

/** True for an operand that is an address, a version of something to download, or a path out of the workspace. */
function isForeignOperand(context: DecisionContext, cwds: readonly string[], operand: string): boolean {
  const isVersioned = /\w@[\w^~]/.test(operand);
  if (isVersioned && cwds.some((cwd) => context.fs.lstat(resolveCallPath(context, cwd, operand).real) === undefined))
    return true;
  return isForeignAddress('', operand) || operand.split(PIECES).some((piece) => isOutside(context, cwds, piece));
}

/** An option with which a downloader goes where the answer of a server leads it. */
const FOLLOWING_OPTION = /^-\w*L|^--(?:location|follow)/;

/** True for an address of another host, and an operand without a scheme, which is an address to a downloader. */
function isOtherAddress(hosts: readonly string[], option: string | undefined, value: string, arg: string): boolean {
  if (FOLLOWING_OPTION.test(arg)) return true;
  if (isAddress(value)) return !hosts.includes(readHost(value));
  return option === undefined && value !== '';
}

/** A path behind several letters: `-qc../x`, `-qc/etc/x`. More letters before a slash are a folder: `-Isrc/include`. */
const GLUED_PATH = /^(-\w*[A-Za-z](?=\.)|-\w{1,2}[A-Za-z](?=\/))(\.{0,2}(?:\/.*)?)$/s;

/**
 * True if letters of options end in a path that leads out, wherever it begins: `-abcd/etc/x`, if there is `/etc`, and
 * `-Isrc/../../x`.
 */
function leadsOutBehindLetters(context: DecisionContext, cwds: readonly string[], arg: string): boolean {
  const slash = arg.indexOf('/');
  if (slash < 0) return false;
  const [, top = ''] = arg.slice(slash).split('/');
  const isAbsolute = !['', '.', '..'].includes(top) && context.fs.lstat(`/${top}`) !== undefined;
  const relativePath = normalize(arg.slice(2));
  return (
    (isAbsolute && isOutside(context, cwds, normalize(arg.slice(slash)))) ||
    (relativePath.startsWith('..') && isOutside(context, cwds, relativePath))
  );
}

/** Splits an argument into the option it belongs to, its own or the one before, and the value. */
function splitValue(arg: string, previous: string | undefined): readonly [option: string | undefined, value: string] {
  const [, long, longValue] = /^(--?[A-Za-z][\w.-]*|\w+)[=:](?!\/\/)(.*)$/s.exec(arg) ?? [];
  if (long !== undefined && longValue !== undefined) return [long, longValue];
  const [, short, shortValue] = /^(-[A-Za-z])((?:[./~]|\w+:\/\/).*)$/s.exec(arg) ?? GLUED_PATH.exec(arg) ?? [];
  if (short !== undefined && shortValue !== undefined) return [short, shortValue];
  if (arg.startsWith('-')) return [undefined, ''];
  return [previous !== undefined && /^--?[A-Za-z][\w.-]*$/.test(previous) ? previous : undefined, arg];
}

function isTextOption(name: string, option: string | undefined): boolean {
  const { textArgs } = getExactProgramFacts(name);
  return option !== undefined && textArgs !== undefined && textArgs !== 'all' && textArgs.options.includes(option);
}

/** Options whose value is a host or an address also without a scheme. */
const HOST_OPTION =
  /^-\w{0,2}h$|^-*(?:\w+-)?(?:host|hostname|server|servers|endpoint|registry|proxy|remote|upstream|gateway|url|uri|addr|address|connect|broker)$/i;
const LOCAL_HOST = /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1?\]?|true|false|\d+)(?::\d+)?(?:\/|$)/i;

/** True for a URL, `user@host:path`, or any host as the value of an option that expects one; not for this machine. */
function isForeignAddress(option: string, value: string): boolean {
  const [, host] = /^(?:[a-z][a-z0-9+.-]*:)+\/\/(?:[^/@]*@)?([^/]*)/i.exec(value) ?? [];
  if (host !== undefined) return host !== '' && !LOCAL_HOST.test(host);
  if (/^[\w.-]+@[\w.-]+:/.test(value)) return true;
  return HOST_OPTION.test(option) && /^[\w[]/.test(value) && /[.:]|^[a-z]/i.test(value) && !LOCAL_HOST.test(value);
}

/** Separates the paths of a value, also in JSON; `name@/path` is the content of a file to curl. */
const PIECES = /[=:,"]|@(?=[/~.])/;

/** Paths that are not files of a person. */
const NOWHERE = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)$/;

function isOutside(context: DecisionContext, cwds: readonly string[], piece: string): boolean {
  if (piece === '' || NOWHERE.test(piece)) return false;
  // `@file` and `<file` are the content of a file.
  const path = piece.replace(/^[@<](?=[/~.])/, '');
  return cwds.some((cwd) => !isInWorkspace(resolveCallPath(context, cwd, path), context));
}

/** `clone:-u` is an option of one sub-command. */
function resolveSubcommandOption(argv: readonly string[], entry: string): readonly string[] {
  const [, subcommand, option] = /^([\w-]+):(-.*)$/.exec(entry) ?? [];
  if (option === undefined) return [entry];
  return subcommand !== undefined && argv.includes(subcommand) ? [option] : [];
}

/** True if the argument is this option: in full, abbreviated, with a glued value, or as one of several letters. */
function matchesOption(arg: string, option: string, shortOptions: 'alone' | 'together'): boolean {
  if (option === 'NAME=') return /^\w+[:+?!]*=/.test(arg);
  if (option === 'WORD') return /^[A-Za-z_.]/.test(arg);
  if (option === '@') return arg.startsWith('@');
  if (option === 'x:y' || option === 'x::y')
    return new RegExp(`^(?:--?[\\w-]+=)?[\\w.-]+${option.slice(1, -1)}[^:/]`).test(arg);
  // `-p:x=y`, `/p:x` and `--config.x=y` are recognized by their beginning.
  const name = arg
    .replace(/^\/(?=[A-Za-z]+(?::|$))/, '-')
    .replace(/=.*$/s, '')
    .replace(/^(-\w+):.*$/s, '$1');
  if (option.startsWith('--') && name.startsWith(`${option}.`)) return true;
  if (/^-[A-Z]$/.test(option) && arg.startsWith(option)) return true;
  if (/^-\w$/.test(option) && shortOptions === 'together')
    return new RegExp(`^-[A-Za-z]*${option.charAt(1)}`).test(arg);
  if (!option.startsWith('--')) return name === option || name === `-${option}`;
  const isAbbreviation = name.length >= MIN_ABBREVIATED && name.startsWith('--') && !WHOLE_OPTIONS.includes(name);
  return name === option || (isAbbreviation && option.startsWith(name));
}

/** True for an argument that is only text (a message, an argument of `echo`): command output is safe in it. */
export function isTextArg([name = '', sub = '', ...rest]: readonly string[], index: number): boolean {
  const { textArgs } = getExactProgramFacts(name);
  if (textArgs === undefined || textArgs === 'all') return textArgs === 'all';
  const option = [name, sub, ...rest][index - 1] ?? '';
  return (textArgs.subcommands?.includes(sub) ?? true) && textArgs.options.includes(option);
}
