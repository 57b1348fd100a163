import { splitWords } from '../lib/text/lines.ts';

/** Returns the paths that hold keys, credentials and histories. */
export function listCredentialPaths(home: string): readonly string[] {
  return CREDENTIALS.map((name) => (name.startsWith('/') ? name : `${home}/${name}`));
}

/** Paths below the home folder, or absolute ones. */
const CREDENTIALS: readonly string[] = [
  ...splitWords(`
    .ssh .aws .azure .gnupg .kube .docker .oci .terraform.d .password-store .vault-token .netrc _netrc .pypirc
    .pgpass .my.cnf .boto .s3cfg .dockercfg .htpasswd .git-credentials .config/git/credentials .cache/git/credential
    .git-credential-cache .config/gh .config/hub .config/glab-cli .config/gcloud .config/doctl .config/rclone
    .config/op .cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json .m2/settings.xml
    .gradle/gradle.properties .nuget/NuGet/NuGet.Config .config/configstore .fly .netlify .wrangler
    .claude/.credentials.json .claude.json .codex/auth.json .gemini .config/github-copilot .config/goose
    .local/share/keyrings .local/share/opencode/auth.json .mozilla .config/google-chrome .config/chromium
    .thunderbird .electrum .bitcoin .ethereum .config/solana Library/Keychains Library/Cookies .bash_history
    .zsh_history .python_history .node_repl_history .psql_history .mysql_history .local/share/fish/fish_history
    .sqlite_history .irb_history .rediscli_history .lesshst .viminfo .config/Code .config/Cursor
    .config/BraveSoftware .config/microsoft-edge .config/Slack .config/discord .local/share/kwalletd .config/sops
    .config/hcloud .config/linode-cli .config/ngrok .config/stripe .local/share/com.vercel.cli .config/vercel
    .railway .supabase .databrickscfg .snowsql .kaggle .config/containers/auth.json .config/pypoetry/auth.toml
    .bundle/config .huggingface .cache/huggingface/token .config/wandb .config/opencode .config/anthropic .openai
    .mylogin.cnf .subversion/auth .terraformrc .ngrok2 .putty .android .step .age .m2/settings-security.xml
    .ivy2/.credentials .sbt/.credentials .config/.wrangler .config/heroku .cloudflared .sentryclirc .doppler
    .config/age .config/gopass .local/share/gopass .config/1Password .expo .local/share/uv/credentials
    .config/turborepo .turbo .vercel .config/sentry .config/infisical .codeium .windsurf .continue .factory .qwen
    .grok .config/amp .config/crush .aider.conf.yml .codex/history.jsonl .claude/history.jsonl .ssh-agent
    .config/rbw .local/share/rbw .lpass .wgetrc .curlrc .config/helm .minikube .mc .config/fish/fish_variables
    .local/share/mc /etc/krb5.keytab /etc/kubernetes /etc/rancher /etc/NetworkManager/system-connections
    /etc/wireguard .hex/hex.config .conan/.conan.db .conan2/.conan.db .platformio/appstate.json .foundry/keystores
    .luarocks/upload_config.lua .wasmer/wasmer.toml .julia/servers .dotnet/corefx .stack/upload
    /etc/ssh/ssh_host_ed25519_key /etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/openvpn /etc/shadow
    /etc/shadow- /etc/gshadow /etc/sudoers /etc/sudoers.d /etc/ssl/private
  `),
  '.config/Bitwarden CLI',
];

/** Names of variables that hold secrets. */
const SECRET_NAME =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH_?KEY|_KEY$|_AUTH$|_PAT$|_PWD$|(?:^|_)PASS$|COOKIE|DATABASE_URL|_DSN$|CONNECTION_?STRING|WEBHOOK|BEARER|(?:^|_)JWT|MNEMONIC|SEED_PHRASE/i;
const URL_PASSWORD = /:\/\/[^\s/?#@:]*:[^\s/?#@]+@/;
/** Prefixes of well-known keys. */
const KEY_PREFIX =
  /^(?:(?:(?:sk|rk)-|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AIza|npm_|hf_|AKIA|ASIA|dop_v1_|SG\.)[\w-]{12}|eyJ[\w-]{8,}\.eyJ|-----BEGIN [A-Z ]*PRIVATE KEY)/;
/** Variables that lead to agents and daemons outside the sandbox. */
const AGENT_VARIABLES = [
  'SSH_AUTH_SOCK',
  'GPG_AGENT_INFO',
  'DBUS_SESSION_BUS_ADDRESS',
  'DOCKER_HOST',
  'KUBECONFIG',
  'SSH_ASKPASS',
  'GIT_ASKPASS',
];

/** Returns whether a variable holds a secret or leads to an agent that does, judged by its name and value. */
export function isSecretVariable(name: string, value: string): boolean {
  return AGENT_VARIABLES.includes(name) || holdsSecret(name, value);
}

/** Returns whether a variable holds a secret, judged by its name and value. */
export function holdsSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || URL_PASSWORD.test(value) || KEY_PREFIX.test(value);
}
