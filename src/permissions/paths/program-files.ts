import { splitWords } from '../../lib/text/lines.ts';

/** Folders whose files decide which programs run; writing there asks in every mode. */
export const PROTECTED_FOLDERS: readonly string[] = splitWords(
  '.git .vscode .idea .husky .claude .ouro .agents .cursor .codex .ssh .aws .gnupg .kube',
);
/** Files that decide which programs run; writing them asks in every mode. */
export const PROTECTED_FILES: readonly string[] = splitWords(`
  .gitmodules .gitconfig .gitattributes .mcp.json .envrc .npmrc .pnpmrc .ripgreprc .netrc .pypirc .bashrc
  .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc
  .inputrc .vimrc .exrc .nvimrc .tmux.conf .screenrc .xinitrc .xprofile .login .cshrc .tcshrc .bunfig.toml
  bunfig.toml .yarnrc .yarnrc.yml .yarnrc.yaml .pre-commit-config.yaml
`);
/** Folders whose files are run or followed by builds, hooks, package managers and other assistants. */
export const AUTO_RUN_FOLDERS = new Set(
  splitWords(`
  .github .gitlab .circleci .buildkite .woodpecker .forgejo .gitea .teamcity .azure-pipelines .pipelines .tekton .drone
  .lefthook .githooks git-hooks .hooks .pre-commit .overcommit .devcontainer .direnv .mise .config .vim .nvim .zed .fleet
  .semaphore .harness .azuredevops .builds .zuul.d .bsp .theia .helix .settings .devenv .flox .trunk .okteto
  .yarn .pnpm .cargo .mvn .gradle .bundle .hg .svn .bzr .jj .moon .nx
  .gemini .windsurf .roo .cline .clinerules .kilocode .kiro .junie .augment .opencode .goose .continue .codeium .trae .qwen
  .qoder .codebuddy .lingma .aiassistant .zencoder .iflow .grok .antigravity .rovodev .forge .void .mentat .sweep
  .factory .crush .copilot .amazonq .aider .tabnine .specstory .openhands
`),
);

/** Files that are run or followed by builds, hooks, package managers and other assistants. */
export const AUTO_RUN_FILES = new Set(
  splitWords(`
  .gitlab-ci.yml .travis.yml appveyor.yml .appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile .drone.yml
  .woodpecker.yml .woodpecker.yaml cloudbuild.yaml cloudbuild.yml .cirrus.yml buildspec.yml codemagic.yaml bitrise.yml
  wercker.yml circle.yml .gitpod.yml .gitpod.dockerfile .replit vagrantfile
  .overcommit.yml captainhook.json .captainhook.json .simple-git-hooks.json .huskyrc .lintstagedrc .hgrc .hgsub
  .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js pnpm-workspace.yaml .pnp.cjs .pnp.js .pnp.loader.mjs .condarc pip.conf pip.ini
  .pydistutils.cfg uv.toml poetry.toml sitecustomize.py usercustomize.py .gemrc .irbrc .pryrc .pdbrc .gdbinit .lldbinit
  rust-toolchain rust-toolchain.toml cargo-config.toml mvnw mvnw.cmd gradlew gradlew.bat gradle.properties init.gradle
  init.gradle.kts gradle-wrapper.properties gradle-wrapper.jar .sdkmanrc .jvmopts .sbtopts .jrubyrc nuget.config
  directory.build.props directory.build.targets directory.build.rsp .rprofile .renviron .ghci .iex.exs .ocamlinit .octaverc
  .psqlrc .sqliterc .wgetrc .curlrc .mailcap .dir-locals.el .emacs .tool-versions .asdfrc .prototools devbox.json .nvim.lua
  mise.toml .mise.toml .rspec .corepack.env .bazelrc .bazeliskrc .nodemonrc .lvimrc .nvmrc .node-version .ruby-version
  .python-version .java-version .go-version .terraform-version .terraformrc
  agents.md claude.md claude.local.md gemini.md qwen.md warp.md crush.md agent.md .cursorrules .windsurfrules .roorules
  .goosehints .rules .roomodes .kilocodemodes .aider.conf.yml mcp.json opencode.json opencode.jsonc
`),
);

/** Names of such files that vary. */
export const AUTO_RUN_PATTERN =
  /^(?:\.?lefthook(?:-local)?\.\w+|\.?(?:lintstaged|lint-staged|simple-git-hooks|husky)(?:rc)?(?:\.config)?\.\w+|.*\.(?:pth|code-workspace|sublime-project|workflow)|\.aider.*|\.?mise\..*\.toml)$/;

/** Entries that builds, package managers and version control write, so that a sandbox must not make them read-only. */
const WRITTEN_BY_TOOLS = new Set(
  splitWords(`
  .git .gitmodules .yarn .pnpm .gradle .nx .moon .hg .svn .bzr .jj .devenv .direnv .bsp .flox .trunk .bundle .pnp.cjs
  .pnp.js .pnp.loader.mjs pnpm-workspace.yaml .hgsub .settings .config
`),
);

/** Returns whether a file or folder of this name decides which programs run, and no tool writes it on its own. */
export function isProgramControlFile(name: string): boolean {
  const normalized = name.toLowerCase();
  if (WRITTEN_BY_TOOLS.has(normalized)) return false;
  return (
    AUTO_RUN_FILES.has(normalized) ||
    AUTO_RUN_FOLDERS.has(normalized) ||
    PROTECTED_FILES.includes(normalized) ||
    PROTECTED_FOLDERS.includes(normalized) ||
    AUTO_RUN_PATTERN.test(normalized)
  );
}
