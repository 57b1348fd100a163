import type { Argument } from '../words.ts';
import { LOOKING } from './git-commands.ts';
import { shownContents } from './git-contents.ts';
import { words as listed, type PrintedNames, type Programs } from './program.ts';
import { HERE, type ReadOnlyReading, refused } from './reading.ts';

/** git, of which a part only reads. */
export const GIT: Programs = {
  git: {
    texts: 'values',
    textOptions: ['--upload-pack', '--receive-pack', '--exec', '--extcmd', '--open-files-in-pager'],
    runsAfter: listed(
      'run exec --exec -x --extcmd foreach --setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter',
    ),
    outputs: ['--directory', '-f', '--file', '--output', '-o', '--output-directory', '--separate-git-dir'],
    otherO: true,
    subcommands: {
      reading: listed(
        'show diff log blame annotate cat-file grep archive checkout restore difftool whatchanged format-patch stash hash-object apply am worktree bundle ls-files',
      ),
      // The word behind `create` is the file of a bundle.
      writing: listed('checkout restore rm mv clone init worktree apply clean submodule create'),
      searching: ['grep'],
      listing: ['ls-files'],
      changing: listed('checkout restore rm mv clean'),
      folder: '-C',
    },
    shows: shownContents,
    suggest: 2,
    exactly: listed(
      'remote maintenance hook send-email daemon instaweb for-each-repo credential lfs archimport svn p4 help',
    ),
    guards: listed(
      '--upload-pack --receive-pack --exec --exec-path --output --output-directory --ext-diff --textconv --extcmd --tool --template --config --config-env --separate-git-dir --git-dir --work-tree --open-files-in-pager --no-index --unsafe-paths --build-fake-ancestor --strategy --remote --smtp-server --sendmail-cmd --to-cmd --cc-cmd --pathspec-from-file --attr-source clone:-u clone:-c rebase:-x rebase:-s merge:-s pull:-s difftool:-x difftool:-t mergetool:-t grep:-O diff:-O log:-O show:-O archive:-o format-patch:-o am:--directory apply:--directory x::y',
    ),
    globalOptions: listed(
      '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source',
    ),
    messages: { subs: ['commit', 'tag'], options: ['-m', '--message', '-am'] },
    version: /^(?:--version|-v|-V)$/,
    grammar: gitReading,
    names: trackedNames,
  },
};

