import { z } from 'zod';
import type { JsonValue } from '../contracts/json.ts';
import { parseFileUri } from '../lib/files/file-uri.ts';

const position = z.object({ line: z.number(), character: z.number() });

const publishedSchema = z.lazy(() =>
  z.object({
    uri: z.string(),
    version: z.number().nullish(),
    diagnostics: z.array(
      z.object({
        range: z.object({ start: position }),
        severity: z.number().nullish(),
        code: z.union([z.string(), z.number()]).nullish().catch(undefined),
        source: z.string().nullish(),
        message: z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]),
      }),
    ),
  }),
);

/** An error or warning of a language server; hints and infos are dropped. */
export type Diagnostic = {
  readonly line: number;
  readonly column: number;
  readonly kind: 'error' | 'warning';
  readonly message: string;
  /** Source and code, such as `ts 2322`. */
  readonly code: string;
};

/** The diagnostics a server published for a file. */
export type PublishedDiagnostics = {
  readonly path: string;
  readonly version: number | undefined;
  readonly problems: readonly Diagnostic[];
};

const ERROR = 1;
const WARNING = 2;

/** Parses a `publishDiagnostics` notification; `undefined` when it is invalid or not about a local file. */
export function parseDiagnostics(params: JsonValue): PublishedDiagnostics | undefined {
  const parsed = publishedSchema.safeParse(params);
  if (!parsed.success) return undefined;
  const { uri, version, diagnostics } = parsed.data;
  const path = parseFileUri(uri);
  if (path === undefined) return undefined;
  const problems = diagnostics.flatMap(
    ({ range: { start }, severity, code, source, message }): readonly Diagnostic[] => {
      const level = severity ?? ERROR;
      if (level > WARNING) return [];
      const kind = level === ERROR ? 'error' : 'warning';
      const name = [source, code].filter((part) => part !== undefined && part !== null).join(' ');
      return [{ line: start.line + 1, column: start.character + 1, kind, message, code: name }];
    },
  );
  return { path, version: version ?? undefined, problems };
}

/** The number of equal diagnostics by kind, code and message; lines are ignored because edits move them. */
export type DiagnosticCounts = ReadonlyMap<string, number>;

const getKey = ({ kind, code, message }: Diagnostic) => `${kind} ${code} ${message}`;

/** Counts equal diagnostics. */
export function countEqualDiagnostics(problems: readonly Diagnostic[]): DiagnosticCounts {
  const counts = new Map<string, number>();
  for (const problem of problems) counts.set(getKey(problem), (counts.get(getKey(problem)) ?? 0) + 1);
  return counts;
}

/** Finds the diagnostics that exceed the earlier counts; of equal ones the last are new. */
export function findNewDiagnostics(before: DiagnosticCounts, current: readonly Diagnostic[]): readonly Diagnostic[] {
  const remaining = new Map(before);
  return current.filter((problem) => {
    const count = remaining.get(getKey(problem)) ?? 0;
    remaining.set(getKey(problem), count - 1);
    return count <= 0;
  });
}
