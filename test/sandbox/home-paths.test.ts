import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTestReadOnlySandbox } from '../support/read-only-sandbox.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** Logins and histories of many programs, those of programs nobody has heard of included. */
const LOGINS =
  `.authinfo .authinfo.gpg .composer/auth.json .netlify/config.json .config/netlify/config.json .databrickscfg
  .databricks/token .supabase/access-token .config/supabase/x .config/rclone/rclone.conf .rclone.conf .netrc .heroku/x
  .config/heroku/x .jupyter/jupyter_server_config.json .local/share/jupyter/runtime/key .local/share/atuin/key
  .local/share/atuin/history.db .config/atuin/config.toml .aws/credentials .aws/sso/cache/x.json .azure/msal.json .ssh/id_rsa
  .gnupg/private-keys-v1.d/x .kube/config .docker/config.json .config/gcloud/credentials.db .config/gh/hosts.yml .npmrc
  .pypirc .pgpass .my.cnf .mylogin.cnf .vault-token .terraform.d/credentials.tfrc.json .cargo/credentials.toml .gem/credentials
  .m2/settings.xml .gradle/gradle.properties .bash_history .zsh_history .python_history .node_repl_history .psql_history
  .local/share/fish/fish_history .git-credentials .config/git/credentials .config/op/config .config/Bitwarden/data.json
  .password-store/x.gpg .local/share/keyrings/login.keyring .mozilla/firefox/x/logins.json .config/google-chrome/Default/Cookies
  .thunderbird/x .config/Slack/Cookies .claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json
  .config/github-copilot/apps.json .continue/config.json .aider.conf.yml .config/opencode/auth.json .local/share/opencode/auth.json
  .fly/config.yml .railway/config.json .vercel/auth.json .local/share/com.vercel.cli/auth.json .wrangler/config/default.toml
  .config/doctl/config.yaml .config/hcloud/cli.toml .config/linode-cli .oci/config .aliyun/config.json .tccli/default.credential
  .config/scw/config.yaml .vultr-cli.yaml .s3cfg .boto .passwd-s3fs .mc/config.json .snowsql/config .dbt/profiles.yml
  .kaggle/kaggle.json .cache/huggingface/token .huggingface/token .config/wandb/settings .config/sops/age/keys.txt .age/key.txt
  .step/secrets/x .config/solana/id.json .ethereum/keystore/x .bitcoin/wallet.dat .electrum/x .msmtprc .mbsyncrc .fetchmailrc
  .irssi/config .weechat/sec.conf .config/hexchat/x .purple/accounts.xml .offlineimaprc .config/neomutt/x .muttrc .lftprc
  .config/filezilla/sitemanager.xml .config/remmina/x .vnc/passwd .config/ngrok/ngrok.yml .ngrok2/x .cloudflared/cert.pem
  .sentryclirc .doppler/.doppler.yaml .infisical/x .config/infisical/x .pulumi/credentials.json .config/helm/registry/config.json
  .local/share/uv/credentials/x .bundle/config .yarnrc.yml .condarc .nuget/NuGet/NuGet.Config .ivy2/.credentials
  .sbt/.credentials .config/pip/pip.conf .pip/pip.conf .config/pypoetry/auth.toml .env .envrc .secrets/x .tokens .bashrc
  .newest-assistant/token .config/newest/x .local/share/newest/db .local/state/newest/log .cache/newest/x .cache/ouro/x
  .hex/hex.config .cache/huggingface/stored_tokens .config/nix/nix.conf .conan2/.conan.db .conan2/credentials.json
  .platformio/appstate.json .cabal/config .stack/upload/credentials.json .luarocks/upload_config.lua .nimble/github_api_token
  .wasmer/wasmer.toml .foundry/keystores/x .pub-cache/credentials.json .julia/servers/x/auth.toml .gradle/init.gradle
  .gradle/init.d/x.gradle .sbt/1.0/sonatype.sbt .sbt/sonatype_credentials .config/mise/config.toml .coursier/credentials.properties
  .lein/credentials.clj .conda/aau_token .virtualenvs/x/.env .pyenv/.env .cargo/config .boot/boot.properties .clojure/deps.edn
  .config/containers/auth.json .dockercfg .zshenv .profile .ouro/keys.json .hgrc .subversion/auth/x`.split(/\s+/);

async function plant(project: TempProject): Promise<void> {
  for (const name of LOGINS) {
    const path = join(project.home, name);
    await mkdir(join(path, '..'), { recursive: true });
    // Some configuration files are readable as long as they hold no secret.
    await writeFile(path, 'PLANTED password = "correct-horse-battery"\n');
  }
  await writeFile(join(project.home, 'notes.txt'), 'PLANTED notes\n');
}

const FIND = 'grep -rls PLANTED ~ | sort';

describe.skipIf(NO_SANDBOX !== undefined)(
  `the home folder in a sandbox (${NO_SANDBOX ?? 'bubblewrap works here'})`,
  () => {
    test('no login of any program is readable, known or not', async () => {
      await using project = await createTempProject({}, '/var/tmp');
      await plant(project);
      expect((await createTestReadOnlySandbox(project).run(FIND)).printed).toBe('');
      const { run, sandbox } = await createTestSandbox(project);
      expect(await run(FIND)).toBe('');
      sandbox.close();
    });

    test('paths allowed by the settings are readable or writable', async () => {
      await using project = await createTempProject({}, '/var/tmp');
      await plant(project);
      const settings = { network: false, allowRead: ['~/.dbt', '~/.ssh'], allowWrite: ['~/.cache'] };
      const { run, sandbox } = await createTestSandbox(project, { settings });
      const printed = await run(
        `cat ~/.dbt/profiles.yml; cat ~/.ssh/id_rsa; echo 1 > ~/.cache/made; ls -A ~/.cache/ouro; echo x > ~/.cache/ouro/x`,
      );
      sandbox.close();
      expect(printed.split('\n').filter((line) => !/ssh|Permission denied/.test(line))).toEqual([
        'PLANTED password = "correct-horse-battery"',
        '',
      ]);
      expect(await readFile(join(project.home, '.cache/made'), 'utf8')).toBe('1\n');
      expect(await readFile(join(project.home, '.cache/ouro/x'), 'utf8')).toMatch(/^PLANTED/);
    });

    test('files that other programs execute stay unchanged, deep ones too, and a new one is reported', async () => {
      const names = [
        'CLAUDE.md',
        'sub/AGENTS.md',
        '.github/workflows/ci.yml',
        'lefthook.yml',
        'mise.toml',
        'a/b/c/d/e/.tool-versions',
      ];
      const contents = Object.fromEntries(names.map((name) => [name, 'own']));
      await using project = await createTempProject(contents, '/var/tmp');
      const { run, sandbox } = await createTestSandbox(project);
      const attempts = names.map((name) => `echo evil > ${name}; rm -f ${name}; mv ${name} x; mv $(dirname ${name}) y`);
      await run(`exec 2>/dev/null; ${attempts.join('; ')}`);
      for (const name of names) expect([name, await project.read(name)]).toEqual([name, 'own']);
      expect(await run('echo x > .pnpmfile.cjs; echo x > ordinary.js; mkdir .gitlab')).toBe(
        `[created, and other programs run from it: ${join(project.dir, '.gitlab')}, ${join(project.dir, '.pnpmfile.cjs')}. Tell the user what it is for.]`,
      );
      sandbox.close();
    });
  },
);
