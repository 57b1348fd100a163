import { basename } from 'node:path';
import { folded, isInside, type ResolvedPath } from './paths.ts';

const words = (text: string) => new Set(text.split(/\s+/).filter((word) => word !== ''));

/** Folders whose files builds, hooks, package managers and other assistants run or obey. */
const FOLDERS = words(`
  .github .gitlab .circleci .buildkite .woodpecker .forgejo .gitea .teamcity .azure-pipelines .pipelines .tekton .drone
  .lefthook .githooks git-hooks .hooks .pre-commit .overcommit .devcontainer .direnv .mise .config .vim .nvim .zed .fleet
  .semaphore .harness .azuredevops .builds .zuul.d .bsp .theia .helix .settings .devenv .flox .trunk .okteto
  .yarn .pnpm .cargo .mvn .gradle .bundle .hg .svn .bzr .jj .moon .nx
  .gemini .windsurf .roo .cline .clinerules .kilocode .kiro .junie .augment .opencode .goose .continue .codeium .trae .qwen
  .qoder .codebuddy .lingma .aiassistant .zencoder .iflow .grok .antigravity .rovodev .forge .void .mentat .sweep
  .factory .crush .copilot .amazonq .aider .tabnine .specstory .openhands
`);

const NAMES = words(`
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
  mise.toml .mise.toml .rspec
  agents.md claude.md claude.local.md gemini.md qwen.md warp.md crush.md agent.md .cursorrules .windsurfrules .roorules
  .goosehints .rules .roomodes .kilocodemodes .aider.conf.yml mcp.json opencode.json opencode.jsonc
`);

const FORMS =
  /^(?:\.?lefthook(?:-local)?\.\w+|\.?(?:lintstaged|lint-staged|simple-git-hooks|husky)(?:rc)?(?:\.config)?\.\w+|.*\.(?:pth|code-workspace|sublime-project|workflow)|\.aider.*|\.?mise\..*\.toml)$/;

/** Why other programs run or obey what stands here, so that mode acceptEdits asks; nothing for an ordinary file. */
export function runFrom(path: ResolvedPath, roots: readonly string[]): string | undefined {
  for (const place of new Set([path.lexical, path.real])) {
    // A workspace may itself lie in such a folder.
    const root = roots.find((each) => isInside(place, each)) ?? '';
    const parts = folded(place.slice(root.length))
      .split('/')
      .map((part) => part.replace(/:.*$/, '').replace(/[. ]+$/, (tail) => (part === tail ? tail : '')));
    const name = basename(parts.join('/'));
    const folder = parts.slice(0, -1).find((part) => FOLDERS.has(part));
    if (folder !== undefined) return `programs run or obey what is in ${folder}`;
    if (NAMES.has(name) || FOLDERS.has(name) || FORMS.test(name)) return `programs run or obey ${name}`;
  }
  return undefined;
}
