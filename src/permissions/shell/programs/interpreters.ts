import { splitWords } from '../../../lib/text/lines.ts';
import { findPerlEditedFileIndexes } from './perl-edits.ts';
import { defineProgramFacts, type ProgramFacts, type ProgramFactsByName } from './program-facts.ts';
import {
  analyzeAwkCommand,
  analyzeNodeCommand,
  createSyntaxCheckAnalyzer,
  listShadowingModules,
} from './read-only-grammars.ts';

const INTERPRETER: ProgramFacts = { interpreter: {}, inlineScripts: 'calls' };
const NODE_INTERPRETER: ProgramFacts = {
  ...INTERPRETER,
  interpreter: {
    codeOptions:
      /^(?:-\w*[cepr]|-[ep].+|--?(?:eval|print|require|import|loader|experimental-loader)(?:=.*)?|eval|data:.*)$/s,
  },
};
/** Languages in which a file name needs no quotes. */
const UNQUOTED_INTERPRETER: ProgramFacts = { interpreter: { hasUnquotedPaths: true }, inlineScripts: 'calls' };
const IN_PLACE_INTERPRETER: ProgramFacts = {
  ...INTERPRETER,
  versionArg: /^-v$/,
  inPlaceOption: /^-[a-zA-Z]*i|^--in-place/,
};
/** Code that starts a program, or reads or writes another file. */
const AWK_SIDE_EFFECT =
  /\bsystem[\s\\]*\(|\||\bgetline\b|\bARGV\b|@|\bprintf?\b(?:(?!\bprintf?\b)[^;}])*>|^-[EfilW]|^--(?:exec|file|include|load)/;
const AWK_INTERPRETER: ProgramFacts = {
  inlineScripts: 'calls',
  inPlaceOption: /^inplace$/,
  interpreter: { inputIsData: true, isHarmless: (args) => !args.some((word) => AWK_SIDE_EFFECT.test(word)) },
};
const VERSION_ARG = /^(?:--version|-V)$/;

/** Programs that run code of languages other than the shell's. */
export const createInterpreters = (): ProgramFactsByName => ({
  ...defineProgramFacts('python python3', {
    ...INTERPRETER,
    versionArg: VERSION_ARG,
    analyzeArgs: createSyntaxCheckAnalyzer(/^-m py_compile$/, listShadowingModules),
  }),
  ...defineProgramFacts(
    'python2 pypy ipython bpython jython micropython circuitpython graalpy cython hy xonsh sage',
    INTERPRETER,
  ),
  node: { ...NODE_INTERPRETER, versionArg: /^(?:--version|-v|-V)$/, analyzeArgs: analyzeNodeCommand },
  ...defineProgramFacts('qjs qjsc d8 jsc rhino gjs cjs phantomjs osascript', INTERPRETER),
  ...defineProgramFacts('nodejs iojs tsx ts-node esno jiti babel-node', NODE_INTERPRETER),
  deno: { ...NODE_INTERPRETER, globalOptions: [] },
  bun: {
    ...NODE_INTERPRETER,
    implicitReads: ['.env'],
    globalOptions: ['--cwd', '--config', '-c'],
    commandMarkers: ['exec', '--'],
  },
  // `perl -c` runs the BEGIN blocks of the script.
  perl: { ...IN_PLACE_INTERPRETER, parseEdits: findPerlEditedFileIndexes },
  ruby: { ...IN_PLACE_INTERPRETER, analyzeArgs: createSyntaxCheckAnalyzer(/^-w?c$/) },
  ...defineProgramFacts('raku rakudo perl6', UNQUOTED_INTERPRETER),
  php: {
    ...INTERPRETER,
    versionArg: /^(?:-[vm]|--version|--modules)$/,
    analyzeArgs: createSyntaxCheckAnalyzer(/^(?:-l|--syntax-check)$/),
  },
  ...defineProgramFacts('jruby truffleruby rbx mruby irb pry crystal php-cgi hhvm phpdbg psysh', INTERPRETER),
  lua: { ...INTERPRETER, versionArg: /^-v$/ },
  ...defineProgramFacts('luajit luau texlua fennel moon tarantool', INTERPRETER),
  ...defineProgramFacts(
    'R Rscript littler octave octave-cli julia matlab maxima gap magma scilab scilab-cli wolfram wolframscript',
    INTERPRETER,
  ),
  ...defineProgramFacts(
    'guile racket gracket scheme mit-scheme chez chezscheme petite csi chicken gosh gsi gambit kawa bigloo',
    INTERPRETER,
  ),
  ...defineProgramFacts(
    'sbcl clisp ecl ccl abcl alisp lisp emacsclient clj clojure bb babashka janet newlisp picolisp',
    INTERPRETER,
  ),
  emacs: { ...INTERPRETER, writes: 'operands' },
  ...defineProgramFacts('tclsh wish jimsh', UNQUOTED_INTERPRETER),
  expect: { interpreter: { hasUnquotedPaths: true }, runsShellCommands: true },
  ...defineProgramFacts('elixir iex erl escript ghc ghci runghc runhaskell ocaml utop ocamlscript sml', INTERPRETER),
  ...defineProgramFacts(
    'jshell groovy groovysh scala-cli kotlin amm bsh csharp fsi fsharpi dotnet-script',
    INTERPRETER,
  ),
  java: { ...INTERPRETER, suggest: 'exact', versionArg: /^--?version$/ },
  ...defineProgramFacts('scala swift lein rails', { ...INTERPRETER, suggest: 'exact' }),
  swift: {
    ...INTERPRETER,
    suggest: 2,
    exactSubcommands: ['run', 'package'],
    riskyOptions: splitWords(
      '-Xswiftc -Xlinker -Xcc -Xcxx --package-path --build-path --scratch-path --toolchain --sdk --destination',
    ),
  },
  ...defineProgramFacts(
    'swipl gprolog yap prolog gforth pforth factor nim gst squeak rebol rexx regina wren neko',
    INTERPRETER,
  ),
  lldb: {
    ...UNQUOTED_INTERPRETER,
    interpreter: { hasUnquotedPaths: true, codeOptions: /^(?:-[oOkKsS]|--(?:one-line|source).*)$/ },
  },
  ...defineProgramFacts('nu elvish m4 gnuplot tcc cling gdb radare2 rizin', UNQUOTED_INTERPRETER),
  // Their own commands start with a dot, and SQL can read files.
  ...defineProgramFacts('sqlite3 sqlite duckdb', {
    ...UNQUOTED_INTERPRETER,
    interpreter: { hasUnquotedPaths: true, codeOptions: /^\.|[\s(]|^-(?:cmd|init|c|s)$/ },
  }),
  ...defineProgramFacts('psql mysql mariadb isql sqlplus mongosh mongo redis-cli', UNQUOTED_INTERPRETER),
  ...defineProgramFacts('mawk nawk original-awk goawk frawk', AWK_INTERPRETER),
  gawk: { ...AWK_INTERPRETER, reads: 'after-pattern' },
  awk: { ...AWK_INTERPRETER, reads: 'after-pattern', analyzeArgs: analyzeAwkCommand },
  ...defineProgramFacts('tex latex pdftex pdflatex xetex xelatex luatex lualatex asy povray gs', {
    ...UNQUOTED_INTERPRETER,
    suggest: 'exact',
  }),
});
