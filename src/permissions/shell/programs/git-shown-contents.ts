import { splitWords } from '../../../lib/text/lines.ts';

/** The contents a git command prints: of tracked files or any commit, limited to some paths. */
export type GitShownContents = { readonly source: 'tracked' | 'history'; readonly paths: readonly string[] };

const VALUE_OPTIONS = splitWords('-C -c --git-dir --work-tree --namespace --exec-path --config-env --attr-source');
const PATCH_OPTION =
  /^(?:-p|-u|--patch.*|-U\d*|--unified(?:=.*)?|-c|--cc|-m|-W|--function-context|--word-diff.*|--color-words.*|--binary|-L.*|--remerge-diff|--dd|--diff-merges=.*)$/;
const SUMMARY_OPTION =
  /^(?:--(?:stat|compact-summary|dirstat).*|--(?:shortstat|numstat|name-only|name-status|summary|quiet|no-patch|raw)|-s)$/;
/** Commands that print a diff by default or with an option, and commands that export everything. */
const DIFF_COMMANDS = 'diff show difftool range-diff'.split(' ');
const PATCH_COMMANDS = 'log reflog whatchanged stash diff-tree diff-index diff-files rev-list request-pull'.split(' ');
const EXPORT_COMMANDS = 'format-patch archive checkout-index fast-export bundle'.split(' ');

/** Commands that copy the contents of a local repository to another folder. */
const COPY_COMMANDS = 'clone pull submodule subtree'.split(' ');

/** `HEAD:file` names a file, which is compared with the rules by its name. */
const areRevisionPaths = (operands: readonly string[]) =>
  operands.length > 0 &&
  // `:/text` finds a commit by its message.
  operands.every((operand) =>
    /^(?!:\/)[^:]*:./.test(
      operand.replace(/\{[^}]*(?:(\})|$)/g, (part, end?: string) => (end === undefined ? part : '')),
    ),
  );

/**
 * Returns the contents a git command prints, if any; `isFile` tells if an argument is a file. Searches of files on disk
 * are compared with rules as searches, so they count for secrets only.
 */
export function findGitShownContents(
  argv: readonly string[],
  isFile: (arg: string) => boolean,
  purpose: 'rules' | 'secrets' = 'rules',
): GitShownContents | undefined {
  const commandIndex = argv.findIndex(
    (arg, index) => index > 0 && !arg.startsWith('-') && !VALUE_OPTIONS.includes(argv[index - 1] ?? ''),
  );
  const [name = '', ...args] = commandIndex === -1 ? [] : argv.slice(commandIndex);
  const isPatch = args.some((arg) => PATCH_OPTION.test(arg));
  const isSummary = args.some((arg) => SUMMARY_OPTION.test(arg)) && !isPatch;
  const dashes = args.indexOf('--');
  const operands = args.slice(0, dashes === -1 ? undefined : dashes).filter((arg) => !arg.startsWith('-'));
  const files = [...operands.filter(isFile), ...(dashes === -1 ? [] : args.slice(dashes + 1))];
  const paths = files.some((arg) => arg.startsWith(':')) ? [] : files;
  const revisions = operands.filter((arg) => !isFile(arg));
  const showsDiff = (DIFF_COMMANDS.includes(name) && !isSummary) || (PATCH_COMMANDS.includes(name) && isPatch);
  if (name === 'cat-file') {
    // An object id does not tell the name of its file.
    const isShown = args.some((arg) => /^(?:-p|--batch.*|--textconv|--filters|blob)$/.test(arg));
    return isShown && !areRevisionPaths(revisions.filter((arg) => arg !== 'blob'))
      ? { source: 'history', paths: [] }
      : undefined;
  }
  if (name === 'grep' && args.includes('--cached')) return { source: 'tracked', paths };
  const [source = ''] = operands.filter((arg) => arg !== 'add' && arg !== 'update');
  const isLocalSource = isFile(source) || /^(?:\.{0,2}\/|\.\.?$|file:)/.test(source);
  const isCopying = name === 'read-tree' || (name === 'worktree' && args[0] === 'add');
  if (isCopying || (COPY_COMMANDS.includes(name) && isLocalSource)) return { source: 'tracked', paths: [] };
  if (name === 'grep') {
    const searchesRevisions = revisions.length > (args.some((arg) => /^-[a-zA-Z]*[ef]/.test(arg)) ? 0 : 1);
    if (searchesRevisions) return { source: 'history', paths };
    return purpose === 'secrets' ? { source: 'tracked', paths } : undefined;
  }
  if (name === 'show' && areRevisionPaths(revisions)) return undefined;
  if (name === 'status' && args.some((arg) => /^(?:-[a-z]*v|--verbose$)/.test(arg)))
    return { source: 'history', paths };
  if (!showsDiff && !EXPORT_COMMANDS.includes(name)) return undefined;
  const comparesWorktree =
    name === 'diff' && revisions.length === 0 && !args.some((arg) => /^--(?:cached|staged|merge-base)/.test(arg));
  return { source: comparesWorktree || name === 'checkout-index' ? 'tracked' : 'history', paths };
}
