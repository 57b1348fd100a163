import type { Sources } from './sources.ts';
import { isNode, nodesOf, treeOf } from './syntax.ts';
import type { Rule } from './violations.ts';

/** The share of exported functions whose name begins with a verb. */
const LEAST_VERB_SHARE = 0.95;
/** The share of doc comments that may begin with a question word. */
const MOST_QUESTION_SHARE = 0.03;
/** Below this number of names or comments a share says nothing. */
const LEAST_SAMPLE = 50;

const QUESTION_WORD = /^(?:What|Who|Where|Why|Whoever|Whatever|Whether|Whichever|Whose)\b/;

/** Words that no name in a test contains, and no exported name of a source: they say nothing precise about a program. */
const STOP_WORDS =
  'hear hears heard hearing tell tells told telling ears wish wishes bring brings nobody somebody whoever ours plays ways behind'.split(
    ' ',
  );
/** Words that a local name may contain. */
const EXPORTED_STOP_WORDS = [...STOP_WORDS, 'own', 'owns'];

/** Verbs that exported functions begin with. A new verb is added here; a noun is renamed instead. */
const VERBS = new Set(
  `abandon accept accepts acknowledge acquire adapt add admit advance allow analyze announce answer append apply
  arm ask assemble assign attach await batch begin bind block build cache call can cancel cap capture change
  changes check choose claim clamp classify clean clear clone close closes coalesce collect commit compact compare
  compile complete compute configure confirm connect consult contains continue convert copy count covers create
  cycle debounce decide decode define delete deny derive describe detect diff digest disable disconnect discover
  dismiss dispatch display download drive drop edit elicit emit enable encode end ends enforce enqueue ensure enter
  erase escape estimate exclude execute exit expand explain export extend extract fail fetch fill filter find
  fingerprint finish fire fit flush fold follows fork format freeze generate get group guard handle harden has hash
  highlight hold ignore import include inherit initialize insert inspect install interrupt invalidate invoke is
  iterate join judge keep kill layout link lint list load locate lock log login logout lower map mark match matches
  may measure memoize merge migrate move mute narrow needs normalize note notify observe offer open order override
  pad paint pair parse paste pause perform persist pick ping plan post prefetch prepare preview print probe promote
  propagate propose protect prune publish pull push put query queue quote rank read reap rebuild recall receive
  reclaim recognize reconnect record recover redact redo reduce refresh refuse register reject relay release reload
  remind remove rename render renew repair replace replay report request require reserve reset resolve respond
  restart restore restrict resume retry reuse reveal revert revoke rewrite rotate route run runs sample sanitize
  save scale scan schedule scroll search seek select send serialize serve set settle shift shorten should show
  shrink sign skip sleep slice sort spawn spend splice split squash start starts stash stop store stream stringify
  strip submit subscribe substitute subtract suggest sum summarize supports swap switch sync tail take test throw
  to tokenize touch track transform traverse trim truncate trust type undo uninstall unlock unsubscribe unwrap
  update upgrade upload use validate verify visit wait walk warn watch with withdraw withhold wrap write yield`.split(
    /\s+/,
  ),
);

/** The rules for names and comments. The shares hold for the tree as a whole. */
export const WORDING_RULES: Readonly<Record<string, Rule>> = {
  'exported functions begin with a verb': (sources) => {
    const functions = Object.entries(sources).flatMap(([path, text]) => exportedFunctions(path, text));
    const nouns = functions.filter(({ name }) => !VERBS.has(firstWord(name)));
    return functions.length >= LEAST_SAMPLE && nouns.length > functions.length * (1 - LEAST_VERB_SHARE)
      ? [`exported functions without a verb: ${nouns.map(({ path, name }) => `${path} ${name}`).join(', ')}`]
      : [];
  },
  'exported names have no word of the stop list': (sources) =>
    Object.entries(sources).flatMap(([path, text]) =>
      stopWordViolations(path, listExports(path, text).flatMap(exportedNames), EXPORTED_STOP_WORDS),
    ),
  'doc comments begin with no question word': (sources) => {
    const comments = Object.values(sources).flatMap((text) => docComments(text));
    const questions = comments.filter((comment) => QUESTION_WORD.test(comment));
    return comments.length >= LEAST_SAMPLE && questions.length > comments.length * MOST_QUESTION_SHARE
      ? [`comments that begin with a question word: ${questions.join(' | ')}`]
      : [];
  },
};

/** Reports names with a word of the stop list that a test or its support declares: constants, functions, parameters. */
export function testNameViolations(sources: Sources): readonly string[] {
  return Object.entries(sources).flatMap(([path, text]) =>
    stopWordViolations(path, [...new Set(declaredNames(path, text))], STOP_WORDS),
  );
}

function stopWordViolations(path: string, names: readonly string[], stopWords: readonly string[]): readonly string[] {
  return names
    .filter((name) => splitName(name).some((word) => stopWords.includes(word)))
    .map((name) => `${path}: the name ${name} has a word of the stop list`);
}

/** Returns each name that a source declares, at any depth. */
function declaredNames(path: string, text: string): readonly string[] {
  return nodesOf(path, text).flatMap(({ type, id, params, properties, elements }) => {
    const isPattern = type === 'ObjectPattern' || type === 'ArrayPattern';
    const bound = [id, ...listOf(params), ...(isPattern ? [...listOf(properties), ...listOf(elements)] : [])];
    return bound.flatMap((one) => {
      const name = isNode(one) && one.type === 'Property' ? one.value : one;
      return isNode(name) && name.type === 'Identifier' && typeof name.name === 'string' ? [name.name] : [];
    });
  });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function firstWord(name: string): string {
  return /^[a-z]+/.exec(name)?.[0] ?? name;
}

type ExportedFunction = { readonly path: string; readonly name: string };

function exportedFunctions(path: string, text: string): readonly ExportedFunction[] {
  return listExports(path, text)
    .flatMap(functionNames)
    .map((name) => ({ path, name }));
}

type Declaration = Readonly<Record<string, unknown>>;

function listExports(path: string, text: string): readonly Declaration[] {
  const tree = treeOf(path, text);
  const body = isNode(tree) && Array.isArray(tree.body) ? tree.body : [];
  return body.flatMap((statement: unknown) => {
    const declaration = isNode(statement) && statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
    return isNode(declaration) ? [declaration] : [];
  });
}

function exportedNames(declaration: Declaration): readonly string[] {
  const declared = Array.isArray(declaration.declarations) ? declaration.declarations : [declaration];
  return declared.flatMap((one) => (isNode(one.id) && typeof one.id.name === 'string' ? [one.id.name] : []));
}

function splitName(name: string): readonly string[] {
  return name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((word) => word.toLowerCase());
}

/** Returns the names of declared functions and of constants that hold one; components are named by nouns. */
function functionNames(declaration: Declaration): readonly string[] {
  const declared = Array.isArray(declaration.declarations)
    ? declaration.declarations.filter((one) => isNode(one) && isNode(one.init) && /Function/.test(one.init.type))
    : [declaration].filter((one) => one.type === 'FunctionDeclaration');
  return declared.flatMap((one) =>
    isNode(one.id) && typeof one.id.name === 'string' && /^[a-z]/.test(one.id.name) ? [one.id.name] : [],
  );
}

function docComments(text: string): readonly string[] {
  return [...text.matchAll(/\/\*\*\s*(?:\*\s*)?([^\n]*)/g)].map(([, first = '']) => first);
}
