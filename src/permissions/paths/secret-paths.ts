import type { Policy } from '../../contracts/permission.ts';
import { createLazy } from '../../lib/memoize.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { isPathInside, normalizePathCase, type ResolvedPath } from '../resolve-path.ts';
import { PROCESS_SECRET_FILES, PROCESS_SECRET_REASON, stripIgnoredNameSuffix } from './protected-paths.ts';

/** Beginnings and endings of example files that hold no secrets. */
const EXAMPLE_START = /^(?:example|sample|template|dist|defaults?)[._-]/;
const EXAMPLE_ENDING = /[._-](example|sample|template|dist|defaults?)$/;
const SECRET_FILES = splitWords(`
  .netrc _netrc .npmrc .pypirc .git-credentials .pgpass .my.cnf .htpasswd .dockercfg .vault-token credentials.json
  .envrc kubeconfig .s3cfg .boto .mylogin.cnf .databrickscfg .credentials.json oauth_creds.json .claude.json
  .password-store .dockerconfigjson .dev.vars .secrets .authinfo .msmtprc .passwd-s3fs .cdsapirc kaggle.json
  rclone.conf client_secret.json service-account.json service_account.json serviceaccount.json
  serviceaccountkey.json secrets.json secrets.yml secrets.yaml secrets.toml secrets.env secret.json secret.yml
  secret.yaml credentials.yml credentials.yaml credentials.toml credentials.ini credentials.csv credentials
  client_secrets.json gcp-key.json gcloud-key.json firebase-key.json auth.json local.settings.json wp-config.php
  .terraformrc terraform.rc .pgservicerc .curlrc .wgetrc .fetchmailrc .mbsyncrc .offlineimaprc .rediscli_auth
  .snyk-token .vercel-token api_keys.json apikeys.json tokens.json token.json .token vault-password .vault_pass
  .vault-pass vault_pass.txt
`);
/** Paths of secrets below the home folder. */
const SECRET_HOME_PATHS = [
  ...splitWords(`
    .ssh .aws .azure .kube .gnupg .docker/config.json .config/gcloud .config/gh .config/hub .terraform.d .oci
    .claude.json .codex/auth.json .gemini .qwen .config/github-copilot .config/anthropic .config/op .config/rclone
    .config/doctl .config/heroku .config/stripe .config/solana .config/age .config/sops .config/google-chrome
    .config/chromium .mozilla .local/share/keyrings .local/share/opencode/auth.json .password-store .pulumi .fly
    .snowsql .electrum .ethereum .bitcoin .subversion/auth .m2/settings.xml .m2/settings-security.xml
    .gradle/gradle.properties .cargo/credentials .cargo/credentials.toml .composer/auth.json .gem/credentials
    Library/Keychains .authinfo .authinfo.gpg .aliyun .bluemix .cache/huggingface/token .huggingface .cdsapirc
    .config/1Password .config/BraveSoftware .config/configstore .config/glab-cli .config/hcloud
    .config/microsoft-edge .config/netlify .config/ngrok .config/opera .config/pypoetry/auth.toml .config/scw
    .config/vercel .config/vivaldi .config/.wrangler .wrangler .config/containers/auth.json .dbshell .histfile
    .irb_history .ivy2/.credentials .sbt/.credentials .kaggle .ksh_history .sh_history .lesshst
    .local/share/com.vercel.cli .local/share/fish/fish_history .local/share/kwalletd .mc/config.json .msmtprc
    .ngrok2 .nuget/NuGet/NuGet.Config .passwd-s3fs .railway .rediscli_history .sqlite_history .supabase .thunderbird
    .tccli .viminfo .vultr-cli.yaml .bash_history .zsh_history .python_history .node_repl_history .psql_history
    .mysql_history AppData/Local/BraveSoftware AppData/Local/Microsoft/Credentials AppData/Roaming/1Password
    AppData/Roaming/Code/User/globalStorage AppData/Roaming/Microsoft/Credentials AppData/Roaming/Microsoft/Protect
    AppData/Roaming/Microsoft/Windows/PowerShell/PSReadLine AppData/Roaming/Mozilla AppData/Roaming/gcloud
    AppData/Roaming/gnupg
  `),
  '.config/Bitwarden CLI',
  'AppData/Local/Google/Chrome/User Data',
  'AppData/Local/Microsoft/Edge/User Data',
  'AppData/Roaming/Bitwarden CLI',
  'AppData/Roaming/GitHub CLI',
];

/** Returns the paths in the home folder that hold credentials. */
export function listSecretPaths(home: string): readonly string[] {
  return SECRET_HOME_PATHS.map((part) => `${home}/${part}`);
}

