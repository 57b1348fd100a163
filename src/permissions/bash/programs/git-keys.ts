import type { GitConfigEntry } from '../../../lib/text/git-config.ts';
import { words } from './program.ts';

/** Sections that name programs, or more configuration, in most of their keys. */
const SECTIONS = new Set(
  words(
    'pager filter alias include includeif difftool mergetool merge-driver interactive sequence uploadpack man instaweb browser guitool hook trailer',
  ),
);

/** Keys by their section, whatever stands between the two, that start a program or make git look where one is named. */
const KEYS: Readonly<Record<string, RegExp>> = {
  core: /^(?:pager|sshcommand|editor|askpass|gitproxy|worktree|alternaterefscommand|attributesfile|excludesfile)$/,
  diff: /^(?:external|command|textconv|tool|guitool|orderfile|submodule)$/,
  merge: /^(?:driver|tool|guitool)$/,
  submodule: /^(?:ignore|recurse|update)$/,
  status: /^submodulesummary$/,
  gpg: /^(?:program|defaultkeycommand)$/,
  credential: /^helper$/,
  log: /^(?:showsignature|diffmerges)$/,
  extensions: /^partialclone$/,
  remote: /^(?:promisor|uploadpack|receivepack|vcs)$/,
  // Its own filter, which stands in the person's configuration, runs what the repository names here.
  lfs: /^(?:clean|smudge|path|standalonetransferagent)$/,
};

/** The key, if it can start a program or pull in more configuration. */
export function programKey({ section, subsection, name, value }: GitConfigEntry): string | undefined {
  const key = [section, ...(subsection === undefined ? [] : [subsection]), name].join('.');
  if (key === 'core.fsmonitor') return /^(?:true|false|0|1|yes|no|on|off)$/i.test(value ?? 'true') ? undefined : key;
  const isFormat = (section === 'format' && name === 'pretty') || section === 'pretty';
  // A signature is checked by another program.
  if (isFormat && value?.includes('%G') === true) return key;
  return SECTIONS.has(section) || (Object.hasOwn(KEYS, section) && KEYS[section]?.test(name) === true)
    ? key
    : undefined;
}

/** Sections and keys that steer what git shows, or what people do with it. */
const SHOWING = words(
  'pager. alias. difftool. mergetool. guitool. merge-driver. man. instaweb. browser. interactive. sequence. trailer. diff. merge. gpg. log. status. format. pretty. submodule. core.pager core.editor core.excludesfile',
);

/** The key, if it can start a program while files are written: what only shows is left out. */
export function workingKey(entry: GitConfigEntry): string | undefined {
  const key = programKey(entry);
  const isPromise = entry.section === 'extensions' || entry.name === 'promisor';
  return isPromise || SHOWING.some((start) => key?.startsWith(start) === true) ? undefined : key;
}
