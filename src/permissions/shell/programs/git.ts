import { splitWords } from '../../../lib/text/lines.ts';
import type { ShellArgument } from '../parse/shell-words.ts';
import { findGitShownContents } from './git-shown-contents.ts';
import {
  CURRENT_FOLDER,
  type PrintedFileNames,
  type ProgramFactsByName,
  type ReadOnlyAnalysis,
  refuse,
  refuseUnlisted,
} from './program-facts.ts';

/** Facts about git, of which some sub-commands are read-only. */
export const createGitPrograms = (): ProgramFactsByName => ({
  git: {
    inlineScripts: 'settings',
    scriptOptions: ['--upload-pack', '--receive-pack', '--exec', '--extcmd', '--open-files-in-pager'],
    commandMarkers: splitWords(
      'run exec --exec -x --extcmd foreach --setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter',
    ),
    outputOptions: ['--directory', '-f', '--file', '--output', '-o', '--output-directory', '--separate-git-dir'],
    dashOIsNotOutput: true,
    subcommands: {
      reading: splitWords(
        'show diff log blame annotate cat-file grep archive checkout restore difftool whatchanged format-patch stash hash-object apply am worktree bundle ls-files',
      ),
      // The argument after `create` is the file of a bundle.
      writing: splitWords('checkout restore rm mv clone init worktree apply clean submodule create'),
      searching: ['grep'],
      listing: ['ls-files', 'status', 'clean'],
      changing: splitWords('checkout restore rm mv clean'),
      changesNamed: /^(?:checkout|restore|clean|rm|mv|stash push)\b/,
      renames: 'mv',
      changesTree:
        /^(?:stash(?! (?:list|show|drop|clear|create|store)\b)|clean\b(?!.* (?:-\w*n\w*|--dry-run)\b)|reset\b.* --(?:hard|merge|keep)|checkout\b|switch\b|restore\b(?! --staged(?!.* --worktree))|merge\b|rebase\b|pull\b|cherry-pick\b|revert\b|apply\b(?!.* --(?:check|stat|numstat|summary|cached)\b)|am\b|rm\b(?!.* --cached)|mv\b|read-tree\b.* -\w*u|checkout-index\b|bisect (?!log\b|view\b)|submodule (?!status\b|summary\b)|sparse-checkout (?!list\b)|filter-branch\b|filter-repo\b|subtree\b|lfs (?:pull|checkout)\b)/,
      folderOption: '-C',
    },
    shownContents: findGitShownContents,
    suggest: 2,
    builtins: splitWords(
      'add am annotate apply archive bisect blame branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone commit config count-objects describe diff diff-tree difftool fetch for-each-ref format-patch fsck gc grep help init lfs log ls-files ls-remote ls-tree maintenance merge merge-base mergetool mv name-rev notes prune pull push range-diff read-tree rebase reflog remote request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shortlog show show-ref sparse-checkout stash status submodule subtree svn switch symbolic-ref tag update-index update-ref verify-commit verify-tag version whatchanged worktree',
    ),
    exactSubcommands: splitWords(
      'remote maintenance hook send-email daemon instaweb for-each-repo credential lfs archimport svn p4 help branch checkout clean gc merge prune push rebase reflog reset restore revert rm stash submodule switch tag update-ref worktree',
    ),
    riskyOptions: splitWords(
      '--upload-pack --receive-pack --exec --exec-path --output --output-directory --ext-diff --textconv --extcmd --tool --template --config --config-env --separate-git-dir --git-dir --work-tree --open-files-in-pager --no-index --unsafe-paths --build-fake-ancestor --strategy --remote --smtp-server --sendmail-cmd --to-cmd --cc-cmd --pathspec-from-file --attr-source clone:-u clone:-c rebase:-x rebase:-s merge:-s pull:-s difftool:-x difftool:-t mergetool:-t grep:-O diff:-O log:-O show:-O archive:-o format-patch:-o am:--directory apply:--directory x::y',
    ),
    // Instead of a configured remote.
    namesHost: /^\+?(?:[\w+]+:\/\/\S|[^\s@/]+@[^\s:@]+:|[\w-]+(?:\.[\w-]+)+:)/,
    hostSubcommands: splitWords('fetch pull push ls-remote'),
    globalOptions: splitWords(
      '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source',
    ),
    textArgs: { subcommands: ['commit', 'tag'], options: ['-m', '--message', '-am'] },
    versionArg: /^(?:--version|version|-v|-V)$/,
    analyzeArgs: analyzeGit,
    printedNames: parsePrintedNames,
  },
});

