import { SCREEN, type Surrounding, sentence } from './surrounding.ts';

const GONE = sentence(/working directory (?:does not exist any more\. Change to another folder|was deleted)/);

/** Root may enter every folder. */
const CLOSED =
  process.getuid?.() === 0 ? SCREEN : sentence(/working directory cannot be used: .*\. Change to another folder/);

/** Starts in a new folder of this name, which the shell puts together. */
const inFolder = (name: string) => `mkdir -p -- ${name} && cd -- ${name} && exec "$@"`;

/** Working directories. */
export const WORKING_DIRECTORIES: readonly Surrounding[] = [
  {
    name: 'a deleted working directory',
    start: 'mkdir gone && cd gone && rmdir ../gone && exec "$@"',
    outcome: GONE,
    npmStart: 'npm',
  },
  {
    name: 'a deleted working directory whose parent is gone, too',
    start: 'mkdir -p a/b && cd a/b && rm -r ../../a && exec "$@"',
    outcome: GONE,
    npmStart: 'npm',
  },
  {
    name: 'a working directory that was replaced by another one',
    start: 'mkdir here && cd here && mv ../here ../there && mkdir ../here && exec "$@"',
  },
  {
    name: 'a working directory that nobody may read',
    start: 'mkdir here && cd here && chmod 0300 . && exec "$@"',
  },
  {
    name: 'a working directory that nobody may enter any more',
    start: 'mkdir here && cd here && chmod 0 . && exec "$@"',
    outcome: CLOSED,
    npmStart: 'npm',
  },
  {
    name: 'a working directory that cannot be searched',
    start: 'mkdir here && cd here && chmod 0400 . && exec "$@"',
    outcome: CLOSED,
    npmStart: 'npm',
  },
  {
    name: 'a working directory below one that cannot be read',
    start: 'mkdir -p a/b && cd a/b && chmod 0 .. && exec "$@"',
    outcome: CLOSED,
    npmStart: 'npm',
  },
  { name: 'a read-only working directory', start: 'mkdir here && cd here && chmod 0555 . && exec "$@"' },
  { name: 'the root directory', start: 'cd / && exec "$@"' },
  { name: 'the home as working directory', start: 'cd "$HOME" && exec "$@"' },
  { name: 'a directory of the system as working directory', start: 'cd /proc/self && exec "$@"', npmStart: 'npm' },
  { name: '/dev as working directory', start: 'cd /dev && exec "$@"' },
  { name: 'a working directory with a name of 255 letters', start: inFolder('"$(printf "%0255d" 0)"') },
  {
    name: 'a working directory with a path of 3,800 letters',
    start: 'i=0; while [ $i -lt 15 ]; do d=$(printf "%0250d" 0); mkdir $d; cd -P $d; i=$((i+1)); done; exec "$@"',
  },
  {
    name: 'a working directory with a path that is longer than the system allows',
    start:
      'i=0; while [ $i -lt 20 ]; do d=$(printf "%0250d" 0); mkdir $d && cd -P $d || exit; i=$((i+1)); done; exec "$@"',
    outcome: sentence(/working directory has a path that is too long\. Change to another folder/),
    npmStart: 'npm',
    executable: 'bun',
  },
  ...(
    [
      ['blanks and an umlaut', '"my own  prójekt "'],
      ['quotes', `"it's \\"quoted\\""`],
      ['a line break', '"$(printf "two\\nlines")"'],
      ['a tab', '"$(printf "a\\tb")"'],
      ['an escape character', '"$(printf "red\\033[31m")"'],
      ['a leading dash', '"-p"'],
      ['a dollar sign', "'$HOME'"],
      ['signs of addresses', "'100%25 #1?x=[y]'"],
      ['signs of patterns', "'{a,b}*[!c]'"],
      ['a backslash', "'a\\b'"],
      ['a colon', "'a:b'"],
      ['an exclamation mark and a semicolon', "'a!;&|b'"],
      ['only a blank', "' '"],
      ['letters of another direction', "'שלום'"],
      ['an emoji', "'👩‍👩‍👧'"],
      ['the name of a package folder', "'node_modules'"],
      ['the name of a prototype', "'__proto__'"],
    ] as const
  ).map(
    ([what, name]): Surrounding => ({ name: `a working directory with ${what} in its name`, start: inFolder(name) }),
  ),
  {
    name: 'a working directory with bytes that are no text in its name',
    start: inFolder('"$(printf "b\\377d")"'),
    outcome: sentence(/has a name that is not UTF-8: .*\. Change to another folder/),
  },
  { name: 'a working directory behind a link', start: 'mkdir real && ln -s real link && cd link && exec "$@"' },
  { name: 'a wrong PWD', env: { PWD: '/dev/null/nowhere' }, start: 'export PWD=/dev/null/nowhere; exec "$@"' },
  { name: 'no PWD', start: 'unset PWD OLDPWD; exec "$@"' },
  { name: 'a relative PWD', start: 'export PWD=.; exec "$@"' },
  { name: 'a .git that points nowhere', files: { '.git': 'gitdir: /dev/null/nowhere\n' } },
  { name: 'an empty .git folder', start: 'mkdir .git && exec "$@"' },
  {
    name: 'a broken repository',
    files: { '.git/HEAD': 'garbage', '.git/config': '[core\nbroken', '.git/index': 'no index' },
  },
  { name: 'a bare repository', start: 'git init -q --bare . && exec "$@"' },
  { name: 'the inside of a .git folder', start: 'git init -q . && cd .git && exec "$@"' },
  {
    name: 'a folder of 20,000 files',
    start: 'mkdir many && cd many && seq 20000 | xargs touch && cd .. && exec "$@"',
  },
  {
    name: 'a folder whose files nobody may read',
    files: { 'CLAUDE.md': 'x', 'AGENTS.md': 'y' },
    start: 'chmod 0 *.md; exec "$@"',
  },
  { name: 'a folder with a pipe in place of instructions', start: 'mkfifo CLAUDE.md AGENTS.md .mcp.json; exec "$@"' },
  { name: 'a folder with a folder in place of instructions', start: 'mkdir CLAUDE.md .mcp.json .env; exec "$@"' },
  { name: 'a folder with a loop of links', start: 'ln -s a b; ln -s b a; ln -s . self; exec "$@"' },
];

