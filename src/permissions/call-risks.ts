import { domainToUnicode } from 'node:url';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import type { CallRisk, Decision, PermissionRequest, RememberScope, ToolFacts } from '../contracts/permission.ts';
import { runsFoundScripts } from './named-scripts.ts';
import { isSecretFileArg } from './paths/secret-paths.ts';
import { type CommandFacts, getShellAnalysis } from './shell/analyze.ts';
import { collectShellEffects, type ReachableCommand } from './shell/effects/collect-shell-effects.ts';
import { findHiddenCharacter, findSizeProblem } from './shell/parse/check-source.ts';
import { getProgramBaseName } from './shell/parse/shell-words.ts';
import { findProgramFacts } from './shell/programs/find-program-facts.ts';
import { isDownloader, limitsApprovalToSession, listProgramRisks } from './shell/programs/program-risks.ts';

/** Kinds of risk by severity, the most severe first. */
const SEVERITY_ORDER = [
  'reads_secret',
  'deletes',
  'discards',
  'publishes',
  'sends',
  'runs_download',
  'runs_project',
  'network',
] as const;
const MAX_NAMED_FILES = 3;
/** Options that give an interpreter its code inline, or only print its version or help. */
const INLINE_CODE = /^(?:-[a-z]*[cep]|-[vVh]|--(?:eval|print|command|version|help))$/;
const RUNS_PROJECT: CallRisk = { kind: 'runs_project', text: 'runs code of this project' };

/** Returns the risks of a call for its approval request, most severe first; `secrets` are files it reads. */
export function listCallRisks(
  facts: Pick<ToolFacts, 'kind' | 'command' | 'shell'>,
  secrets: readonly string[] = [],
): readonly CallRisk[] {
  const { kind, command } = facts;
  if (kind !== 'shell' || command === undefined || findSizeProblem(command) !== undefined)
    return describeSecrets(secrets);
  const { parse } = getShellAnalysis(facts);
  const { commands } = collectShellEffects(parse(command), parse);
  const single = [
    ...describeSecrets([...commands.flatMap(listNamedSecrets), ...secrets]),
    ...commands.flatMap(listCommandRisks),
  ];
  const risks = runsDownload(commands)
    ? [...single.filter((risk) => risk !== RUNS_PROJECT), describeDownload(commands)]
    : single;
  const distinct = [...new Map(risks.map((risk) => [risk.text, risk])).values()];
  return SEVERITY_ORDER.flatMap((severity) => distinct.filter(({ kind: riskKind }) => riskKind === severity));
}

function describeSecrets(paths: readonly string[]): readonly CallRisk[] {
  // A file that a command names is listed as it is written there.
  const distinct = [
    ...new Map(paths.toReversed().map((path) => [getProgramBaseName(path), path])).values(),
  ].toReversed();
  return distinct.length === 0 ? [] : [describeTargets('reads_secret', 'reads', distinct)];
}

function describeDownload(commands: readonly ReachableCommand[]): CallRisk {
  const hosts = commands.flatMap(({ argv: [word = '', ...args] }) =>
    isDownloader(getProgramBaseName(word)) ? listHosts(args) : [],
  );
  return hosts.length === 0
    ? { kind: 'runs_download', text: 'runs code from the network' }
    : describeTargets('runs_download', 'runs code from', [...new Set(hosts)]);
}

/** Options before a key that a connection is authenticated with; the key itself is not sent. */
const IDENTITY_OPTION = /^-(?:i|E)$|^--(?:cert|key|cacert|private-key|identity)$/;
/** The file in `@file`, `name=@file`, `--option=file` and `<file`. */
const FILE_OPERAND = /^(?:-{0,2}[\w.-]+=)?(.+)$/;