/** Returns the reason why a file may hold secrets, so that reading it needs approval; undefined if it does not. */
export function getSecretPathReason(path: ResolvedPath, policy: Policy): string | undefined {
  for (const form of new Set([path.lexical, path.real])) {
    const reason = findSecret(normalizePathCase(form), policy);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function findSecret(path: string, policy: Policy): string | undefined {
  const keyPath = policy.sensitivePaths.find((candidate) => isPathInside(path, normalizePathCase(candidate)));
  if (keyPath !== undefined) return `${keyPath} holds a key`;
  const copy = policy.taintedPaths?.find((candidate) => isPathInside(path, normalizePathCase(candidate)));
  if (copy === '/') return 'a command may have written secrets to any file';
  if (copy !== undefined) return `${copy} was written from a secret file`;
  const home = normalizePathCase(policy.home);
  return findSecretName(path, isPathInside(path, home) ? path.slice(home.length + 1) : '');
}

/** Returns whether a path in a command names a file that may hold secrets; the path may begin with `~` or `$HOME`. */
export function isSecretFileArg(text: string): boolean {
  const path = normalizePathCase(text);
  return findSecretName(path, HOME_PREFIX.exec(path)?.[1] ?? '') !== undefined;
}

const HOME_PREFIX = /^(?:~|\$home|\$\{home\})\/(.+)/i;

/** Finds the reason by the name of the file and its folders; `homeRelative` is empty outside the home folder. */
function findSecretName(path: string, homeRelative: string): string | undefined {
  const parts = path.split('/').map(stripIgnoredNameSuffix);
  const name = parts.at(-1) ?? '';
  if (/^\.env([._-]|$)/.test(name) && !EXAMPLE_ENDING.test(name)) return `${name} often holds secrets`;
  if (/\.env$/.test(name) && !EXAMPLE_START.test(name)) return `${name} often holds secrets`;
  if (
    /^(?:service[-_]?account|firebase-adminsdk)[\w.-]*\.json$|-firebase-adminsdk-(?:(?!firebase-adminsdk-)[\w.-])*\.json$/.test(
      name,
    )
  )
    return `${name} may hold a key`;
  if (parts.at(-2) === '.docker' && name === 'config.json') return `${name} of Docker holds credentials`;
  if (
    /\.(pem|key|p12|pfx|jks|keystore|kdbx|asc|p8|ppk|jceks|bks|tfstate|keyring|keychain|keychain-db|kubeconfig|ovpn|tfvars|kdb|wallet|gpgkey|agekey|mobileprovision)$|\.tfstate\.backup$|\.tfvars\.json$/.test(
      name,
    )
  )
    return `${name} may hold a key`;
  if (/^id_[a-z0-9_-]+$/.test(name)) return `${name} may hold a private key`;
  if (SECRET_FILES.includes(name)) return `${name} may hold credentials`;
  if (/^\/proc\/.*\/(environ|mem|maps)$/.test(path)) return PROCESS_SECRET_REASON;
  if (parts.some((part) => part === '.ssh' || part === '.aws' || part === '.gnupg'))
    return 'its folder holds credentials';
  const secretPath =
    homeRelative === '' ? undefined : SECRET_HOME_PATHS.find((part) => isPathInside(homeRelative, part.toLowerCase()));
  return secretPath === undefined ? undefined : `~/${secretPath} holds credentials`;
}

/** Globs for `.env` files that are not examples. */
const ENV_GLOBS = `
  .env .env.[!dest]* .env.d[!ei]* .env.e[!x]* .env.s[!a]* .env.t[!e]* .env.te[!m]* .env[_-][!dest]*
  service-account*.json service_account*.json serviceaccount*.json firebase-adminsdk*.json
  *-firebase-adminsdk-*.json
`;
const KEY_FILE_ENDINGS =
  'pem key p12 pfx jks keystore kdbx asc p8 ppk jceks bks tfstate keyring keychain keychain-db kubeconfig tfstate.backup ovpn tfvars tfvars.json kdb wallet gpgkey agekey mobileprovision env';

/** Lists gitignore-style globs of secret files, which searches exclude; the same files as `getSecretPathReason`. */
export const listSecretGlobs = createLazy((): readonly string[] => [
  ...splitWords(ENV_GLOBS),
  ...splitWords(KEY_FILE_ENDINGS).map((ending) => `*.${ending}`),
  ...['rsa', 'dsa', 'ecdsa', 'ed25519', 'xmss'].flatMap((kind) => [`id_${kind}`, `id_${kind}_*`]),
  ...SECRET_FILES,
  '.ssh',
  '.aws',
  '.gnupg',
  ...PROCESS_SECRET_FILES.flatMap((name) => [`/proc/*/${name}`, `/proc/*/task/*/${name}`]),
]);
