import { z } from 'zod';
import { type Tool, ToolFailure } from '../contracts/tool.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { formatCount } from '../lib/text/format.ts';
import { buildTool } from './build-tool.ts';
import { type BuiltInTraits, defineToolTraits, FILE_SYNONYMS } from './input/call-forms.ts';
import { resolveToolPath } from './tool-arguments.ts';
import { createPathFacts } from './tool-facts.ts';

const OPERATIONS = [
  'goToDefinition',
  'goToImplementation',
  'findReferences',
  'hover',
  'documentSymbol',
  'workspaceSymbol',
  'prepareCallHierarchy',
  'incomingCalls',
  'outgoingCalls',
] as const;

const PROMPT = `Asks the language server of a file about code: where a name is defined, implemented, used or called, what its type and documentation are (\`hover\`), and which symbols a file (\`documentSymbol\`) or the project (\`workspaceSymbol\`, with \`query\`) has. More exact than a search by text. Places are given as file:line:column. New problems after your edits are told by themselves; this need not be called for them.`;

const input = z.strictObject({
  operation: z.enum(OPERATIONS).describe('What to ask'),
  file_path: z.string().min(1).describe('A file of the language; for most operations the one with the name in it'),
  line: z.int().positive().default(1).describe('Line of the name, from 1'),
  character: z.int().positive().default(1).describe('Column of the name, from 1'),
  query: z.string().default('').describe('For workspaceSymbol: the name, or part of it'),
});

type LspQuery = {
  readonly operation: (typeof OPERATIONS)[number];
  readonly path: string;
  readonly line: number;
  readonly character: number;
  readonly query: string;
};

/** Tool traits of LSP. */
export const lspTraits: BuiltInTraits = defineToolTraits({
  name: 'LSP',
  facts: createPathFacts('read', 'file_path'),
  mainInput: 'file_path',
  result: 'repeatable',
  forms: {
    example: 'LSP{operation:"findReferences", file_path:"src/a.ts", line:12, character:7}',
    names: ['language_server', 'lsp_query'],
    synonyms: {
      operation: ['action', 'command', 'method', 'request'],
      file_path: FILE_SYNONYMS,
      line: ['line_number', 'row'],
      character: ['column', 'col', 'char'],
      query: ['symbol', 'name', 'search', 'symbol_name'],
    },
  },
});

const TIMEOUT_MS = 30_000;

/** Creates the LSP tool, which queries language servers. */
export function createLspTool({
  lookUp,
  home,
}: {
  readonly lookUp: (query: LspQuery, signal: AbortSignal) => Promise<readonly string[]>;
  readonly home: string;
}): Tool {
  return buildTool({
    ...lspTraits,
    deferred: true,
    prompt: PROMPT,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ operation, file_path, line }) => `LSP ${operation} ${file_path}:${line}`,
    async call({ file_path, ...query }, { cwd, signal }) {
      const path = resolveToolPath(file_path, { cwd, home });
      const timeoutSignal = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const lines = await lookUp({ ...query, path }, timeoutSignal).catch((thrown: unknown) => {
        throw new ToolFailure(
          `The language server did not answer: ${getErrorMessage(thrown)}. Search by text instead.`,
        );
      });
      const total = lines.length;
      const summary = formatCount(total, 'line');
      const content = total === 0 ? 'It knows nothing there. Is the place that of the name itself?' : lines.join('\n');
      return { content, display: { kind: 'list', summary, items: lines, total } };
    },
  });
}
