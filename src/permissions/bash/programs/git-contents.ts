/** What a command of git shows of files: of those it keeps track of, or of any it ever did; and the only places named. */
export type ShownContents = { readonly of: 'tracked' | 'history'; readonly places: readonly string[] };

const VALUED = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env', '--attr-source'];
const PATCH =
  /^(?:-p|-u|--patch.*|-U\d*|--unified(?:=.*)?|-c|--cc|-m|-W|--function-context|--word-diff.*|--color-words.*|--binary|-L.*|--remerge-diff|--dd|--diff-merges=.*)$/;
const SUMMARY =
  /^(?:--(?:stat|compact-summary|dirstat).*|--(?:shortstat|numstat|name-only|name-status|summary|check|quiet|no-patch|raw)|-s)$/;
/** Those that show a difference unless told otherwise, those that do when told to, and those that hand out all there is. */
const SHOWING = 'diff show difftool range-diff'.split(' ');
const TOLD = 'log reflog whatchanged stash diff-tree diff-index diff-files rev-list request-pull'.split(' ');
const ALL = 'format-patch archive checkout-index fast-export bundle'.split(' ');

/** Those that put all there is in a repository of this machine into another folder. */
const COPYING_FROM = 'clone pull submodule subtree'.split(' ');

/** `HEAD:file`: files by their names, which are compared one by one. */
const isNamedInside = (words: readonly string[]) =>
  words.length > 0 && words.every((word) => /^[^:]*:./.test(word.replace(/\{[^}]*\}/g, '')));

/** What of files a command of git shows; nothing when it shows none. `isThere`: a word is the name of a file. */
export function shownContents(argv: readonly string[], isThere: (word: string) => boolean): ShownContents | undefined {
  const at = argv.findIndex(
    (word, index) => index > 0 && !word.startsWith('-') && !VALUED.includes(argv[index - 1] ?? ''),
  );
  const [name = '', ...args] = at === -1 ? [] : argv.slice(at);
  const isPatch = args.some((word) => PATCH.test(word));
  const isSummary = args.some((word) => SUMMARY.test(word)) && !isPatch;
  const dashes = args.indexOf('--');
  const operands = args.slice(0, dashes === -1 ? undefined : dashes).filter((word) => !word.startsWith('-'));
  const named = [...operands.filter(isThere), ...(dashes === -1 ? [] : args.slice(dashes + 1))];
  const places = named.some((word) => word.startsWith(':')) ? [] : named;
  const others = operands.filter((word) => !isThere(word));
  const isShowing = (SHOWING.includes(name) && !isSummary) || (TOLD.includes(name) && isPatch);
  if (name === 'cat-file') {
    // By its number a file has no name.
    const isShown = args.some((word) => /^(?:-p|--batch.*|--textconv|--filters|blob)$/.test(word));
    return isShown && !isNamedInside(others.filter((word) => word !== 'blob'))
      ? { of: 'history', places: [] }
      : undefined;
  }
  if (name === 'grep' && args.includes('--cached')) return { of: 'tracked', places };
  const [source = ''] = operands.filter((word) => word !== 'add' && word !== 'update');
  const isLocal = isThere(source) || /^(?:\.{0,2}\/|\.\.?$|file:)/.test(source);
  const isCopying = name === 'read-tree' || (name === 'worktree' && args[0] === 'add');
  if (isCopying || (COPYING_FROM.includes(name) && isLocal)) return { of: 'tracked', places: [] };
  if (name === 'grep') {
    const isPast = others.length > (args.some((word) => /^-[a-zA-Z]*[ef]/.test(word)) ? 0 : 1);
    return isPast ? { of: 'history', places } : undefined;
  }
  if (name === 'show' && isNamedInside(others)) return undefined;
  if (!isShowing && !ALL.includes(name)) return undefined;
  const isPresent =
    name === 'diff' && others.length === 0 && !args.some((word) => /^--(?:cached|staged|merge-base)/.test(word));
  return { of: isPresent || name === 'checkout-index' ? 'tracked' : 'history', places };
}
