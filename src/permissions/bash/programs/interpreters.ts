import { awkReading, nodeReading } from './grammars.ts';
import { each, type Program, type Programs } from './program.ts';

const CODE: Program = { code: {}, texts: 'calls' };
const NODE: Program = {
  ...CODE,
  code: {
    options:
      /^(?:-\w*[cepr]|-[ep].+|--?(?:eval|print|require|import|loader|experimental-loader)(?:=.*)?|eval|data:.*)$/s,
  },
};
/** Languages in which a file name needs no quotes. */
const BARE: Program = { code: { hasBareNames: true }, texts: 'calls' };
/** Starts a program, reads another file, or writes one. */
const AWK_STARTS =
  /\bsystem[\s\\]*\(|\||\bgetline\b|\bARGV\b|@|\bprintf?\b[^;}]*>|^-[EfilW]|^--(?:exec|file|include|load)/;
const AWK: Program = {
  texts: 'calls',
  inPlace: /^inplace$/,
  code: { readsData: true, isPlain: (args) => !args.some((word) => AWK_STARTS.test(word)) },
};
const VERSION = /^(?:--version|-V)$/;

/** Programs that run code of a language other than that of the shell. */
export const INTERPRETERS: Programs = {
  python: { ...CODE, version: VERSION },
  ...each('python2 pypy ipython bpython jython micropython circuitpython graalpy cython hy xonsh sage', CODE),
  python3: { ...CODE, version: VERSION },
  node: { ...NODE, version: /^(?:--version|-v|-V)$/, grammar: nodeReading },
  ...each('qjs qjsc d8 jsc rhino gjs cjs phantomjs osascript', CODE),
  ...each('nodejs iojs tsx ts-node esno jiti babel-node', NODE),
  deno: { ...NODE, globalOptions: [] },
  bun: { ...NODE, readsBesides: ['.env'], globalOptions: ['--cwd', '--config', '-c'], runsAfter: ['exec', '--'] },
  ...each('perl ruby', { ...CODE, version: /^-v$/, inPlace: /^-[a-zA-Z]*i|^--in-place/ }),
  ...each('raku rakudo perl6', BARE),
  php: { ...CODE, version: /^(?:-[vm]|--version|--modules)$/ },
  ...each('jruby truffleruby rbx mruby irb pry crystal php-cgi hhvm phpdbg psysh', CODE),
  lua: { ...CODE, version: /^-v$/ },
  ...each('luajit luau texlua fennel moon tarantool', CODE),
  ...each(
    'R Rscript littler octave octave-cli julia matlab maxima gap magma scilab scilab-cli wolfram wolframscript',
    CODE,
  ),
  ...each(
    'guile racket gracket scheme mit-scheme chez chezscheme petite csi chicken gosh gsi gambit kawa bigloo',
    CODE,
  ),
  ...each('sbcl clisp ecl ccl abcl alisp lisp emacsclient clj clojure bb babashka janet newlisp picolisp', CODE),
  emacs: { ...CODE, writes: 'operands' },
  ...each('tclsh wish jimsh', BARE),
  expect: { code: { hasBareNames: true }, runsText: true },
  ...each('elixir iex erl escript ghc ghci runghc runhaskell ocaml utop ocamlscript sml', CODE),
  ...each('jshell groovy groovysh scala-cli kotlin amm bsh csharp fsi fsharpi dotnet-script', CODE),
  java: { ...CODE, suggest: 'exact', version: /^--?version$/ },
  ...each('scala swift lein rails', { ...CODE, suggest: 'exact' }),
  swift: {
    ...CODE,
    suggest: 2,
    exactly: ['run', 'package'],
    guards: [
      '-Xswiftc',
      '-Xlinker',
      '-Xcc',
      '-Xcxx',
      '--package-path',
      '--build-path',
      '--scratch-path',
      '--toolchain',
      '--sdk',
      '--destination',
    ],
  },
  ...each('swipl gprolog yap prolog gforth pforth factor nim gst squeak rebol rexx regina wren neko', CODE),
  lldb: { ...BARE, code: { hasBareNames: true, options: /^(?:-[oOkKsS]|--(?:one-line|source).*)$/ } },
  ...each('nu elvish m4 gnuplot tcc cling gdb radare2 rizin', BARE),
  // Commands of its own begin with a point, and SQL can read files.
  ...each('sqlite3 sqlite duckdb', { ...BARE, code: { hasBareNames: true, options: /^\.|[\s(]|^-(?:cmd|init|c|s)$/ } }),
  ...each('psql mysql mariadb isql sqlplus mongosh mongo redis-cli', BARE),
  ...each('mawk nawk original-awk goawk frawk', AWK),
  gawk: { ...AWK, reads: 'after-pattern' },
  awk: { ...AWK, reads: 'after-pattern', grammar: awkReading },
  ...each('tex latex pdftex pdflatex xetex xelatex luatex lualatex asy povray gs', { ...BARE, suggest: 'exact' }),
};
