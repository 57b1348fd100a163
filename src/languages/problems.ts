import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { JsonValue } from '../contracts/json.ts';

const position = z.object({ line: z.number(), character: z.number() });

const published = z.object({
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
});

/** Something a language server holds to be wrong; what it merely suggests is none. */
export type Problem = {
  readonly line: number;
  readonly column: number;
  readonly kind: 'error' | 'warning';
  readonly message: string;
  /** Who says so, and its name for it: `ts 2322`. */
  readonly code: string;
};

export type Published = {
  readonly path: string;
  readonly version: number | undefined;
  readonly problems: readonly Problem[];
};

const ERROR = 1;
const WARNING = 2;

/** What a server tells of a file; `undefined` where it is none on this disk, or cannot be understood. */
export function readPublished(params: JsonValue): Published | undefined {
  const parsed = published.safeParse(params);
  if (!parsed.success) return undefined;
  const { uri, version, diagnostics } = parsed.data;
  const path = pathOf(uri);
  if (path === undefined) return undefined;
  const problems = diagnostics.flatMap(({ range: { start }, severity, code, source, message }): readonly Problem[] => {
    const grade = severity ?? ERROR;
    if (grade > WARNING) return [];
    const kind = grade === ERROR ? 'error' : 'warning';
    const name = [source, code].filter((part) => part !== undefined && part !== null).join(' ');
    return [{ line: start.line + 1, column: start.character + 1, kind, message, code: name }];
  });
  return { path, version: version ?? undefined, problems };
}

/** Where a server says something is, on this disk. */
export function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** How often each problem is there. Lines do not count: an edit above moves them. */
export type Counts = ReadonlyMap<string, number>;

const keyOf = ({ kind, code, message }: Problem) => `${kind} ${code} ${message}`;

export function countsOf(problems: readonly Problem[]): Counts {
  const counts = new Map<string, number>();
  for (const problem of problems) counts.set(keyOf(problem), (counts.get(keyOf(problem)) ?? 0) + 1);
  return counts;
}

/** Those that were not there before; of equal ones the last, as many as there are more. */
export function newSince(before: Counts, now: readonly Problem[]): readonly Problem[] {
  const left = new Map(before);
  return now.filter((problem) => {
    const known = left.get(keyOf(problem)) ?? 0;
    left.set(keyOf(problem), known - 1);
    return known <= 0;
  });
}