/** Parses `git ls-files`, and `git diff --name-only` against the working tree. */
function parsePrintedNames([sub, ...args]: readonly string[]): PrintedFileNames | undefined {
  const isRelative = args.every((word) => /^(?:--|--cached|-c|[\w*][\w./*-]*)$/.test(word) && !word.includes('..'));
  const patterns = args.filter((word) => !word.startsWith('-'));
  if (sub === 'ls-files' && isRelative) return { kind: 'tracked', relativeTo: 'cwd', patterns };
  return sub === 'diff' && args.join(' ') === '--name-only'
    ? { kind: 'tracked', relativeTo: 'top', patterns: [] }
    : undefined;
}

/** Sub-commands that only read with a checked configuration, also without a sandbox. */
const SAFE_SUBCOMMANDS = ['status', 'diff', 'log', 'show'];

/** Sub-commands whose operands are files that they print; each is compared with the rules. */
const FILE_SHOWING_COMMANDS = ['show', 'diff', 'blame', 'log', 'grep', 'cat-file'];

/** Checks if a git command is read-only. Its result requires a check of the configuration, which may name programs. */
function analyzeGit(args: readonly ShellArgument[]): ReadOnlyAnalysis {
  const unclear = args.find((arg) => arg.kind !== 'literal' && !(arg.kind === 'glob' && !arg.prefix.startsWith('-')));
  if (unclear !== undefined) return refuse(`${unclear.text} is not a plain word.`);
  const dashes = args.findIndex((arg) => arg.text === '--');
  const globIndex = args.findIndex((arg) => arg.kind === 'glob' && arg.prefix === '');
  const showsFiles = FILE_SHOWING_COMMANDS.includes(args.find((arg) => !arg.text.startsWith('-'))?.text ?? '');
  if (globIndex !== -1 && !showsFiles && (dashes === -1 || globIndex < dashes))
    return refuse(`${args[globIndex]?.text ?? ''} could match a file name that starts with a dash.`);
  if (args.some((arg) => arg.text.includes('%G'))) return refuse('%G makes git run a program to check signatures.');
  const commandArgs = args.filter((arg, position) => !(position === 0 && arg.text === '--no-pager'));
  const [name = '', ...texts] = commandArgs.map((word) => word.text);
  const command = Object.hasOwn(READ_ONLY_SUBCOMMANDS, name) ? READ_ONLY_SUBCOMMANDS[name] : undefined;
  if (command === undefined)
    return name.startsWith('-') ? refuse(`git ${name} changes how git works.`) : refuseUnlisted(`git ${name}`);
  const operands: ShellArgument[] = [];
  const ranges: ShellArgument[] = [];
  let isReadOnlyForm = false;
  let isAfterDashes = false;
  for (let index = 0; index < texts.length; index += 1) {
    const word = texts[index] ?? '';
    if (command.readOnlyArg?.test(word) === true && (index === 0 || word.startsWith('-'))) isReadOnlyForm = true;
    if (!isAfterDashes && word === '--') isAfterDashes = true;
    else if (!isAfterDashes && word.startsWith('-')) {
      if (!command.flags.test(word) && command.valueFlags?.test(word) !== true)
        return refuseUnlisted(`git ${name} ${word}`);
      if (command.valueFlags?.test(word) !== true) continue;
      index += 1;
      if (commandArgs.at(index + 1)?.kind === 'glob') return refuse(`The value of ${word} is unknown.`);
      // Git may take it for the value or for another option.
      if (texts[index]?.startsWith('-') === true) return refuse(`The value of ${word} looks like an option.`);
      // `-L 1,5:file` and `-L :function:file` print lines of the file.
      const range = commandArgs.at(index + 1);
      if (word === '-L' && range !== undefined) ranges.push(...listPathsAfterColons(range));
    } else if (!(index === 0 && command.readOnlyArg?.test(word) === true))
      operands.push(commandArgs.at(index + 1) ?? CURRENT_FOLDER);
  }
  if (name === 'symbolic-ref' && operands.length !== 1)
    return refuse('git symbolic-ref with two names changes the first.');
  const needsSubcommand =
    name === 'stash' ||
    name === 'notes' ||
    name === 'bisect' ||
    name === 'worktree' ||
    (name === 'config' && operands.length !== 1);
  if (needsSubcommand && !isReadOnlyForm)
    return refuse(`git ${name} without a read-only sub-command may change the repository.`);
  if (command.operands === 'none' && operands.length > 0 && !isReadOnlyForm)
    return refuse(`git ${name} with an operand may change the repository.`);
  if (name === 'clean' && !texts.some((word) => /^(?:-[dxX]*n[ndxX]*|--dry-run)$/.test(word)))
    return refuse('git clean removes files unless it gets --dry-run.');
  if (name === 'config' && texts.some((word) => /^(?:-l|--list)$/.test(word)) && !texts.includes('--name-only'))
    return refuse('git config --list shows all values, including tokens; with --name-only it needs no approval.');
  if (name === 'config' && !operands.every(({ text }) => PLAIN_KEYS.test(text)))
    return refuse('Only well-known git configuration keys are readable without approval.');
  if (name === 'diff' && hasOutsidePath(operands)) return refuse('git diff may read files outside the repository.');
  return {
    ok: true,
    readsOnlyIn: SAFE_SUBCOMMANDS.includes(name) ? 'anywhere' : 'sandbox',
    reads: [...listShownPaths(name, operands), ...ranges],
    searches: [],
    follows: 'none',
    git: 'config',
  };
}

const PLAIN_KEYS =
  /^(?:user\.(?:name|email)|core\.[a-z]+|init\.defaultbranch|branch\.[\w./-]+|remote\.[\w./-]+\.(?:url|pushurl)|pull\.\w+|push\.\w+|commit\.\w+|merge\.(?:conflictstyle|ff)|fetch\.prune|rebase\.\w+|rerere\.enabled|diff\.(?:algorithm|renames|colormoved)|color\.\w+|format\.pretty|submodule\.recurse|tag\.(?:sort|gpgsign)|gpg\.format|user\.signingkey)$/i;

/** `git diff /etc/passwd x` reads any file, as do `git grep --no-index` and `git blame --contents`. */
function hasOutsidePath(operands: readonly ShellArgument[]): boolean {
  return operands.some((word) => /^(?:\/|~|\.\.(?:\/|$))/.test(word.text) || word.text.includes('/../'));
}

/** Returns the files that a command would print: `HEAD:secrets/key` prints `secrets/key`. */
function listShownPaths(name: string, operands: readonly ShellArgument[]): readonly ShellArgument[] {
  return operands.flatMap((arg) => {
    // `:/text` is a commit, and `:!path` leaves files out.
    const paths = /^:(?:\/|[!^]|\(exclude\))/.test(arg.text) ? [] : listPathsAfterColons(arg);
    if (paths.length > 0 && ['show', 'diff', 'cat-file', 'grep', 'blame', 'log', 'ls-tree'].includes(name))
      return paths;
    return FILE_SHOWING_COMMANDS.includes(name) && !arg.text.startsWith(':') ? [arg] : [];
  });
}

/** Returns texts after colons as possible paths; a colon may belong to a date: `HEAD@{9:30}:file`. */
function listPathsAfterColons(arg: ShellArgument): readonly ShellArgument[] {
  const pieces = arg.text.split(':');
  return pieces.slice(1).flatMap((_, index) => {
    const text = pieces.slice(index + 1).join(':');
    return text === '' ? [] : [{ ...arg, text, prefix: text }];
  });
}

/** The arguments with which a git sub-command is read-only: options as patterns, and the kind of operands. */
type GitCommand = {
  readonly flags: RegExp;
  readonly valueFlags?: RegExp;
  readonly operands: 'any' | 'none' | 'revisions';
  readonly readOnlyArg?: RegExp;
};

const LOG_FLAGS =
  /^(?:-\d+|-[npSGLiEFPrRtmcwbsuzMCDBqg]\d*|-n|-U\d+|--(?:oneline|stat(?:=[\d,]+)?|shortstat|numstat|name-only|name-status|graph|all|branches|tags|remotes|decorate(?:=\w+)?|no-decorate|abbrev-commit|abbrev(?:=\d+)?|no-abbrev|no-abbrev-commit|merges|no-merges|first-parent|reverse|follow|date=[\w:%+ -]+|relative-date|since=.*|until=.*|after=.*|before=.*|author=.*|committer=.*|grep=.*|format=.*|pretty(?:=.*)?|patch|no-patch|cached|staged|color(?:=\w+)?|no-color|word-diff(?:=\w+)?|color-words|ignore-all-space|ignore-space-change|ignore-space-at-eol|ignore-blank-lines|minimal|patience|histogram|diff-algorithm=\w+|unified=\d+|function-context|name|raw|summary|dirstat|check|exit-code|quiet|find-renames(?:=\S+)?|find-copies|no-renames|diff-filter=\w+|merge-base|full-index|binary|no-prefix|relative|text|max-count=\d+|skip=\d+|topo-order|date-order|author-date-order|cherry|cherry-pick|cherry-mark|left-right|left-only|right-only|boundary|simplify-by-decoration|full-history|regexp-ignore-case|invert-grep|all-match|no-ext-diff|no-textconv|compact-summary|show-signature-not|inter-hunk-context=\d+|no-color-moved|pickaxe-regex|pickaxe-all|not|count|objects-not|parents|children|no-notes|submodule=short|ignore-submodules(?:=(?:all|dirty))?|source|left|indent-heuristic|no-indent-heuristic|no-index-not))$/;

/** The read-only sub-commands of git, with their allowed options. */
const READ_ONLY_SUBCOMMANDS: Readonly<Record<string, GitCommand>> = {
  status: {
    flags:
      /^(?:-[sbvz]+|-u(?:no|normal|all)?|--(?:short|branch|show-stash|porcelain(?:=v?[12])?|long|verbose|untracked-files(?:=\w+)?|ignored(?:=\w+)?|ahead-behind|no-ahead-behind|renames|no-renames|ignore-submodules(?:=(?:all|dirty))?|column|no-column))$/,
    operands: 'any',
  },
  log: {
    flags: LOG_FLAGS,
    valueFlags: /^(?:-n|-S|-G|-L|--(?:since|until|after|before|author|committer|grep|max-count|skip|date))$/,
    operands: 'any',
  },
  show: { flags: LOG_FLAGS, valueFlags: /^(?:-n|-S|-G)$/, operands: 'any' },
  diff: { flags: LOG_FLAGS, valueFlags: /^(?:-S|-G)$/, operands: 'any' },
  shortlog: { flags: /^(?:-[snec]+|--(?:summary|numbered|email|no-merges|all|since=.*|until=.*))$/, operands: 'any' },
  blame: {
    flags:
      /^(?:-[wblsetfnMC]+|-L.*|--(?:show-name|show-number|show-email|porcelain|line-porcelain|date=\w+|root|no-color))$/,
    valueFlags: /^-L$/,
    operands: 'any',
  },
  'rev-parse': {
    flags:
      /^--(?:show-toplevel|abbrev-ref|short(?:=\d+)?|verify|git-dir|git-common-dir|absolute-git-dir|is-inside-work-tree|is-inside-git-dir|is-bare-repository|show-prefix|show-cdup|show-superproject-working-tree|symbolic-full-name|quiet|all|branches|tags|remotes|symbolic|is-shallow-repository)$|^-q$/,
    operands: 'revisions',
  },
  'rev-list': {
    flags:
      /^(?:-\d+|-n\d*|--(?:count|all|max-count=\d+|no-merges|merges|first-parent|reverse|left-right|since=.*|until=.*|abbrev-commit|oneline|parents|branches|tags))$/,
    valueFlags: /^-n$/,
    operands: 'any',
  },
  branch: {
    flags:
      /^(?:-a|-r|-v|-vv|-av|-avv|-rv|-l|--(?:list|all|remotes|show-current|verbose|no-color|color(?:=\w+)?|column|no-column|contains|no-contains|merged|no-merged|sort=[\w:-]+|format=.*|points-at=.*|ignore-case|abbrev=\d+))$/,
    operands: 'none',
    readOnlyArg: /^(?:--list|-l|--contains|--no-contains|--merged|--no-merged)$/,
  },
  tag: {
    flags:
      /^(?:-l|-n\d*|--(?:list|contains|no-contains|merged|no-merged|points-at|sort=[\w:-]+|format=.*|column|no-column|ignore-case|color(?:=\w+)?))$/,
    operands: 'none',
    readOnlyArg: /^(?:--list|-l|--contains|--no-contains|--merged|--no-merged|--points-at)$/,
  },
  remote: { flags: /^(?:-v|--verbose|--all|--push)$/, operands: 'none', readOnlyArg: /^get-url$/ },
  config: {
    flags: /^(?:-l|--(?:get|list|name-only|local|global|system|show-origin|show-scope))$/,
    operands: 'revisions',
    readOnlyArg: /^(?:--get|--list|-l)$/,
  },
  stash: {
    flags: /^(?:-p|--(?:stat|name-only|name-status|oneline|no-color|patch))$/,
    operands: 'revisions',
    readOnlyArg: /^(?:list|show)$/,
  },
  reflog: {
    flags: /^(?:-\d+|-n\d*|--(?:oneline|date=\w+|all|max-count=\d+))$/,
    operands: 'none',
    readOnlyArg: /^(?:show)$/,
  },
  'ls-files': {
    flags:
      /^(?:-[cdmosukztvf]+|--(?:cached|deleted|modified|others|stage|ignored|unmerged|killed|exclude-standard|full-name|error-unmatch|directory|no-empty-directory|eol|deduplicate|abbrev(?:=\d+)?))$/,
    operands: 'any',
  },
  'ls-tree': {
    flags: /^(?:-[drtlz]+|--(?:long|name-only|name-status|full-name|full-tree|abbrev(?:=\d+)?|object-only))$/,
    operands: 'any',
  },
  'cat-file': { flags: /^-[tspe]$/, operands: 'revisions' },
  describe: {
    flags:
      /^--(?:tags|all|always|long|abbrev=\d+|exact-match|contains|first-parent|match=.*|exclude=.*|dirty(?:=.*)?)$/,
    operands: 'revisions',
  },
  'merge-base': { flags: /^(?:-a|--(?:all|is-ancestor|fork-point|octopus|independent))$/, operands: 'revisions' },
  'name-rev': { flags: /^--(?:tags|name-only|always)$/, operands: 'revisions' },
  'for-each-ref': {
    flags: /^--(?:sort=[\w:-]+|format=.*|count=\d+|merged(?:=.*)?|contains(?:=.*)?|points-at=.*)$/,
    operands: 'revisions',
  },
  'show-ref': {
    flags: /^(?:-[sdq]+|--(?:heads|tags|head|hash(?:=\d+)?|verify|quiet|branches|dereference))$/,
    operands: 'revisions',
  },
  'check-ignore': { flags: /^(?:-[qvn]+|--(?:quiet|verbose|non-matching|no-index))$/, operands: 'any' },
  'count-objects': { flags: /^(?:-v|-vH|-H|--verbose|--human-readable)$/, operands: 'none' },
  grep: {
    flags:
      /^(?:-\d+|-[inlLcwveEFPhHqoIp]+|-[ABC]\d*|--(?:ignore-case|line-number|name-only|files-with-matches|files-without-match|count|word-regexp|invert-match|extended-regexp|fixed-strings|perl-regexp|cached|show-function|function-context|heading|break|no-color|color(?:=\w+)?|all-match|and|or|not|max-depth=\d+|text|only-matching))$/,
    valueFlags: /^-[ABCe]$/,
    operands: 'any',
  },
  clean: { flags: /^(?:-[ndxXq]+|--(?:dry-run|quiet))$/, operands: 'any' },
  cherry: { flags: /^(?:-v|--abbrev=\d+)$/, operands: 'revisions' },
  'symbolic-ref': { flags: /^(?:-q|--quiet|--short)$/, operands: 'revisions' },
  notes: { flags: /^$/, operands: 'none', readOnlyArg: /^list$/ },
  bisect: { flags: /^$/, operands: 'none', readOnlyArg: /^log$/ },
  fsck: { flags: /^--(?:no-dangling|connectivity-only|no-progress)$/, operands: 'none' },
  'diff-tree': {
    flags:
      /^(?:-r|-t|-z|--(?:no-commit-id|name-only|name-status|root|stat|shortstat|numstat|raw|no-renames|diff-filter=\w+))$/,
    operands: 'any',
  },
  worktree: { flags: /^(?:-v|--porcelain|--verbose)$/, operands: 'none', readOnlyArg: /^list$/ },
};
