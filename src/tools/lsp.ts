import { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import { type CallContext, type Tool, ToolFailure, type ToolOutcome } from '../contracts/tool.ts';
import { getErrorPhrase } from '../lib/errors.ts';
import { formatCount } from '../lib/text/format.ts';
import { buildTool } from './definition/build-tool.ts';
import { editTraits } from './edit/edit.ts';
import { applyFileLineEdits, type FileLineEdits, fileLineEditsSchema } from './edit/file-line-edits.ts';
import type { FileChangeDeps } from './files/change-file.ts';
import { type BuiltInToolTraits, defineToolTraits, FILE_PATH_SYNONYMS } from './input/call-forms.ts';
import { createPathToolFacts, resolveToolPath } from './tool-facts.ts';

const LOOKUPS = [
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
const RENAME = 'rename';

const PROMPT = `Asks the language server of a file about code: where a name is defined, implemented, used or called, what its type and documentation are (\`hover\`), and which symbols a file (\`documentSymbol\`) or the project (\`workspaceSymbol\`, with \`query\`) has. \`rename\` changes a name to \`new_name\` in all files that use it. More exact than a search by text. Places are given as file:line:column. New problems after your edits are told by themselves; this need not be called for them.`;

const input = z.strictObject({
  operation: z.enum([...LOOKUPS, RENAME]).describe('What to ask'),
  file_path: z.string().min(1).describe('A file of the language; for most operations the one with the name in it'),
  line: z.int().positive().default(1).describe('Line of the name, from 1'),
  character: z.int().positive().default(1).describe('Column of the name, from 1'),
  query: z.string().default('').describe('For workspaceSymbol: the name, or part of it'),
  new_name: z.string().default('').describe('For rename'),
  changed_files: z.array(fileLineEditsSchema).optional(),
});

type LspInput = z.output<typeof input>;

type Position = { readonly path: string; readonly line: number; readonly character: number };
type LspQuery = Position & { readonly operation: (typeof LOOKUPS)[number]; readonly query: string };

/** Tool traits of LSP. A rename is an edit of all its files, once they are known. */
export const lspTraits: BuiltInToolTraits = defineToolTraits({
  name: 'LSP',
  facts(call, cwd) {
    if (call.operation !== RENAME) return createPathToolFacts('read', 'file_path')(call, cwd);
    const changes = parseChanges(call);
    if (changes.length === 0) return { kind: 'edit', problem: 'The files that it changes are not known.' };
    return { kind: 'edit', writes: changes.map(({ file_path }) => file_path) };
  },
  listParts: (call) => parseChanges(call).map((change) => ({ tool: editTraits.name, input: change })),
  mainInput: 'file_path',
  result: 'repeatable',
  forms: {
    example: 'LSP{operation:"findReferences", file_path:"src/a.ts", line:12, character:7}',
    names: ['language_server', 'lsp_query'],
    synonyms: {
      operation: ['action', 'command', 'method', 'request'],
      file_path: FILE_PATH_SYNONYMS,
      line: ['line_number', 'row'],
      character: ['column', 'col', 'char'],
      query: ['symbol', 'name', 'search', 'symbol_name'],
      new_name: ['to', 'new_symbol_name'],
    },
  },
});

function parseChanges({ changed_files }: JsonObject): readonly FileLineEdits[] {
  return z.array(fileLineEditsSchema).safeParse(changed_files).data ?? [];
}

const TIMEOUT_MS = 30_000;

/** Dependencies of the LSP tool. */
export type LspDeps = {
  readonly lookUp: (query: LspQuery, signal: AbortSignal) => Promise<readonly string[]>;
  readonly findRenameChanges: (
    request: Position & { readonly newName: string },
    signal: AbortSignal,
  ) => Promise<readonly FileLineEdits[]>;
  readonly files: FileChangeDeps;
};

/** Creates the LSP tool, which queries language servers. */
export function createLspTool({ lookUp, findRenameChanges, files }: LspDeps): Tool {
  const resolvePosition = ({ file_path, line, character }: LspInput, cwd: string) => ({
    path: resolveToolPath(file_path, { cwd, home: files.home }),
    line,
    character,
  });

  async function ask(lookup: LspQuery, signal: AbortSignal): Promise<ToolOutcome> {
    const lines = await withLimit(signal, 'Search by text instead.', (limited) => lookUp(lookup, limited));
    const total = lines.length;
    const summary = formatCount(total, 'line');
    const content = total === 0 ? 'It knows nothing there. Is the place that of the name itself?' : lines.join('\n');
    return { content, display: { kind: 'list', summary, items: lines, total } };
  }

  return buildTool({
    ...lspTraits,
    deferred: true,
    prompt: PROMPT,
    input,
    listHiddenArguments: () => ['changed_files'],
    isReadOnly: ({ operation }) => operation !== RENAME,
    isConcurrencySafe: ({ operation }) => operation !== RENAME,
    title: ({ operation, file_path, line, new_name }) =>
      operation === RENAME ? `Rename ${file_path}:${line} to ${new_name}` : `LSP ${operation} ${file_path}:${line}`,
    async completeInput(call, { cwd, signal }) {
      const { changed_files: _, ...given } = call;
      if (call.operation !== RENAME) return given;
      if (call.new_name === '') throw new ToolFailure('rename needs new_name.');
      const request = { ...resolvePosition(call, cwd), newName: call.new_name };
      const changes = await withLimit(signal, 'Change the files with Edit instead.', (limited) =>
        findRenameChanges(request, limited),
      );
      return { ...given, changed_files: [...changes] };
    },
    async call(call, { cwd, signal }: CallContext) {
      const { operation, query, changed_files: changes = [] } = call;
      if (operation === RENAME) return applyFileLineEdits(changes, files, signal);
      return ask({ operation, query, ...resolvePosition(call, cwd) }, signal);
    },
  });
}

/** Asks a server within the limit; throws what the model can do without it. */
async function withLimit<Answer>(
  signal: AbortSignal,
  advice: string,
  request: (limited: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  return request(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])).catch((thrown: unknown) => {
    throw new ToolFailure(`The language server did not answer: ${getErrorPhrase(thrown)}. ${advice}`);
  });
}