/** `git ls-files`, and `git diff --name-only` of what is in the folder now. */
function trackedNames([sub, ...args]: readonly string[]): PrintedNames | undefined {
  const isHere = args.every((word) => /^(?:--|--cached|-c|[\w*][\w./*-]*)$/.test(word) && !word.includes('..'));
  const among = args.filter((word) => !word.startsWith('-'));
  if (sub === 'ls-files' && isHere) return { of: 'tracked', from: 'here', among };
  return sub === 'diff' && args.join(' ') === '--name-only' ? { of: 'tracked', from: 'top', among: [] } : undefined;
}

/** Sub-commands whose operands are files they show: each is compared with the rules. */
const LOOKED_AT = ['show', 'diff', 'blame', 'log', 'grep', 'cat-file'];

/** The read-only part of git. Reading needs the configuration looked at first, because it names programs. */
function gitReading(given: readonly Argument[]): ReadOnlyReading {
  const odd = given.find((word) => word.kind !== 'literal' && !(word.kind === 'glob' && !word.prefix.startsWith('-')));
  if (odd !== undefined) return refused(`${odd.text} is not a plain word.`);
  const dashes = given.findIndex((word) => word.text === '--');
  const bare = given.findIndex((word) => word.kind === 'glob' && word.prefix === '');
  const isNamed = LOOKED_AT.includes(given.find((word) => !word.text.startsWith('-'))?.text ?? '');
  if (bare !== -1 && !isNamed && (dashes === -1 || bare < dashes))
    return refused(`${given[bare]?.text ?? ''} could match a name that begins with a dash.`);
  if (given.some((word) => word.text.includes('%G')))
    return refused('%G makes git run a program that checks signatures.');
  const words = given.filter((word, index) => !(index === 0 && word.text === '--no-pager'));
  const [name = '', ...args] = words.map((word) => word.text);
  const command = Object.hasOwn(LOOKING, name) ? LOOKING[name] : undefined;
  if (command === undefined)
    return refused(
      name.startsWith('-') ? `git ${name} changes how git works.` : `git ${name} is not known to be read-only.`,
    );
  const operands: Argument[] = [];
  const ranges: Argument[] = [];
  let only = false;
  let end = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (command.only?.test(word) === true && (at === 0 || word.startsWith('-'))) only = true;
    if (!end && word === '--') end = true;
    else if (!end && word.startsWith('-')) {
      if (!command.flags.test(word) && command.valued?.test(word) !== true)
        return refused(`git ${name} ${word} is not known to be read-only.`);
      if (command.valued?.test(word) !== true) continue;
      at += 1;
      if (words.at(at + 1)?.kind === 'glob') return refused(`The value of ${word} is not known.`);
      // Whether git takes it for the value or for an option of its own is not certain.
      if (args[at]?.startsWith('-') === true) return refused(`The value of ${word} looks like an option.`);
      // Of `-L 1,5:file` and `-L :function:file` the lines are shown.
      const shown = words.at(at + 1);
      if (word === '-L' && shown !== undefined) ranges.push(...behindColons(shown));
    } else if (!(at === 0 && command.only?.test(word) === true)) operands.push(words.at(at + 1) ?? HERE);
  }
  if (name === 'symbolic-ref' && operands.length !== 1)
    return refused('git symbolic-ref with two names changes the first.');
  const sub =
    name === 'stash' ||
    name === 'notes' ||
    name === 'bisect' ||
    name === 'worktree' ||
    (name === 'config' && operands.length !== 1);
  if (sub && !only) return refused(`git ${name} without a sub-command of its own may change things.`);
  if (command.operands === 'none' && operands.length > 0 && !only)
    return refused(`git ${name} with a name may change things.`);
  if (name === 'clean' && !args.some((word) => /^(?:-[dxX]*n[ndxX]*|--dry-run)$/.test(word)))
    return refused('git clean removes files unless it is told to try only.');
  if (name === 'config' && args.some((word) => /^(?:-l|--list)$/.test(word)) && !args.includes('--name-only'))
    return refused('git config --list shows every value, tokens among them; with --name-only it runs unasked.');
  if (name === 'config' && !operands.every(({ text }) => PLAIN_KEYS.test(text)))
    return refused('Only well-known keys of the git configuration are read unasked.');
  if (name === 'diff' && outside(operands)) return refused('git diff compares files outside of a repository too.');
  return { ok: true, reads: [...pathsNamed(name, operands), ...ranges], searches: [], follows: 'none', git: 'config' };
}

const PLAIN_KEYS =
  /^(?:user\.(?:name|email)|core\.[a-z]+|init\.defaultbranch|branch\.[\w./-]+|remote\.[\w./-]+\.(?:url|pushurl)|pull\.\w+|push\.\w+|commit\.\w+|merge\.(?:conflictstyle|ff)|fetch\.prune|rebase\.\w+|rerere\.enabled|diff\.(?:algorithm|renames|colormoved)|color\.\w+|format\.pretty|submodule\.recurse|tag\.(?:sort|gpgsign)|gpg\.format|user\.signingkey)$/i;

/** `git diff /etc/passwd x` reads any file; so does `git grep --no-index` and `git blame --contents`. */
function outside(operands: readonly Argument[]): boolean {
  return operands.some((word) => /^(?:\/|~|\.\.(?:\/|$))/.test(word.text) || word.text.includes('/../'));
}

/** The files a command would print: `HEAD:secrets/key` is the file `secrets/key`. */
function pathsNamed(name: string, operands: readonly Argument[]): readonly Argument[] {
  return operands.flatMap((word) => {
    const shown = /^:\//.test(word.text) ? [] : behindColons(word);
    if (shown.length > 0 && ['show', 'diff', 'cat-file', 'grep', 'blame', 'log', 'ls-tree'].includes(name))
      return shown;
    return LOOKED_AT.includes(name) && !word.text.startsWith(':') ? [word] : [];
  });
}

/** What may be a path in a word, behind any of its colons: one may belong to a time or a text, `HEAD@{9:30}:file`. */
function behindColons(word: Argument): readonly Argument[] {
  const pieces = word.text.split(':');
  return pieces.slice(1).flatMap((_, at) => {
    const text = pieces.slice(at + 1).join(':');
    return text === '' ? [] : [{ ...word, text, prefix: text }];
  });
}
