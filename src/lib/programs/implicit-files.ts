import { existsSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { listFolderNames, readTextOrEmpty } from '../files/read-or-default.ts';
import { splitWords } from '../text/lines.ts';

/** Files that a folder is started by: `node ./server`, `python3 tool`. */
const MAIN_FILES = ['package.json', 'index.js', 'index.cjs', 'index.mjs', 'index.ts', '__main__.py', '__init__.py'];

/** Lists the files that a folder is started by. */
export function listMainFiles(folder: string): readonly string[] {
  const main = /"main"\s*:\s*"([^"]+)"/.exec(readTextOrEmpty(join(folder, 'package.json')))?.[1];
  return [...MAIN_FILES, ...(main === undefined ? [] : listWithEndings(main))].map((name) => join(folder, name));
}

/** Lists the names that Node tries for a module. */
const listWithEndings = (name: string) => [name, ...['.js', '.cjs', '.mjs', '.ts'].map((ending) => `${name}${ending}`)];

/** Returns whether names contain a program that runs files of a language. */
export const hasInterpreter = (names: readonly string[]) =>
  names.some((name) => /^(?:node|nodejs|bun|deno|tsx|ts-node|(?:python|pypy)[\d.]*)$/.test(basename(name)));

/** Files that programs read what to run from, without being told. Several look in the folders above, too. */
const IMPLICIT_FILES: readonly (readonly [programs: RegExp, files: readonly string[]])[] = [
  [
    /^(?:npm|npx|yarn|pnpm|pnpx|bun|bunx)$/,
    splitWords('package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml bunfig.toml'),
  ],
  [/^deno$/, ['deno.json', 'deno.jsonc']],
  [/^b?g?make$/, ['GNUmakefile', 'BSDmakefile', 'makefile', 'Makefile']],
  [/^just$/, ['justfile', 'Justfile', 'JUSTFILE', '.justfile']],
  [
    /^(?:go-)?task$/,
    splitWords(`
      Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml
      Taskfile.dist.yml Taskfile.dist.yaml taskfile.dist.yml taskfile.dist.yaml
    `),
  ],
  [/^(?:drake|rake)$/, ['Rakefile', 'rakefile', 'Rakefile.rb', 'rakefile.rb']],
  [/^(?:uv|poetry|pdm|hatch|rye|pixi)$/, ['pyproject.toml', 'uv.toml', 'pixi.toml', '.venv/pyvenv.cfg']],
  [/^pipenv$/, ['Pipfile']],
  [/^composer$/, ['composer.json']],
  [
    /^(?:docker-compose|podman-compose|compose)$/,
    splitWords(`
      compose.yml compose.yaml compose.override.yml compose.override.yaml
      docker-compose.yml docker-compose.yaml docker-compose.override.yml docker-compose.override.yaml
    `),
  ],
  [
    /^(?:mise|rtx|asdf)$/,
    ['mise.toml', '.mise.toml', '.config/mise.toml', '.config/mise/config.toml', '.tool-versions'],
  ],
  [/^direnv$/, ['.envrc']],
  [/^lefthook$/, ['lefthook.yml', 'lefthook.yaml', '.lefthook.yml', 'lefthook.toml']],
  [/^pre-commit$/, ['.pre-commit-config.yaml']],
  [/^(?:hg|chg)$/, ['.hg/hgrc', '.hg/hgrc-not-shared']],
  [/^jj$/, ['.jj/repo/config.toml', '.jj/workspace-config.toml']],
];

/** Lists the files that programs take without naming: modules, scripts of package managers, and their programs. */
export function listImplicitFiles(names: readonly string[], folder: string): readonly string[] {
  const programs = names.map((name) => basename(name));
  const files = [
    ...IMPLICIT_FILES.filter(([pattern]) => programs.some((name) => pattern.test(name))).flatMap(
      ([, listed]) => listed,
    ),
    // Node by itself reads the manifest only to run a script of it.
    ...(names.includes('--run') ? ['package.json'] : []),
  ];
  const hasRunner = programs.some((name) => /^(?:npm|npx|yarn|pnpm|pnpx|bun|bunx)$/.test(name));
  const hasPython = programs.some((name) => /^(?:python|pypy)[\d.]*$/.test(name));
  const plain = names.filter((name) => /^[\w@.-]+$/.test(name));
  return [
    ...listFoldersAbove(folder).flatMap((above) => files.map((name) => join(above, name))),
    ...[
      ...(hasRunner ? plain.map((name) => `node_modules/.bin/${name}`) : []),
      ...(hasRunner ? names.filter((name) => name.startsWith('@')).map(getInstalledManifest) : []),
      ...(hasPython ? plain.flatMap(listModuleFiles) : []),
      ...(hasInterpreter(names)
        ? names.filter((name) => !name.startsWith('/') && extname(name) === '').flatMap(listWithEndings)
        : []),
      ...(programs.some((name) => /^(?:perl|ruby)[\d.]*$/.test(name))
        ? names.map((name) => name.replaceAll('::', '/')).flatMap((name) => [`${name}.pm`, `${name}.rb`])
        : []),
    ].map((name) => join(folder, name)),
    ...(names.some((name) => PRELOAD_OPTION.test(name))
      ? names.flatMap((name) => listPackageFiles(join(folder, 'node_modules', name.replace(PRELOAD_OPTION, ''))))
      : []),
  ];
}

