import type { Policy } from '../../contracts/permission.ts';
import { folded, isInside, type ResolvedPath } from './paths.ts';
import { PROCESS_HOLDS, PROCESS_SECRETS, trimmedName } from './protected.ts';

const SAMPLE = /[._-](example|sample|template|dist|defaults?)$/;
const SECRET_NAMES = [
  '.netrc',
  '_netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.htpasswd',
  '.dockercfg',
  '.vault-token',
  'credentials.json',
  '.envrc',
  'kubeconfig',
  '.s3cfg',
  '.boto',
  '.mylogin.cnf',
  '.databrickscfg',
  '.credentials.json',
  'oauth_creds.json',
  '.claude.json',
  '.password-store',
  '.dockerconfigjson',
  '.dev.vars',
  '.secrets',
  '.authinfo',
  '.msmtprc',
  '.passwd-s3fs',
  '.cdsapirc',
  'kaggle.json',
  'rclone.conf',
  'client_secret.json',
  'service-account.json',
  'service_account.json',
];
const SECRET_HOME = [
  '.ssh',
  '.aws',
  '.azure',
  '.kube',
  '.gnupg',
  '.docker/config.json',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.terraform.d',
  '.oci',
  '.claude.json',
  '.codex/auth.json',
  '.gemini',
  '.qwen',
  '.config/github-copilot',
  '.config/anthropic',
  '.config/op',
  '.config/rclone',
  '.config/doctl',
  '.config/heroku',
  '.config/stripe',
  '.config/solana',
  '.config/age',
  '.config/sops',
  '.config/google-chrome',
  '.config/chromium',
  '.mozilla',
  '.local/share/keyrings',
  '.local/share/opencode/auth.json',
  '.password-store',
  '.pulumi',
  '.fly',
  '.snowsql',
  '.electrum',
  '.ethereum',
  '.bitcoin',
  '.subversion/auth',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.composer/auth.json',
  '.gem/credentials',
  'Library/Keychains',
  '.authinfo',
  '.authinfo.gpg',
  '.aliyun',
  '.bluemix',
  '.cache/huggingface/token',
  '.huggingface',
  '.cdsapirc',
  '.config/1Password',
  '.config/Bitwarden CLI',
  '.config/BraveSoftware',
  '.config/configstore',
  '.config/glab-cli',
  '.config/hcloud',
  '.config/microsoft-edge',
  '.config/netlify',
  '.config/ngrok',
  '.config/opera',
  '.config/pypoetry/auth.toml',
  '.config/scw',
  '.config/vercel',
  '.config/vivaldi',
  '.config/.wrangler',
  '.wrangler',
  '.config/containers/auth.json',
  '.dbshell',
  '.histfile',
  '.irb_history',
  '.ivy2/.credentials',
  '.sbt/.credentials',
  '.kaggle',
  '.ksh_history',
  '.sh_history',
  '.lesshst',
  '.local/share/com.vercel.cli',
  '.local/share/fish/fish_history',
  '.local/share/kwalletd',
  '.mc/config.json',
  '.msmtprc',
  '.ngrok2',
  '.nuget/NuGet/NuGet.Config',
  '.passwd-s3fs',
  '.railway',
  '.rediscli_history',
  '.sqlite_history',
  '.supabase',
  '.thunderbird',
  '.tccli',
  '.viminfo',
  '.vultr-cli.yaml',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
];

/** The places in the home folder that hold credentials. */
export function secretPlaces(home: string): readonly string[] {
  return SECRET_HOME.map((part) => `${home}/${part}`);
}

/** Why reading this asks even inside the workspace, or `undefined`. */
export function sensitiveRead(path: ResolvedPath, policy: Policy): string | undefined {
  for (const place of new Set([path.lexical, path.real])) {
    const reason = sensitivePlace(folded(place), policy);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function sensitivePlace(place: string, policy: Policy): string | undefined {
  const ours = policy.sensitivePaths.find((guarded) => isInside(place, folded(guarded)));
  if (ours !== undefined) return `${ours} holds a key`;
  const copy = policy.copiedSecrets?.find((each) => isInside(place, folded(each)));
  if (copy === '/') return 'the line may have put secrets into any file';
  if (copy !== undefined) return `${copy} was made of a file of secrets`;
  const parts = place.split('/').map(trimmedName);
  const name = parts.at(-1) ?? '';
  if (/^\.env([._-]|$)/.test(name) && !SAMPLE.test(name)) return `${name} often holds secrets`;
  if (
    /\.(pem|key|p12|pfx|jks|keystore|kdbx|asc|p8|ppk|jceks|bks|tfstate|keyring|keychain|keychain-db|kubeconfig)$|\.tfstate\.backup$/.test(
      name,
    )
  )
    return `${name} may hold a key`;
  if (/^id_[a-z0-9_-]+$/.test(name)) return `${name} may hold a private key`;
  if (SECRET_NAMES.includes(name)) return `${name} may hold credentials`;
  if (/^\/proc\/.*\/(environ|mem|maps)$/.test(place)) return PROCESS_HOLDS;
  if (parts.some((part) => part === '.ssh' || part === '.aws' || part === '.gnupg'))
    return 'its folder holds credentials';
  const home = folded(policy.home);
  const below = isInside(place, home) ? place.slice(home.length + 1) : '';
  const atHome = below === '' ? undefined : SECRET_HOME.find((part) => isInside(below, part.toLowerCase()));
  return atHome === undefined ? undefined : `~/${atHome} holds credentials`;
}

const NOT_SAMPLES = [
  '.env',
  '.env.[!dest]*',
  '.env.d[!ei]*',
  '.env.e[!x]*',
  '.env.s[!a]*',
  '.env.t[!e]*',
  '.env.te[!m]*',
  '.env[_-][!dest]*',
];
const KEY_FILES =
  'pem|key|p12|pfx|jks|keystore|kdbx|asc|p8|ppk|jceks|bks|tfstate|keyring|keychain|keychain-db|kubeconfig|tfstate.backup'
    .split('|')
    .map((ending) => `*.${ending}`);
const KEY_NAMES = ['rsa', 'dsa', 'ecdsa', 'ed25519', 'xmss'].flatMap((kind) => [`id_${kind}`, `id_${kind}_*`]);

/** Names that searches leave out, in the manner of .gitignore: what `sensitiveRead` asks about. */
export const SECRET_GLOBS: readonly string[] = [
  ...NOT_SAMPLES,
  ...KEY_FILES,
  ...KEY_NAMES,
  ...SECRET_NAMES,
  '.ssh',
  '.aws',
  '.gnupg',
  ...PROCESS_SECRETS.flatMap((name) => [`/proc/*/${name}`, `/proc/*/task/*/${name}`]),
];
