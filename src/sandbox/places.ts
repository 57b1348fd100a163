/** What holds keys, logins and what was typed: below the home folder, or from the root of the disk. */
export const CREDENTIALS: readonly string[] = [
  ...[
    '.ssh',
    '.aws',
    '.azure',
    '.gnupg',
    '.kube',
    '.docker',
    '.oci',
    '.terraform.d',
    '.password-store',
    '.vault-token',
  ],
  ...['.netrc', '_netrc', '.npmrc', '.pypirc', '.pgpass', '.my.cnf', '.boto', '.s3cfg', '.dockercfg', '.htpasswd'],
  ...['.git-credentials', '.config/git/credentials', '.cache/git/credential', '.git-credential-cache'],
  ...[
    '.config/gh',
    '.config/hub',
    '.config/glab-cli',
    '.config/gcloud',
    '.config/doctl',
    '.config/rclone',
    '.config/op',
  ],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.gem/credentials', '.composer/auth.json', '.m2/settings.xml'],
  ...['.gradle/gradle.properties', '.nuget/NuGet/NuGet.Config', '.config/configstore', '.fly', '.netlify', '.wrangler'],
  ...[
    '.claude/.credentials.json',
    '.claude.json',
    '.codex/auth.json',
    '.gemini',
    '.config/github-copilot',
    '.config/goose',
  ],
  ...[
    '.local/share/keyrings',
    '.local/share/opencode/auth.json',
    '.mozilla',
    '.config/google-chrome',
    '.config/chromium',
  ],
  ...['.thunderbird', '.electrum', '.bitcoin', '.ethereum', '.config/solana', 'Library/Keychains', 'Library/Cookies'],
  ...['.bash_history', '.zsh_history', '.python_history', '.node_repl_history', '.psql_history', '.mysql_history'],
  ...['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/sudoers', '/etc/sudoers.d', '/etc/ssl/private'],
];

/** What of a project decides which programs run, there or not: by the kind of thing it is. */
export const GUARDED = {
  folders: ['.claude', '.vscode', '.idea', '.husky', '.cargo', '.cursor', '.codex'],
  files: [
    ...['.mcp.json', '.envrc', '.npmrc', '.yarnrc', '.yarnrc.yml', '.gitmodules', '.pre-commit-config.yaml'],
    ...['.bunfig.toml', 'bunfig.toml'],
  ],
} as const;

/** The same, guarded where it is there: a new one is seen before anything reads it. */
export const GUARDED_IF_THERE: readonly string[] = [
  ...['.agents', '.gitattributes', '.gitconfig', '.mise.toml', '.tool-versions', '.pnpmfile.cjs', 'lefthook.yml'],
  ...['.ripgreprc', '.bashrc', '.bash_profile', '.profile', '.zshrc', '.zprofile', '.zshenv', '.github'],
];

/** Inside of a git folder: other repositories keep their own of it in there. */
export const GUARDED_OF_GIT = {
  folders: ['hooks', 'modules', 'worktrees'],
  files: ['config', 'config.worktree'],
} as const;

const SECRET =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH_?KEY|_KEY$|_AUTH$|_PAT$|COOKIE|DATABASE_URL|_DSN$/i;
/** They lead to programs outside that do what they are told. */
const AGENTS = [
  'SSH_AUTH_SOCK',
  'GPG_AGENT_INFO',
  'DBUS_SESSION_BUS_ADDRESS',
  'DOCKER_HOST',
  'KUBECONFIG',
  'SSH_ASKPASS',
  'GIT_ASKPASS',
];

/** Does a variable of this name hold a key, or lead to a program that has some? */
export function isSecretName(name: string): boolean {
  return SECRET.test(name) || AGENTS.includes(name);
}