/** An option of Node, or of a program that is one, with which it loads a module by its name first. */
const PRELOAD_OPTION = /^(?:-r|--?(?:require|import|loader|experimental-loader|preload))(?:=|$)/;

/** Lists the files that a module of a package, such as `dotenv/config`, is loaded from. */
const listPackageFiles = (path: string): readonly string[] =>
  /\/node_modules\/?$/.test(path) ? [] : [...listWithEndings(path), ...listMainFiles(path)];

/** Lists a folder and all folders above it. */
export const listFoldersAbove = (folder: string): readonly string[] =>
  folder === dirname(folder) ? [folder] : [folder, ...listFoldersAbove(dirname(folder))];

/** Programs that load code or configuration of the folder they are in, whatever their arguments are. */
const LOADER = new RegExp(
  `^(?:${splitWords(`
    tsx ts-node ts-node-esm ts-node-dev vite-node esno jiti lua[\\d.]* luajit R Rscript ghci runghc stack cabal mix iex
    elixir jupyter[\\w-]* ipython3? cargo[\\w-]* rustc rustup rust-analyzer rustfmt dotnet msbuild gradlew? mvnw? ant sbt mill
    lein clj clojure bb pytest py\\.test mypy pylint tox nox invoke inv fab doit sphinx-build flask uvicorn gunicorn
    celery streamlit alembic scrapy scons waf meson cmake ctest ninja bazel bazelisk buck2? pants xmake ruby bundler?
    rspec rubocop rails irb jekyll cucumber guard cap vagrant pod fastlane nix nix-shell nix-build devbox devenv
    ansible[\\w-]* terragrunt pulumi wp phpunit pest phpstan psalm artisan swift zig dart flutter earthly dagger mage gdb
    lldb overcommit act tig lazygit nu dune opam nimble nim crystal shards julia
  `).join('|')})$`,
);

/** Programs that load code if the folder configures them. Package runners download them if it does not have them. */
const CONFIGURED =
  /^(?:eslint|prettier|stylelint|jest|vitest|vite|webpack|rollup|parcel|mocha|ava|tap|gulp|grunt|next|nuxt|astro|playwright|cypress|babel|tailwindcss|postcss|commitlint|lint-staged|turbo|nx|lerna|nodemon|wrangler|serverless|storybook|rspack|esbuild|tsup|semantic-release|markdownlint(?:-cli2?)?|cspell|knip|svelte-kit|ember|ng|expo|husky|sqlfluff|yamllint|remark|terraform|tofu)$/;

/**
 * Returns whether a program among words loads code or configuration that nothing names: of the folder it starts in, or
 * of one above.
 */
export function loadsFilesOf([folder = '/', ...above]: readonly string[], words: readonly string[]): boolean {
  const programs = words.map((word) => basename(word));
  const has = (pattern: RegExp) => programs.some((name) => pattern.test(name));
  return (
    has(LOADER) ||
    // A package with a version is built without the module of the folder.
    (has(/^go$/) && !words.some((word) => /^[\w.-]+\.\w+\/\S+@/.test(word))) ||
    (has(/^(?:python|pypy)[\d.]*$/) && importsFromFolder(words) && hasModules(folder)) ||
    programs.some((name) => CONFIGURED.test(name) && [folder, ...above].some((one) => isConfigured(name, one)))
  );
}

/** Returns whether Python looks for modules in the working folder first: with code or a module in place of a script. */
const importsFromFolder = (words: readonly string[]) =>
  words.some((word) => /^-[a-zA-Z]*[mc]/.test(word)) && !words.some((word) => /^-[a-zA-Z]*[IP]/.test(word));

const hasModules = (folder: string) =>
  listFolderNames(folder).some(
    (name) => /\.(?:pyc?|pyd|so)$/.test(name) || existsSync(join(folder, name, '__init__.py')),
  );

const isConfigured = (program: string, folder: string) =>
  listFolderNames(folder).some((name) => name.toLowerCase().replace(/^\./, '').startsWith(program.slice(0, 5))) ||
  readTextOrEmpty(join(folder, 'package.json')).includes(`"${program}`);

/** Returns the manifest of a package such as `@scope/name@1`, if the project has it installed: its program runs then. */
function getInstalledManifest(name: string): string {
  const version = name.indexOf('@', Math.max(1, name.lastIndexOf('/') + 1));
  return `node_modules/${version === -1 ? name : name.slice(0, version)}/package.json`;
}

/** Lists the files of a Python module and of the packages it is in. */
function listModuleFiles(name: string): readonly string[] {
  const parts = name.split('.');
  return parts
    .map((_, index) => parts.slice(0, index + 1).join('/'))
    .flatMap((path) => [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`]);
}
