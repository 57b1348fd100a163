import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type Tool, ToolFailure } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';
import { formatCount } from '../../lib/text/format.ts';
import { buildTool } from '../build-tool.ts';
import { absolutePath, repairArguments } from '../file-arguments.ts';
import { pathFacts } from '../stated-facts.ts';

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

const input = z.object({
  operation: z.enum(OPERATIONS).describe('What to ask'),
  file_path: z.string().min(1).describe('A file of the language; for most operations the one with the name in it'),
  line: z.int().positive().default(1).describe('Line of the name, from 1'),
  character: z.int().positive().default(1).describe('Column of the name, from 1'),
  query: z.string().default('').describe('For workspaceSymbol: the name, or part of it'),
});

type LookUp = {
  readonly operation: (typeof OPERATIONS)[number];
  readonly path: string;
  readonly line: number;
  readonly character: number;
  readonly query: string;
};

/** What it says of itself to those who decide about its calls. */
export const lspStatement: ToolStatement = {
  name: 'LSP',
  facts: pathFacts('read', 'file_path'),
  mainInput: 'file_path',
  result: 'repeatable',
};

const LIMIT_MS = 30_000;

/** Asks language servers. */
export function createLspTool({
  lookUp,
  home,
}: {
  readonly lookUp: (wanted: LookUp, signal: AbortSignal) => Promise<readonly string[]>;
  readonly home: string;
}): Tool {
  return buildTool({
    ...lspStatement,
    prompt: PROMPT,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    prepareArguments: (raw) => repairArguments(raw, { numbers: ['line', 'character'] }),
    title: ({ operation, file_path, line }) => `LSP ${operation} ${file_path}:${line}`,
    async call({ file_path, ...wanted }, { cwd, signal }) {
      const path = absolutePath(file_path, { cwd, home });
      const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
      const lines = await lookUp({ ...wanted, path }, limit).catch((thrown: unknown) => {
        throw new ToolFailure(`The language server did not answer: ${messageOf(thrown)}. Search by text instead.`);
      });
      const total = lines.length;
      const summary = formatCount(total, 'line');
      const content = total === 0 ? 'It knows nothing there. Is the place that of the name itself?' : lines.join('\n');
      return { content, display: { kind: 'list', summary, items: lines, total } };
    },
  });
}