/** Homes and other folders of the user. */
export const HOMES: readonly Surrounding[] = [
  { name: 'no HOME', start: 'unset HOME; exec "$@"', env: { OURO_HOME: undefined } },
  { name: 'an empty HOME', env: { HOME: '', OURO_HOME: undefined } },
  { name: 'a relative HOME', env: { HOME: 'home', OURO_HOME: undefined } },
  { name: 'a missing HOME', env: { HOME: '/dev/null/nowhere/home', OURO_HOME: undefined } },
  { name: 'a missing HOME that can be created', start: 'HOME=$ROOM/new/home exec "$@"', env: { OURO_HOME: undefined } },
  { name: 'a file as HOME', start: 'touch $ROOM/file; HOME=$ROOM/file exec "$@"', env: { OURO_HOME: undefined } },
  { name: '/dev/null as HOME', env: { HOME: '/dev/null', OURO_HOME: undefined } },
  { name: 'a read-only HOME', start: 'chmod 0555 "$HOME"; exec "$@"', env: { OURO_HOME: undefined } },
  { name: 'a HOME that cannot be read', start: 'chmod 0 "$HOME"; exec "$@"', env: { OURO_HOME: undefined } },
  {
    name: 'a HOME behind a link that leads nowhere',
    start: 'ln -s /dev/null/nowhere $ROOM/h; HOME=$ROOM/h exec "$@"',
    env: { OURO_HOME: undefined },
  },
  {
    name: 'a HOME in a loop of links',
    start: 'ln -s h $ROOM/h; HOME=$ROOM/h exec "$@"',
    env: { OURO_HOME: undefined },
  },
  {
    name: 'a HOME with blanks, an umlaut and a slash at its end',
    start: 'mkdir "$ROOM/Zoë  home"; HOME="$ROOM/Zoë  home/" exec "$@"',
    env: { OURO_HOME: undefined },
  },
  {
    name: 'a HOME with a line break',
    start: 'h=$(printf "$ROOM/two\\nlines"); mkdir "$h"; HOME=$h exec "$@"',
    env: { OURO_HOME: undefined },
  },
  { name: 'a HOME with a tilde', env: { HOME: '~', OURO_HOME: undefined } },
  {
    name: 'a HOME with a very long path',
    env: { HOME: `/${'h'.repeat(300)}/${'o'.repeat(5000)}`, OURO_HOME: undefined },
    npmStart: 'npm',
  },
  { name: 'the working directory as HOME', start: 'HOME=$PWD exec "$@"', env: { OURO_HOME: undefined } },
  { name: 'a file as .ouro', files: { '../home/.ouro': 'x' } },
  { name: 'a link that leads nowhere as .ouro', start: 'ln -s /dev/null/nowhere/x "$HOME/.ouro"; exec "$@"' },
  { name: 'a read-only .ouro', start: 'mkdir "$HOME/.ouro"; chmod 0555 "$HOME/.ouro"; exec "$@"' },
  { name: 'an .ouro that cannot be entered', start: 'mkdir "$HOME/.ouro"; chmod 0 "$HOME/.ouro"; exec "$@"' },
  {
    name: 'files in place of the folders of .ouro',
    files: { '../home/.ouro/projects': 'x', '../home/.ouro/cache': 'x' },
  },
  { name: 'a relative OURO_HOME', env: { OURO_HOME: 'state' } },
  { name: 'an OURO_HOME that cannot be created', env: { OURO_HOME: '/dev/null/state' } },
  { name: 'an empty OURO_HOME', env: { OURO_HOME: '' } },
  { name: 'a file as cache', files: { '../home/.cache': 'x' } },
  {
    name: 'a cache that cannot be created',
    env: { XDG_CACHE_HOME: '/dev/null/cache', BUN_RUNTIME_TRANSPILER_CACHE_PATH: undefined },
  },
  { name: 'a relative cache', env: { XDG_CACHE_HOME: 'cache', BUN_RUNTIME_TRANSPILER_CACHE_PATH: undefined } },
  { name: 'a missing TMPDIR', env: { TMPDIR: '/dev/null/nowhere/tmp' } },
  { name: 'a relative TMPDIR', env: { TMPDIR: 'tmp' } },
  { name: 'an empty TMPDIR', env: { TMPDIR: '' } },
  { name: 'a file as TMPDIR', start: 'touch $ROOM/file; TMPDIR=$ROOM/file exec "$@"' },
  { name: 'a read-only TMPDIR', start: 'chmod 0555 $ROOM/tmp; TMPDIR=$ROOM/tmp exec "$@"' },
  { name: 'a TMPDIR with blanks and a quote', start: `mkdir "$ROOM/it's tmp"; TMPDIR="$ROOM/it's tmp" exec "$@"` },
  {
    name: 'neither HOME nor TMPDIR that can be written',
    env: {
      HOME: '/dev/null/home',
      TMPDIR: '/dev/null/tmp',
      OURO_HOME: undefined,
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: undefined,
    },
  },
];

