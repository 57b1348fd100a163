import { awkReading } from './grammars.ts';
import { each, type Program, type Programs } from './program.ts';

const CODE: Program = { code: {}, texts: 'calls' };
/** Languages in which a file name needs no quotes. */
const BARE: Program = { code: { hasBareNames: true }, texts: 'calls' };
const AWK: Program = {
  texts: 'calls',
  inPlace: /^inplace$/,
  code: { readsData: true, startsBy: /\bsystem\s*\(|\||\bgetline\b/ },
};
const VERSION = /^(?:--version|-V)$/;

/** Programs that run code of a language other than that of the shell. */
export const INTERPRETERS: Programs = {
  ...each('python python2 pypy ipython bpython jython micropython circuitpython graalpy cython hy xonsh sage', CODE),
  python3: { ...CODE, version: VERSION },
  node: { ...CODE, version: /^(?:--version|-v|-V)$/ },
  ...each('nodejs iojs tsx ts-node esno jiti babel-node qjs qjsc d8 jsc rhino gjs cjs phantomjs osascript', CODE),
  deno: { ...CODE, globalOptions: [] },
  bun: { ...CODE, globalOptions: ['--cwd', '--config', '-c'], runsAfter: ['exec', '--'] },
  ...each('perl ruby', { ...CODE, inPlace: /^-[a-zA-Z]*i|^--in-place/ }),
  ...each('raku rakudo perl6', BARE),
  ...each('jruby truffleruby rbx mruby irb pry crystal php php-cgi hhvm phpdbg psysh', CODE),
  ...each('lua luajit luau texlua fennel moon tarantool', CODE),
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
  ...each('java scala swift lein rails', { ...CODE, suggest: 'exact' }),
  swift: { ...CODE, suggest: 2 },
  ...each('swipl gprolog yap prolog gforth pforth factor nim gst squeak rebol rexx regina wren neko', CODE),
  ...each('nu elvish m4 gnuplot tcc cling gdb lldb radare2 rizin', BARE),
  ...each('sqlite3 sqlite duckdb psql mysql mariadb isql sqlplus mongosh mongo redis-cli', BARE),
  ...each('mawk nawk original-awk goawk frawk', AWK),
  gawk: { ...AWK, reads: 'after-pattern' },
  awk: { ...AWK, reads: 'after-pattern', grammar: awkReading },
  ...each('tex latex pdftex pdflatex xetex xelatex luatex lualatex asy povray gs', { ...BARE, suggest: 'exact' }),
};
