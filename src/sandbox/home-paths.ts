import { lstatSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { splitWords } from '../lib/text/lines.ts';
import { isSecretFileArg } from '../permissions/paths/secret-paths.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { getPathKind, resolveAllLinks } from './host-paths.ts';
import { isPlainFile } from './plain-files.ts';
import { listGitUserFiles } from './repositories/git-paths.ts';
import type { FolderScanTests, ScanFolders } from './scan-folders.ts';

/**
 * Lists what sandboxes show of the home folder: toolchains, package caches and configuration. The paths may be links;
 * what is secret among them is found by `findLoginFiles`.
 */
export function listHomePaths(environment: Pick<Environment, 'path' | 'variables'>, home: string): readonly string[] {
  const entries = listFolderNames(home);
  return [
    ...entries.filter((name) => OPEN_ENTRIES.has(name)).map((name) => join(home, name)),
    ...Object.entries(OPEN_FOLDERS).flatMap(([name, inner]) =>
      entries.includes(name) ? listPresent(join(home, name), inner) : [],
    ),
    ...listToolPaths(environment, home),
    ...listGitUserFiles(home).filter(isPlainFile),
  ];
}

/** Finds the files with logins in folders of toolchains, and the configuration of the home folder that holds one. */
export function findLoginFiles(home: string, folders: readonly string[], scanFolders: ScanFolders): readonly string[] {
  const plainFiles = PLAIN_FILES.map((name) => resolveAllLinks(join(home, name)));
  const secret = plainFiles.filter((path) => getPathKind(path) === 'file' && !isPlainFile(path));
  const logins = scanFolders(folders, LOGIN_TESTS).unreadablePaths;
  return [...secret, ...logins.filter((path) => !plainFiles.includes(path))];
}

function listPresent(folder: string, names: readonly string[]): readonly string[] {
  return names.map((name) => join(folder, name)).filter((path) => getPathKind(path) !== 'missing');
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

/**
 * Lists the folders of tools that PATH and the variables of version managers name. A program on PATH needs the folders
 * beside it, so the whole entry of the home folder is opened, or the entry of `.config`, `.cache` or `.local/share`.
 */
function listToolPaths({ path, variables }: Pick<Environment, 'path' | 'variables'>, home: string): readonly string[] {
  const named = TOOLCHAIN_VARIABLES.flatMap((name) => variables[name]?.split(':') ?? []).filter(isAbsolute);
  return [...path.filter(isAbsolute), ...named].flatMap((folder) => {
    const real = resolveAllLinks(folder);
    if (!isPathInside(real, home)) return named.includes(folder) ? [folder] : [];
    const names = real.slice(home.length + 1).split('/');
    // Folders without a dot hold projects, too: the search for programs on PATH looks at them.
    if (names[0]?.startsWith('.') === false) return named.includes(folder) ? listVariableFolders(real) : [];
    const isShared = names[0] === '.local' && (names[1] === 'share' || names[1] === 'state');
    const depth = isShared ? 3 : OPEN_FOLDERS[names[0] ?? ''] === undefined ? 1 : 2;
    return names.length < depth || names[0] === '' ? [] : [join(home, ...names.slice(0, depth))];
  });
}

/** Returns the toolchain that a folder belongs to, in the home folder of whoever installed it. */
export function findToolchain(folder: string): string | undefined {
  const names = folder.split('/');
  const index = names.findIndex((name) => name.startsWith('.') && OPEN_ENTRIES.has(name));
  return index < 1 ? undefined : names.slice(0, index + 1).join('/');
}

/** Lists the folders that a variable of a toolchain names: GOPATH may hold sources of projects beside them. */
function listVariableFolders(folder: string): readonly string[] {
  return getPathKind(join(folder, 'src')) === 'missing' || getPathKind(join(folder, 'VERSION')) !== 'missing'
    ? [folder]
    : listPresent(folder, ['bin', 'pkg', 'lib']);
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

/** Entries of the home folder that are shown: toolchains, package caches, configuration without secrets. */
const OPEN_ENTRIES = new Set(
  splitWords(`
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
    bin miniconda miniconda3 anaconda anaconda3 miniforge3 mambaforge micromamba perl5 homebrew linuxbrew flutter esp
    google-cloud-sdk n
  `),
);

/** Entries that are shown of folders that hold other things, too. */
const OPEN_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  go: ['bin', 'pkg'],
  Android: ['Sdk'],
  Library: splitWords(`
    pnpm Python Ruby Java Fonts Perl R Developer/Toolchains Android/sdk Caches/go-build Caches/pip Caches/uv Caches/deno
    Caches/pypoetry Caches/Yarn Caches/pnpm Caches/node-gyp Caches/Homebrew Caches/ms-playwright Caches/typescript
    Caches/Cypress Caches/electron Caches/bazelisk Caches/mypy Caches/golangci-lint Caches/CocoaPods
  `),
  '.config': splitWords(`
    git go mise fontconfig nix nixpkgs uv ruff black yapf pycodestyle flake8 pylintrc rustfmt clangd yamllint stylua
    stylelint prettier ripgrep fd bat pip/pip.conf pnpm/rc npm/npmrc matplotlib pypoetry/config.toml
    containers/registries.conf containers/policy.json containers/storage.conf
  `),
  '.local': splitWords(`
    bin lib lib64 include opt pipx man go state/nix share/man share/bash-completion share/mise share/rtx share/uv
    share/pnpm share/fnm share/virtualenv share/virtualenvs share/pipx share/gem share/cargo share/rustup share/go
    share/fonts share/mime share/locale share/icons share/nix share/ghcup share/coursier share/NuGet share/hatch
    share/pdm share/pypoetry share/swiftly share/aquaproj-aqua share/julia share/racket share/nvm
  `),
  '.cache': splitWords(`
    pip uv go-build go-mod yarn pnpm npm bun deno node node-gyp typescript bazel bazelisk ccache sccache clangd pre-commit
    ms-playwright ms-playwright-go puppeteer Cypress electron electron-builder pypoetry pdm hatch pipx pipenv virtualenv
    mypy ruff black huggingface torch nltk fontconfig mesa_shader_cache composer nix coursier gopls golangci-lint
    staticcheck goimports helm cabal stack hie-bios zig trivy turbo vite matplotlib rosetta
  `),
};