const settings = (text: string) => ({ '../home/.ouro/settings.json': text });

/** Files that ouro or other programs have left. */
export const FILES: readonly Surrounding[] = [
  { name: 'settings that are no JSON', files: settings('{ "model": ') },
  { name: 'empty settings', files: settings('') },
  { name: 'a list as settings', files: settings('[1, 2]') },
  { name: 'null as settings', files: settings('null') },
  {
    name: 'settings of wrong types',
    files: settings('{"model": 1, "hooks": "x", "permissions": [], "theme": {}, "env": 5}'),
  },
  { name: 'unknown settings', files: settings('{"nonsense": {"a": 1}, "__proto__": {"x": 1}}') },
  { name: 'settings nested 20,000 deep', files: settings(`{"env": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`) },
  { name: 'settings of 8 MB', files: settings(`{"env": {"A": "${'x'.repeat(8_000_000)}"}}`) },
  {
    name: 'settings that are no text',
    start: 'mkdir -p "$HOME/.ouro"; head -c 4096 /dev/urandom > "$HOME/.ouro/settings.json"; exec "$@"',
  },
  { name: 'settings with a byte order mark', files: settings('\ufeff{"model": "opus"}') },
  { name: 'a folder as settings', start: 'mkdir -p "$HOME/.ouro/settings.json"; exec "$@"' },
  { name: 'a pipe as settings', start: 'mkdir -p "$HOME/.ouro"; mkfifo "$HOME/.ouro/settings.json"; exec "$@"' },
  {
    name: 'settings that cannot be read',
    files: settings('{}'),
    start: 'chmod 0 "$HOME/.ouro/settings.json"; exec "$@"',
  },
  {
    name: 'settings behind a loop of links',
    start: 'mkdir -p "$HOME/.ouro"; ln -s settings.json "$HOME/.ouro/settings.json"; exec "$@"',
  },
  {
    name: 'broken settings of the project',
    files: { '.ouro/settings.json': '{', '.claude/settings.json': '[', '.claude/settings.local.json': 'x' },
  },
  {
    name: 'broken files beside the settings',
    files: Object.fromEntries(
      ['keys.json', 'trust.json', 'history.jsonl', 'update.json', 'keybindings.json', 'mcp.json', 'plugins.json'].map(
        (name) => [`../home/.ouro/${name}`, '{"broken'],
      ),
    ),
  },
  { name: 'a broken .mcp.json', files: { '.mcp.json': '{"mcpServers": {"a": {"command": ' } },
  {
    name: 'a hostile .env',
    files: {
      '.env':
        'BUN_OPTIONS=--preload=/dev/null/nowhere.js\nPATH=/dev/null/nowhere\nHOME=/dev/null/nowhere\nOURO_HOME=/dev/null/nowhere\n',
    },
  },
  { name: 'an .env that is no text', start: 'head -c 4096 /dev/urandom > .env; exec "$@"' },
  { name: 'a hostile bunfig.toml', files: { 'bunfig.toml': 'preload = ["/dev/null/nowhere.js"]\n' } },
  { name: 'a broken bunfig.toml', files: { 'bunfig.toml': '[[[' } },
  { name: 'a broken bunfig.toml in the home', files: { '../home/.bunfig.toml': '[[[' } },
  { name: 'a broken tsconfig.json', files: { 'tsconfig.json': '{ "extends": "./dev/null/nowhere", ' } },
  { name: 'a tsconfig.json that extends itself', files: { 'tsconfig.json': '{ "extends": "./tsconfig.json" }' } },
  { name: 'a broken package.json', files: { 'package.json': '{ "name": ' } },
  {
    name: 'a package.json of wrong types',
    files: { 'package.json': '{ "name": 1, "type": [], "imports": 5, "exports": null, "workspaces": "x" }' },
  },
  { name: 'a broken package.json in the home', files: { '../home/package.json': '{', '../package.json': '{' } },
  { name: 'a broken .npmrc', files: { '.npmrc': '\u0000=[[\n', '../home/.npmrc': 'prefix=\n=x\n' } },
  {
    name: 'a hostile node_modules',
    files: { 'node_modules/react/index.js': 'throw 1', 'node_modules/ink/package.json': '{' },
  },
  { name: 'broken git configuration', files: { '../home/.gitconfig': '[user\nname' } },
  {
    name: 'programs in the working directory',
    files: { git: 'x', node: 'x', sh: 'x', rg: 'x', find: 'x' },
    start: 'chmod +x *; PATH=.:$PATH exec "$@"',
    npmStart: 'npm',
  },
  {
    name: 'drafts that are no JSON',
    start: 'd="$HOME/.ouro/projects/x/drafts"; mkdir -p "$d"; echo x > "$d/a.json"; exec "$@"',
  },
];

