import path from 'node:path';
import type { ParseError } from 'jsonc-parser';
import { getLineNumber } from '../../lib/text/lines.ts';

/** The first syntax error of a text. */
export type SyntaxProblem = { readonly line: number; readonly message: string };

/** Length above which a text is not parsed. */
const MAX_CHARS = 1_000_000;

type Check = (text: string, file: string) => Promise<SyntaxProblem | undefined>;

const CHECKS: Readonly<Record<string, Check>> = {
  '.json': checkJson,
  '.jsonc': checkJson,
  '.yaml': checkYaml,
  '.yml': checkYaml,
  '.js': checkScript,
  '.mjs': checkScript,
  '.cjs': checkScript,
  '.jsx': checkScript,
  '.ts': checkScript,
  '.mts': checkScript,
  '.cts': checkScript,
  '.tsx': checkScript,
};

/** Describes a syntax error that a change has introduced, with the parsers at hand; an old one is not repeated. */
export async function describeNewSyntaxError(file: string, before: string | undefined, after: string): Promise<string> {
  const check = CHECKS[path.extname(file).toLowerCase()];
  if (check === undefined || after.length > MAX_CHARS) return '';
  const problem = await check(after, file);
  if (problem === undefined) return '';
  if (before !== undefined && (await check(before, file)) !== undefined) return '';
  return ` It now has a syntax error in line ${problem.line}: ${problem.message}.`;
}

async function checkJson(text: string, file: string): Promise<SyntaxProblem | undefined> {
  if (text.trim() === '') return undefined;
  // Parsers are loaded with the first file of their kind, not at startup.
  const { parse, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  const isRelaxed = /\.jsonc$|(?:^|\/)[jt]sconfig[^/]*\.json$|\/\.vscode\//.test(file);
  parse(text, errors, { disallowComments: !isRelaxed, allowTrailingComma: isRelaxed });
  const [first] = errors;
  if (first === undefined) return undefined;
  const words = printParseErrorCode(first.error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return { line: getLineNumber(text, first.offset), message: words.toLowerCase() };
}

async function checkYaml(text: string): Promise<SyntaxProblem | undefined> {
  const { LineCounter, parseAllDocuments } = await import('yaml');
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, logLevel: 'silent' });
  const [first] = Array.isArray(documents) ? documents.flatMap(({ errors }) => errors) : [];
  if (first === undefined) return undefined;
  return { line: lineCounter.linePos(first.pos[0]).line, message: trimMessage(first.message) };
}

/** Parses JavaScript and TypeScript with the transpiler of the runtime; other runtimes have none. */
async function checkScript(text: string, file: string): Promise<SyntaxProblem | undefined> {
  const runtime: unknown = Reflect.get(globalThis, 'Bun');
  if (typeof runtime !== 'object' || runtime === null || !('Transpiler' in runtime)) return undefined;
  if (typeof runtime.Transpiler !== 'function') return undefined;
  const loader = /\.[cm]?ts$/i.test(file) ? 'ts' : /\.tsx$/i.test(file) ? 'tsx' : 'jsx';
  try {
    const transpiler: { transformSync: (code: string) => string } = Reflect.construct(runtime.Transpiler, [{ loader }]);
    transpiler.transformSync(text);
    return undefined;
  } catch (thrown) {
    return findParseError(thrown);
  }
}

function findParseError(thrown: unknown): SyntaxProblem | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  if ('errors' in thrown && Array.isArray(thrown.errors)) return findParseError(thrown.errors[0]);
  if (!('position' in thrown) || !('message' in thrown) || typeof thrown.message !== 'string') return undefined;
  const { position, message } = thrown;
  if (typeof position !== 'object' || position === null || !('line' in position)) return undefined;
  return typeof position.line === 'number' ? { line: position.line, message: trimMessage(message) } : undefined;
}

function trimMessage(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/[.:]$/, '');
}
