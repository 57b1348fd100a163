/** Which words may follow a git sub-command: options by regex, operands or none. */
type GitCommand = {
  readonly flags: RegExp;
  readonly valued?: RegExp;
  readonly operands: 'any' | 'none' | 'revisions';
  readonly only?: RegExp;
};

const LOG_FLAGS =
  /^(?:-\d+|-[npSGLiEFPrRtmcwbsuzMCDBqg]\d*|-n|-U\d+|--(?:oneline|stat(?:=[\d,]+)?|shortstat|numstat|name-only|name-status|graph|all|branches|tags|remotes|decorate(?:=\w+)?|no-decorate|abbrev-commit|abbrev(?:=\d+)?|no-abbrev|no-abbrev-commit|merges|no-merges|first-parent|reverse|follow|date=[\w:%+ -]+|relative-date|since=.*|until=.*|after=.*|before=.*|author=.*|committer=.*|grep=.*|format=.*|pretty(?:=.*)?|patch|no-patch|cached|staged|color(?:=\w+)?|no-color|word-diff(?:=\w+)?|color-words|ignore-all-space|ignore-space-change|ignore-space-at-eol|ignore-blank-lines|minimal|patience|histogram|diff-algorithm=\w+|unified=\d+|function-context|name|raw|summary|dirstat|check|exit-code|quiet|find-renames(?:=\S+)?|find-copies|no-renames|diff-filter=\w+|merge-base|full-index|binary|no-prefix|relative|text|max-count=\d+|skip=\d+|topo-order|date-order|author-date-order|cherry|cherry-pick|cherry-mark|left-right|left-only|right-only|boundary|simplify-by-decoration|full-history|regexp-ignore-case|invert-grep|all-match|no-ext-diff|no-textconv|compact-summary|show-signature-not|inter-hunk-context=\d+|no-color-moved|pickaxe-regex|pickaxe-all|not|count|objects-not|parents|children|no-notes|submodule=(?:short|log)|ignore-submodules(?:=(?:all|dirty))?|source|left|indent-heuristic|no-indent-heuristic|no-index-not))$/;

/** The sub-commands of git that only look, with the options that leave it so. */
export const LOOKING: Readonly<Record<string, GitCommand>> = {
  status: {
    flags:
      /^(?:-[sbvz]+|-u(?:no|normal|all)?|--(?:short|branch|show-stash|porcelain(?:=v?[12])?|long|verbose|untracked-files(?:=\w+)?|ignored(?:=\w+)?|ahead-behind|no-ahead-behind|renames|no-renames|ignore-submodules(?:=(?:all|dirty))?|column|no-column))$/,
    operands: 'any',
  },
  log: {
    flags: LOG_FLAGS,
    valued: /^(?:-n|-S|-G|-L|--(?:since|until|after|before|author|committer|grep|max-count|skip|date))$/,
    operands: 'any',
  },
  show: { flags: LOG_FLAGS, valued: /^(?:-n|-S|-G)$/, operands: 'any' },
  diff: { flags: LOG_FLAGS, valued: /^(?:-S|-G)$/, operands: 'any' },
  shortlog: { flags: /^(?:-[snec]+|--(?:summary|numbered|email|no-merges|all|since=.*|until=.*))$/, operands: 'any' },
  blame: {
    flags:
      /^(?:-[wblsetfnMC]+|-L.*|--(?:show-name|show-number|show-email|porcelain|line-porcelain|date=\w+|root|no-color))$/,
    valued: /^-L$/,
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
    valued: /^-n$/,
    operands: 'any',
  },
  branch: {
    flags:
      /^(?:-a|-r|-v|-vv|-av|-avv|-rv|-l|--(?:list|all|remotes|show-current|verbose|no-color|color(?:=\w+)?|column|no-column|contains|no-contains|merged|no-merged|sort=[\w:-]+|format=.*|points-at=.*|ignore-case|abbrev=\d+))$/,
    operands: 'none',
    only: /^(?:--list|-l|--contains|--no-contains|--merged|--no-merged)$/,
  },
  tag: {
    flags:
      /^(?:-l|-n\d*|--(?:list|contains|no-contains|merged|no-merged|points-at|sort=[\w:-]+|format=.*|column|no-column|ignore-case|color(?:=\w+)?))$/,
    operands: 'none',
    only: /^(?:--list|-l|--contains|--no-contains|--merged|--no-merged|--points-at)$/,
  },
  remote: { flags: /^(?:-v|--verbose|--all|--push)$/, operands: 'none', only: /^get-url$/ },
  config: {
    flags: /^(?:-l|--(?:get|list|name-only|local|global|system|show-origin|show-scope))$/,
    operands: 'revisions',
    only: /^(?:--get|--list|-l)$/,
  },
  stash: {
    flags: /^(?:-p|--(?:stat|name-only|name-status|oneline|no-color|patch))$/,
    operands: 'revisions',
    only: /^(?:list|show)$/,
  },
  reflog: { flags: /^(?:-\d+|-n\d*|--(?:oneline|date=\w+|all|max-count=\d+))$/, operands: 'none', only: /^(?:show)$/ },
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
      /^(?:-\d+|-[inlLcwveEFPhHqoIp]+|-[ABC]\d*|--(?:ignore-case|line-number|name-only|files-with-matches|files-without-match|count|word-regexp|invert-match|extended-regexp|fixed-strings|perl-regexp|cached|show-function|function-context|heading|break|no-color|color(?:=\w+)?|all-match|and|or|not|untracked|max-depth=\d+|text|only-matching))$/,
    valued: /^-[ABCe]$/,
    operands: 'any',
  },
  clean: { flags: /^(?:-[ndxXq]+|--(?:dry-run|quiet))$/, operands: 'any' },
  cherry: { flags: /^(?:-v|--abbrev=\d+)$/, operands: 'revisions' },
  'symbolic-ref': { flags: /^(?:-q|--quiet|--short)$/, operands: 'revisions' },
  notes: { flags: /^$/, operands: 'none', only: /^list$/ },
  bisect: { flags: /^$/, operands: 'none', only: /^log$/ },
  fsck: { flags: /^--(?:no-dangling|connectivity-only|no-progress)$/, operands: 'none' },
  'diff-tree': {
    flags:
      /^(?:-r|-t|-z|--(?:no-commit-id|name-only|name-status|root|stat|shortstat|numstat|raw|no-renames|diff-filter=\w+))$/,
    operands: 'any',
  },
  worktree: { flags: /^(?:-v|--porcelain|--verbose)$/, operands: 'none', only: /^list$/ },
};