const WORK =
  '.mcp.json .gitmodules .gitignore .gitattributes AGENTS.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md .claude/CLAUDE.md .claude/AGENTS.md .claude/settings.json .claude/settings.local.json .claude/agents/a.md .claude/skills/s/SKILL.md .claude/commands/c.md .claude/output-styles/o.md .claude/rules/r.md';
const STATE =
  'settings.json keys.json trust.json history.jsonl keybindings.json mcp-logins.json mcp-approvals.json import-named.json CLAUDE.md AGENTS.md update.json models/anthropic.json agents/a.md skills/s/SKILL.md commands/c.md output-styles/o.md rules/r.md plugins.json themes/t.json unfinished running/x.jsonl';
const FOREIGN =
  '.clinerules .cursorrules .windsurfrules opencode.json opencode.jsonc .vscode/mcp.json .gemini/settings.json .cursor/mcp.json .cursor/rules/r.mdc .cursor/commands/c.md .codex/config.toml .github/copilot-instructions.md .github/prompts/p.prompt.md .kiro/steering/s.md .opencode/commands/c.md .windsurf/rules/r.md';
const FOREIGN_STATE =
  '.claude/settings.json .claude.json .claude/CLAUDE.md .claude/ide/1.lock .codex/AGENTS.md .codex/config.toml .gemini/GEMINI.md .gemini/settings.json .cursor/mcp.json .config/opencode/AGENTS.md .config/opencode/opencode.json .pi/agent/AGENTS.md';