/** Lists the secret files in the arguments of a command that may send or open them. */
function listNamedSecrets({ argv }: ReachableCommand): readonly string[] {
  const [word = '', ...args] = argv;
  const name = getProgramBaseName(word);
  const { reads, writes, opensNoFiles, deletes, subcommands } = findProgramFacts(name);
  const isKnown = [reads, writes, opensNoFiles, deletes, subcommands].some((fact) => fact !== undefined);
  const isSending = !isKnown || listProgramRisks(name, args).some(({ kind }) => kind === 'sends');
  return args.flatMap((arg, index) => {
    const path = FILE_OPERAND.exec(arg)?.[1]?.replace(/^[@<]+(?=.)/, '') ?? '';
    if (IDENTITY_OPTION.test(args[index - 1] ?? '') || (!isSending && !/^\$\{?HOME\b/.test(path))) return [];
    return isSecretFileArg(path) ? [path] : [];
  });
}

function listCommandRisks({ argv }: ReachableCommand): readonly CallRisk[] {
  const [word = '', ...args] = argv;
  const name = getProgramBaseName(word);
  const isScript = word.includes('/') && !/^\/(?:usr|s?bin|opt)\//.test(word);
  const runsFile = runsCode(name) && args.length > 0 && !args.some((arg) => INLINE_CODE.test(arg));
  return [
    ...(findProgramFacts(name).deletes === true ? [describeDeletion(args)] : []),
    ...listProgramRisks(name, args).map(({ kind, text, packageAfter }): CallRisk => {
      const packageName = packageAfter && args.find((arg) => !arg.startsWith('-') && !packageAfter.test(arg));
      if (packageName !== undefined) return describeTargets(kind, 'runs the downloaded package', [packageName]);
      const targets = listTargets(kind, args);
      return { kind, text, ...(targets.length === 0 ? {} : { targets }) };
    }),
    ...(isScript || runsFile ? [RUNS_PROJECT] : []),
  ];
}

/** Names the first deleted files; placeholders that another program fills in do not count. */
function describeDeletion(args: readonly string[]): CallRisk {
  const end = args.indexOf('--');
  const operands = args.filter(
    (arg, index) => arg !== '--' && arg !== '' && (!arg.startsWith('-') || (end >= 0 && index > end)),
  );
  const files = operands.filter((arg) => arg !== '{}' && arg !== '+' && arg !== ';');
  return files.length === 0 ? { kind: 'deletes', text: 'deletes files' } : describeTargets('deletes', 'deletes', files);
}

function describeTargets(kind: CallRisk['kind'], verb: string, targets: readonly string[]): CallRisk {
  const more = targets.length > MAX_NAMED_FILES ? ` and ${targets.length - MAX_NAMED_FILES} more` : '';
  return { kind, text: `${verb} ${targets.slice(0, MAX_NAMED_FILES).join(', ')}${more}`, targets };
}

const USES_NETWORK: readonly CallRisk['kind'][] = ['network', 'sends', 'runs_download'];
/** The host of a URL, of `user@host:path` or of `host:path`. */
const HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/:?#]+)|(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+)(?::.*)?$)/i;

/** Returns the hosts or the operands that a risk concerns. */
function listTargets(kind: CallRisk['kind'], args: readonly string[]): readonly string[] {
  if (USES_NETWORK.includes(kind)) return listHosts(args);
  if (kind === 'runs_project') return [];
  const [, ...operands] = args.filter((arg) => !arg.startsWith('-'));
  return operands;
}

function listHosts(args: readonly string[]): readonly string[] {
  const hosts = args.flatMap(
    (arg) =>
      HOST.exec(arg)
        ?.slice(1)
        .find((host) => host !== undefined) ?? [],
  );
  return [...new Set(hosts)];
}

/** Returns how long an answer to a call may be remembered, by its decision and its risks. */
export function getAnswerRememberScope(
  facts: ToolFacts,
  { trace }: Pick<Decision, 'trace'>,
  risks: readonly CallRisk[],
): RememberScope {
  if (findCallConcealment(facts) !== 'none' || trace.some(({ stage }) => stage === 'breaker')) return 'never';
  // The answer cannot be bound to the content of scripts that are found when the command runs.
  if (runsFoundScripts(facts)) return 'never';
  return risks.some(limitsApprovalToSession) ? 'session' : 'always';
}

/** Matches `curl … | sh`, `sh -c "$(curl …)"`, and a file that is downloaded and run in one line. */
function runsDownload(commands: readonly ReachableCommand[]): boolean {
  const names = commands.map(({ argv }) => getProgramBaseName(argv[0] ?? ''));
  return names.some(isDownloader) && names.some(runsCode);
}

function runsCode(name: string): boolean {
  const { isShell, interpreter } = findProgramFacts(name);
  return isShell === true || interpreter !== undefined;
}

/** Returns the way in which a call may be another than it seems. */
export function findCallConcealment(facts: ToolFacts): PermissionRequest['concealed'] {
  if (hasHiddenCharacters(facts.input)) return 'hidden_characters';
  return hasLookalikeLetters(facts) ? 'lookalike_letters' : 'none';
}

/**
 * Returns whether any string in a call's input, keys included, contains invisible or misleading characters. @internal
 */
export function hasHiddenCharacters(input: JsonObject): boolean {
  return collectStrings(input).some((text) => findHiddenCharacter(text) !== undefined);
}

function collectStrings(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectStrings);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...collectStrings(item)]);
}

