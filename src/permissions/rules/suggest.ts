import type { RuleSuggestion } from '../../contracts/permission.ts';
import type { Argument } from '../bash/words.ts';
import type { PathUse } from './path-rule.ts';
import { formatRule } from './rules.ts';

/** A rule for this one file; for a folder, for what is in it. */
export function suggestPath({ use, path }: PathUse): RuleSuggestion {
  const escaped = path.real.replace(/[\\*?[\]!]/g, '\\$&');
  const folder = use === 'read' && path.kind === 'directory';
  const rule = formatRule(use === 'read' ? 'Read' : 'Edit', `/${escaped}${folder ? '/**' : ''}`);
  return {
    rule,
    covers: `${use === 'read' ? 'reading' : 'changing'} ${path.real}${folder ? ' and what is in it' : ''}`,
  };
}

const NEVER =
  /^(?:.*sh|env|xargs|sudo|doas|su|find|fd|python[\d.]*|node|nodejs|deno|bun|bunx|npx|pnpx|uvx|ruby|perl|php|lua|awk|gawk|mawk|sed|eval|exec|source|\.|command|builtin|timeout|time|nice|nohup|stdbuf|setsid|watch|parallel|ssh|docker|podman|chroot|busybox|osascript|tclsh|expect|rm|dd|kill|pkill|killall|curl|wget|nc|ncat|socat|vim?|nvim|emacs|ed|ex|gdb|strace|script|flock|tmux|screen|at|trap|alias|export|cd|R|Rscript|julia|ghci|irb|pry|psql|mysql|sqlite3|systemd-run|runuser|unshare|nsenter|bwrap)$/;

/** How many words name what a program does; one more than the program for those with sub-commands. */
const DEPTHS: Readonly<Record<string, number>> = {
  git: 2,
  npm: 2,
  pnpm: 2,
  yarn: 2,
  cargo: 2,
  go: 2,
  gh: 3,
  pip: 2,
  pip3: 2,
  uv: 2,
  poetry: 2,
  kubectl: 2,
  helm: 2,
  terraform: 2,
  brew: 2,
  apt: 2,
  'apt-get': 2,
  dotnet: 2,
  mvn: 2,
  gradle: 2,
  make: 2,
  just: 2,
  bundle: 2,
  rustup: 2,
  systemctl: 2,
  mix: 2,
  flutter: 2,
  dart: 2,
  swift: 2,
  zig: 2,
  nx: 2,
  turbo: 2,
};
const RUNNERS =
  /^(?:exec|x|dlx|run-script|-\w|config|submodule|bisect|filter-branch|rebase|difftool|mergetool|tool|generate|env|shell)$/;

/** The narrowest rule that is still of use for a command; none where a rule would allow anything at all. */
export function suggestCommand(argv: readonly Argument[]): RuleSuggestion | undefined {
  const words = argv.map((word) => word.text);
  const [name = '', second] = words;
  const odd = argv.some((word) => word.kind !== 'literal' || /[*\n]/.test(word.text));
  if (name === '' || name.includes('/') || NEVER.test(name)) return undefined;
  const depth = Object.hasOwn(DEPTHS, name) ? DEPTHS[name] : undefined;
  if (depth === undefined) return odd ? undefined : exactly(words);
  if (second === undefined) return name === 'git' ? undefined : exactly(words);
  if (second.startsWith('-') || RUNNERS.test(second)) return undefined;
  const scripted = second === 'run' && /^(?:npm|pnpm|yarn|bun|uv|poetry)$/.test(name) ? 3 : depth;
  if (scripted === 3 && (words[2] === undefined || words[2].startsWith('-') || name === 'uv' || name === 'poetry'))
    return undefined;
  const head = argv.slice(0, scripted);
  if (head.some((word) => word.kind !== 'literal' || /[*\n]/.test(word.text))) return undefined;
  const spelled = head.map((word) => quoted(word.text)).join(' ');
  return { rule: formatRule('Bash', `${spelled}:*`), covers: `commands that begin with ${spelled}` };
}

function exactly(words: readonly string[]): RuleSuggestion | undefined {
  const spelled = words.map(quoted).join(' ');
  if (/(?::\*|\s\*)$/.test(spelled)) return undefined;
  return { rule: formatRule('Bash', spelled), covers: `exactly ${spelled}` };
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