const GIT = '.gitconfig .config/git/config .config/git/ignore';

const GIT_AREA = 'the configuration of git';

const AREAS = [
  ['the files of the project', '$PWD', WORK],
  ['the files of ouro', '$HOME/.ouro', STATE],
  ['the files of other assistants in the project', '$PWD', FOREIGN],
  ['the files of other assistants in the home', '$HOME', FOREIGN_STATE],
  [GIT_AREA, '$HOME', GIT],
  [
    'the files of a repository',
    '$PWD/.git',
    'HEAD config index packed-refs commondir config.worktree info/exclude MERGE_HEAD refs objects',
  ],
] as const;

const STAND_INS = [
  ['pipes', 'mkfifo "$f"'],
  ['folders', 'mkdir "$f"'],
  ['loops of links', 'ln -s "$(basename "$f")" "$f"'],
  ['links to a device without an end', 'ln -s /dev/zero "$f"'],
  ['noise', 'head -c 3000 /dev/urandom >"$f"'],
  ['empty files', ': >"$f"'],
  ['files that cannot be read', 'echo x >"$f"; chmod 0 "$f"'],
] as const;

/** Other things in place of every file that is read at the start. */
export const STAND_INS_FOR_FILES: readonly Surrounding[] = AREAS.flatMap(([area, folder, files]) =>
  STAND_INS.map(
    ([what, create]): Surrounding => ({
      name: `${what} in place of ${area}`,
      // npm reads the configuration of git on its own and waits for its end.
      ...(area === GIT_AREA && /^(?:pipes|links)/.test(what) ? { npmStart: 'npm' } : {}),
      start: `for n in ${files}; do f="${folder}/$n"; mkdir -p "\${f%/*}"; ${create}; done; exec "$@" --trust`,
    }),
  ),
);
