/** What holds keys, logins and what was typed. */
export function credentialsOf(home: string): readonly string[] {
  return CREDENTIALS.map((name) => (name.startsWith('/') ? name : `${home}/${name}`));
}

/** Below the home folder, or from the root of the disk. */
const CREDENTIALS: readonly string[] = [
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
  ...['.local/share/fish/fish_history', '.sqlite_history', '.irb_history', '.rediscli_history', '.lesshst', '.viminfo'],
  ...[
    '.config/Code',
    '.config/Cursor',
    '.config/BraveSoftware',
    '.config/microsoft-edge',
    '.config/Slack',
    '.config/discord',
  ],
  ...[
    '.local/share/kwalletd',
    '.config/sops',
    '.config/hcloud',
    '.config/linode-cli',
    '.config/ngrok',
    '.config/stripe',
  ],
  ...[
    '.local/share/com.vercel.cli',
    '.config/vercel',
    '.railway',
    '.supabase',
    '.databrickscfg',
    '.snowsql',
    '.kaggle',
  ],
  ...[
    '.config/containers/auth.json',
    '.config/pypoetry/auth.toml',
    '.config/pip',
    '.pip',
    '.condarc',
    '.bundle/config',
  ],
  ...['.huggingface', '.cache/huggingface/token', '.config/wandb', '.config/opencode', '.config/anthropic', '.openai'],
  ...['.mylogin.cnf', '.subversion/auth', '.hgrc', '.terraformrc', '.ngrok2', '.putty', '.android', '.step', '.age'],
  ...['.m2/settings-security.xml', '.ivy2/.credentials', '.sbt/.credentials', '.yarnrc', '.yarnrc.yml', '.pnpmrc'],
  ...[
    '.bunfig.toml',
    '.config/pnpm/rc',
    '.config/.wrangler',
    '.config/heroku',
    '.cloudflared',
    '.sentryclirc',
    '.doppler',
  ],
  ...['.config/age', '.config/gopass', '.local/share/gopass', '.config/Bitwarden CLI', '.config/1Password', '.expo'],
  ...['.local/share/uv/credentials', '.config/turborepo', '.turbo', '.vercel', '.config/sentry', '.config/infisical'],
  ...[
    '.codeium',
    '.windsurf',
    '.continue',
    '.factory',
    '.qwen',
    '.grok',
    '.config/amp',
    '.config/crush',
    '.aider.conf.yml',
  ],
  ...['.codex/history.jsonl', '.claude/history.jsonl', '.ssh-agent', '.config/rbw', '.local/share/rbw', '.lpass'],
  ...['.wgetrc', '.curlrc', '.config/helm', '.minikube', '.mc', '.config/fish/fish_variables', '.local/share/mc'],
  ...[
    '/etc/krb5.keytab',
    '/etc/kubernetes',
    '/etc/rancher',
    '/etc/NetworkManager/system-connections',
    '/etc/wireguard',
  ],
  ...['/etc/ssh/ssh_host_ed25519_key', '/etc/ssh/ssh_host_rsa_key', '/etc/ssh/ssh_host_ecdsa_key', '/etc/openvpn'],
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

/** In a home folder that may be written: what runs when somebody logs in, opens a shell or an editor. */
export const GUARDED_OF_HOME = {
  folders: [
    ...['.ssh', '.gnupg', '.vim', '.emacs.d', '.local/bin', 'bin', '.local/share/applications', '.local/share/systemd'],
    ...['.config/autostart', '.config/systemd', '.config/environment.d', '.config/fish', '.config/git', '.config/nvim'],
    ...['.config/plasma-workspace', 'Library/LaunchAgents'],
  ],
  files: [
    ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.inputrc', '.npmrc'],
    ...['.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.xprofile', '.xsession', '.xsessionrc', '.xinitrc'],
    ...[
      '.pam_environment',
      '.gitconfig',
      '.vimrc',
      '.exrc',
      '.emacs',
      '.tmux.conf',
      '.screenrc',
      '.gdbinit',
      '.lldbinit',
    ],
    ...[
      '.wgetrc',
      '.curlrc',
      '.irbrc',
      '.pryrc',
      '.pythonrc',
      '.Rprofile',
      '.hushlogin',
      '.kshrc',
      '.cshrc',
      '.tcshrc',
    ],
  ],
} as const;

/** In the folder a repository keeps for one of its worktrees. */
export const GUARDED_OF_WORKTREE = { folders: [], files: ['config.worktree', 'commondir', 'gitdir'] } as const;

/** What of the kernel's own files changes the whole machine. */
export const OF_THE_KERNEL: readonly string[] = [
  ...['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'asound', 'driver', 'mtrr'].map(
    (name) => `/proc/${name}`,
  ),
];

/** Inside of a git folder: other repositories keep their own of it in there. */
export const GUARDED_OF_GIT = {
  folders: ['hooks', 'modules', 'worktrees'],
  files: ['config', 'config.worktree'],
} as const;

const SECRET =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH_?KEY|_KEY$|_AUTH$|_PAT$|_PWD$|(?:^|_)PASS$|COOKIE|DATABASE_URL|_DSN$|CONNECTION_?STRING|WEBHOOK|BEARER|(?:^|_)JWT|MNEMONIC|SEED_PHRASE/i;
/** An address with a login in it. */
const LOGIN = /:\/\/[^\s/?#@]*:[^\s/?#@]+@/;
/** How keys of well-known places begin. */
const KEY =
  /^(?:(?:(?:sk|rk)-|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AIza|npm_|hf_|AKIA|ASIA|dop_v1_|SG\.)[\w-]{12}|eyJ[\w-]{8,}\.eyJ|-----BEGIN [A-Z ]*PRIVATE KEY)/;
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

/** Where package managers are told to keep what they fetched and built. */
const CACHES = {
  npm_config_cache: 'npm',
  YARN_CACHE_FOLDER: 'yarn',
  BUN_INSTALL_CACHE_DIR: 'bun',
  PIP_CACHE_DIR: 'pip',
  UV_CACHE_DIR: 'uv',
  GOCACHE: 'go-build',
  CCACHE_DIR: 'ccache',
  COMPOSER_CACHE_DIR: 'composer',
  GRADLE_USER_HOME: 'gradle',
} as const;

/** The variables that say so, but for those that somebody set. */
export function cacheVariables(folder: string, set: readonly string[]): Readonly<Record<string, string>> {
  const open = Object.entries(CACHES).filter(([name]) => !set.includes(name));
  return Object.fromEntries(open.map(([name, below]) => [name, `${folder}/${below}`]));
}

/** Does this variable hold a key, or lead to a program that has some? Its name says so, or what it holds. */
export function isSecret(name: string, value: string): boolean {
  return SECRET.test(name) || AGENTS.includes(name) || LOGIN.test(value) || KEY.test(value);
}