/** Scripts with letters that look like Latin ones. */
const OTHER_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Coptic}\p{Script=Cherokee}\p{Script=Lisu}]/u;
const LATIN = /\p{Script=Latin}/u;
/** Letters of these scripts that look like Latin letters, so that whole words do. */
const LOOKALIKES = new Set('асеіјорѕухһԁԛԝӏԍкмтвнАВСЕНІЈКМОРЅТХУԌοαινρυκωχτϲϳօոսցհյքΑΒΕΖΗΙΚΜΝΟΡΤΥΧ');
/** Characters that begin an option for the eye alone: `–rf`. */
const DASH_OPTION = /^[\u2010-\u2015\u2212\uFE58\uFE63\uFF0D]+\p{L}/u;
/** Full-width, mathematical and other styled forms of ASCII letters and signs. */
const STYLED = /[\uFF01-\uFF5E\uFB00-\uFB06\u{1D400}-\u{1D7FF}\u2100-\u214F\u24B6-\u24E9]/u;

/** Returns whether the command or the host of a call has letters that look like others. @internal */
export function hasLookalikeLetters(facts: Pick<ToolFacts, 'kind' | 'command' | 'url' | 'shell'>): boolean {
  const { kind, command, url } = facts;
  if (url !== undefined && hasLookalikeHost(url)) return true;
  if (kind !== 'shell' || command === undefined || /^[\p{ASCII}]*$/u.test(command)) return hasEncodedHost(command);
  return (
    hasLookalikeText(command) ||
    hasLookalikeSyntax(command) ||
    findSizeProblem(command) !== undefined ||
    listNames(facts).some(isLookalikeWord)
  );
}

/** Returns whether a command has signs outside quotes that look as if they quoted an operator, or parted a path. */
function hasLookalikeSyntax(command: string): boolean {
  const unquoted = command.replaceAll(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, ' ');
  return /[\u2044\u2215\u29F8\u2216\u29F5]|[‘’‚‛“”„‟′″‵‶´ʹʼˈ«‹][^\n‘’‚‛“”„‟′″‵‶´ʹʼˈ«‹;|&<>()$`]*[;|&<>()$`]/u.test(
    unquoted,
  );
}

/** Returns whether a text has a word of mixed scripts, a styled letter, or a sign that only looks like a dash. */
export function hasLookalikeText(text: string): boolean {
  if (/^[\p{ASCII}]*$/u.test(text)) return hasEncodedHost(text);
  return text
    .split(/[\s"'`;|&<>(){}$=,:@/\\]+/)
    .some(
      (word) =>
        word.split(/[.+_-]/).some((piece) => LATIN.test(piece) && OTHER_SCRIPT.test(piece)) ||
        DASH_OPTION.test(word) ||
        (STYLED.test(word) && /[a-z]/i.test(word.normalize('NFKC'))) ||
        (word.includes('.') && word.split('.').some(isLookalikeWord)),
    );
}

/** Returns the names of all programs of a command line. */
function listNames(facts: CommandFacts): readonly string[] {
  const { command, parse } = getShellAnalysis(facts);
  return collectShellEffects(parse(command), parse).commands.map(({ argv }) => argv[0] ?? '');
}

/** True for a word without Latin letters, all of whose letters look like Latin ones. */
export function isLookalikeWord(word: string): boolean {
  const letters = [...word].filter((character) => /\p{L}/u.test(character));
  return (
    letters.length > 0 &&
    !letters.some((letter) => LATIN.test(letter)) &&
    letters.every((letter) => LOOKALIKES.has(letter))
  );
}

function hasLookalikeHost(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? url;
  return isLookalikeHost(domainToUnicode(host)) || hasLookalikeText(url);
}

/** `xn--80ak6aa92e.com` is the encoded form of a name in another script. */
function hasEncodedHost(text = ''): boolean {
  const hosts = text.match(/xn--[\w-]+/gi) ?? [];
  return hosts.some((host) => isLookalikeHost(domainToUnicode(host.toLowerCase())));
}

function isLookalikeHost(host: string): boolean {
  return host.split('.').some((label) => isLookalikeWord(label) || (LATIN.test(label) && OTHER_SCRIPT.test(label)));
}
