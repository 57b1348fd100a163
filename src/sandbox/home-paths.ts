import { lstatSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';
import { redactSecrets } from '../lib/text/redact-secrets.ts';
import { isSecretFileArg } from '../permissions/paths/secret-paths.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { listGitUserFiles } from './git-paths.ts';
import { getPathKind, resolveAllLinks } from './host-paths.ts';
import type { HiddenHomePaths } from './plan.ts';
import type { FolderScanTests, ScanFolders } from './scan-folders.ts';

/**
 * Lists what sandboxes hide in the home folder: every entry that starts with a dot, except toolchains, package caches
 * and configuration without secrets; and in those, files with logins. In a workspace that contains the home folder only
 * secrets are hidden.
 */
export function listHiddenHomePaths(
  environment: Pick<Environment, 'home' | 'path' | 'variables'>,
  { roots, named, scanFolders }: HomeSearch,
): HiddenHomePaths {
  const home = resolveAllLinks(environment.home);
  const plainFiles = PLAIN_FILES.map((name) => resolveAllLinks(join(home, name)));
  const secretPlainFiles = plainFiles.filter((path) => getPathKind(path) === 'file' && !isPlainFile(path));
  if (roots.some((root) => isPathInside(home, root))) return { hidden: [], opened: [], secretFiles: secretPlainFiles };
  const opened = [...named, ...listToolPaths(environment, home), ...listGitUserFiles(home).filter(isPlainFile)];
  const entries = listFolderNames(home)
    .filter((name) => name.startsWith('.') && !OPEN_ENTRIES.has(name))
    .map((name) => ({ name, path: resolveAllLinks(join(home, name)) }))
    // A link may lead to a folder that contains the home folder.
    .filter(({ path }) => !isPathInside(home, path) && getPathKind(path) !== 'missing');
  const shown = entries.flatMap(({ name, path }) => [
    ...(OPEN_FOLDERS[name] ?? []).map((open) => resolveAllLinks(join(path, open))),
    ...opened.filter((candidate) => isPathInside(candidate, path)),
  ]);
  const open = [...[...OPEN_ENTRIES].map((name) => join(home, name)), ...shown];
  const isNamed = (path: string) => named.some((folder) => isPathInside(path, folder));
  const openFolders = open.filter((path) => !isNamed(path) && getPathKind(path) === 'directory');
  const logins = scanFolders(openFolders, LOGIN_TESTS).unreadablePaths;
  const secretFiles = [...secretPlainFiles, ...logins.filter((path) => !plainFiles.includes(path) && !isNamed(path))];
  return {
    hidden: entries.map(({ path }) => path),
    opened: shown.filter((path) => isPresent(path) && !secretFiles.includes(path)),
    secretFiles,
  };
}

const LOGIN_NAME =
  /^(?!.*\.(?:zip|tgz|gz|so|dylib|whl|jar|pub|crt)$).*(?:creds?\b|credential|passw|secret|token|oauth|netrc|api[-_]?key|keystore|cookie|(?:^|[._-])(?:auth|login)(?:[._-]|$))/i;
const CONFIGURATION_NAME =
  /(?:^|\.)(?:config|conf|cfg|ini|toml|ya?ml|json|properties|xml|gradle|kts|sbt|lua|edn|clj|pm|rc)$|rc$/i;
const MAX_CONFIGURATION_BYTES = 64_000;

/** Tests that find the files with logins: by their names, and configuration by its content. */
const LOGIN_TESTS: FolderScanTests = {
  key: 'logins',
  maxDepth: 1,
  isUnreadable: (path, kind) => kind === 'file' && isLoginFile(path),
  isUnwritable: () => false,
};

function isLoginFile(path: string): boolean {
  const name = basename(path);
  const isNamedLikeOne = LOGIN_NAME.test(name) || isSecretFileArg(name);
  if (!isNamedLikeOne && !CONFIGURATION_NAME.test(name)) return false;
  const { mode, size } = lstatSync(path, { throwIfNoEntry: false }) ?? { mode: 0, size: 0 };
  const isProgram = (mode & 0o111) !== 0;
  return isNamedLikeOne ? !isProgram : size < MAX_CONFIGURATION_BYTES && !isPlainFile(path);
}

/** The workspace, further paths that stay readable, and the search for logins in folders of toolchains. */
type HomeSearch = {
  readonly roots: readonly string[];
  readonly named: readonly string[];
  readonly scanFolders: ScanFolders;
};

const isPresent = (path: string) => getPathKind(path) !== 'missing';

/** Returns whether a configuration file holds no token, password or key. An unreadable one counts as secret. */
function isPlainFile(path: string): boolean {
  try {
    const text = readRegularFileSync(path).toString('utf8');
    return redactSecrets(text) === text && !/_auth\b|authorization:|extraheader|passw(?:or)?d\s*['"(>]/i.test(text);
  } catch {
    return false;
  }
}

/**
 * Lists the folders of tools that PATH and the variables of version managers name. A program on PATH needs the folders
 * beside it, so the whole entry of the home folder is opened, or the entry of `.config`, `.cache` or `.local/share`.
 */
function listToolPaths({ path, variables }: Pick<Environment, 'path' | 'variables'>, home: string): readonly string[] {
  const folders = [...path, ...TOOLCHAIN_VARIABLES.flatMap((name) => variables[name]?.split(':') ?? [])];
  return folders.filter(isAbsolute).flatMap((folder) => {
    const real = resolveAllLinks(folder);
    if (!isPathInside(real, home)) return [];
    const names = real.slice(home.length + 1).split('/');
    const isShared = names[0] === '.local' && (names[1] === 'share' || names[1] === 'state');
    const depth = isShared ? 3 : OPEN_FOLDERS[names[0] ?? ''] === undefined ? 1 : 2;
    return names.length < depth || names[0] === '' ? [] : [join(home, ...names.slice(0, depth))];
  });
}

/** Variables that name folders of toolchains. */
export const TOOLCHAIN_VARIABLES: readonly string[] = [
  ...['CARGO_HOME', 'RUSTUP_HOME', 'GOPATH', 'GOROOT', 'GOMODCACHE', 'JAVA_HOME', 'PYENV_ROOT', 'RBENV_ROOT'],
  ...['NODENV_ROOT', 'NVM_DIR', 'NVM_BIN', 'FNM_DIR', 'VOLTA_HOME', 'ASDF_DIR', 'ASDF_DATA_DIR', 'MISE_DATA_DIR'],
  ...['SDKMAN_DIR', 'BUN_INSTALL', 'PNPM_HOME', 'DOTNET_ROOT', 'GEM_HOME', 'GEM_PATH', 'OPAMROOT', 'STACK_ROOT'],
  ...['GHCUP_INSTALL_BASE_PREFIX', 'JULIA_DEPOT_PATH', 'PUB_CACHE', 'NIX_PROFILES', 'HOMEBREW_PREFIX'],
];

/** Configuration that stays readable only as long as it holds no secret. */
const PLAIN_FILES: readonly string[] = [
  ...['.gitconfig', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmrc', '.bunfig.toml', '.condarc', '.mambarc', '.hgrc'],
  ...['.config/git/config', '.config/go/env', '.config/npm/npmrc', '.config/pip/pip.conf', '.config/pnpm/rc'],
  ...['.pip/pip.conf', '.gemrc', '.cargo/config', '.cargo/config.toml', '.bundle/config', '.gradle/gradle.properties'],
  ...['.m2/settings.xml', '.nuget/NuGet/NuGet.Config', '.config/uv/uv.toml', '.config/pypoetry/config.toml'],
];

const parseNames = (text: string) => text.split(/\s+/).filter((name) => name !== '');

/** Entries of the home folder that stay readable: toolchains, package caches, configuration without secrets. */
const OPEN_ENTRIES = new Set(
  parseNames(`
    .gitconfig .npmrc .yarnrc .yarnrc.yml .pnpmrc .bunfig.toml .condarc .mambarc .hgrc .pip .gemrc
    .gitignore .gitignore_global .gitattributes .gitmessage .gitmessage.txt .editorconfig .inputrc .terminfo .ignore
    .rgignore .fdignore .agignore .prettierrc .eslintrc .stylelintrc .rubocop.yml .clang-format .clang-tidy .flake8
    .pylintrc .shellcheckrc .rustfmt.toml .tool-versions .nvmrc .node-version .python-version .ruby-version .asdfrc
    .cargo .rustup .pyenv .rbenv .nodenv .goenv .jenv .plenv .phpenv .nvm .n .fnm .volta .asdf .proto .sdkman .ghcup
    .cabal .stack .opam .elan .juliaup .julia .deno .bun .dotnet .nuget .m2 .gradle .ivy2 .sbt .coursier .gem .bundle
    .npm .npm-global .npm-packages .yarn .pnpm .pnpm-store .pnpm-state .node-gyp .node_modules .cpan .cpanm .composer
    .pub-cache .flutter .fvm .konan .kotlin .swiftpm .swiftly .hex .mix .kiex .ccache .conan .conan2 .vcpkg .platformio
    .arduino15 .espressif .virtualenvs .venvs .pipx .poetry .conda .miniconda .mamba .lein .clojure .boot .luarocks
    .nimble .choosenim .zvm .zig .foundry .svm .solc-select .avm .nix-profile .nix-defexpr .nix-channels .guix-profile
    .linuxbrew .tfenv .tenv .tgenv .wasmer .wasmtime .wasmedge .emsdk .sbcl .roswell .quicklisp .racket .nltk_data
    .keras .torch .matplotlib .fonts .icons .themes .sdk
  `),
);

/** Entries of hidden folders that stay readable. */
const OPEN_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  '.config': parseNames(`
    git go mise fontconfig nix nixpkgs uv ruff black yapf pycodestyle flake8 pylintrc rustfmt clangd yamllint stylua
    stylelint prettier ripgrep fd bat pip/pip.conf pnpm/rc npm/npmrc matplotlib pypoetry/config.toml
    containers/registries.conf containers/policy.json containers/storage.conf
  `),
  '.local': parseNames(`
    bin lib lib64 include opt pipx man go state/nix share/man share/bash-completion share/mise share/rtx share/uv
    share/pnpm share/fnm share/virtualenv share/virtualenvs share/pipx share/gem share/cargo share/rustup share/go
    share/fonts share/mime share/locale share/icons share/nix share/ghcup share/coursier share/NuGet share/hatch
    share/pdm share/pypoetry share/swiftly share/aquaproj-aqua share/julia share/racket share/nvm
  `),
  '.cache': parseNames(`
    pip uv go-build go-mod yarn pnpm npm bun deno node node-gyp typescript bazel bazelisk ccache sccache clangd pre-commit
    ms-playwright ms-playwright-go puppeteer Cypress electron electron-builder pypoetry pdm hatch pipx pipenv virtualenv
    mypy ruff black huggingface torch nltk fontconfig mesa_shader_cache composer nix coursier gopls golangci-lint
    staticcheck goimports helm cabal stack hie-bios zig trivy turbo vite matplotlib rosetta
  `),
};
