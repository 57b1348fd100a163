/** One flag: everything that parsing, help, completion, the man page and the docs page know of it. */
export type Flag<Kind extends Takes = Takes> = {
  /** All its names and the place of its value, as commander reads them: `-r, --resume [session]`. */
  readonly spelling: string;
  readonly takes: Kind;
  readonly words: string;
  /** For hosts and scripts: left out of the short help. */
  readonly isRare: boolean;
  readonly clashes: readonly Clash[];
  /** Its value where it is not given. */
  readonly default?: number | string | readonly string[];
};

/** Flags by the names of their values: `maxTurns` is `--max-turns`. */
export type FlagTable = Readonly<Record<string, Flag>>;

/**
 * What stands behind a flag. `name` is text that is not empty, `list` is split at commas and spaces, `texts` are taken
 * as they are, `optional text` may be left out.
 */
export type Takes =
  | 'nothing'
  | 'text'
  | 'name'
  | 'uuid'
  | 'list'
  | 'texts'
  | 'optional text'
  | { readonly oneOf: readonly string[] }
  | { readonly numberFrom: number; readonly isWhole: boolean };

/**
 * Flags that a flag does not go with. A condition is the name of another flag, or `name=value`; `screen` holds where a
 * screen is about to open.
 */
export type Clash = {
  /** Only when the flag itself has this value. */
  readonly at?: string;
  /** One of these must be given. */
  readonly needs?: readonly string[];
  /** None of these may be given. */
  readonly excludes?: readonly string[];
  readonly unless?: string;
  /** What is said then. */
  readonly words: string;
};

type ValueOf<Kind extends Takes> = Kind extends 'nothing'
  ? boolean
  : Kind extends 'list' | 'texts'
    ? readonly string[]
    : Kind extends 'optional text'
      ? string | true
      : Kind extends { readonly oneOf: readonly (infer Choice)[] }
        ? Choice
        : Kind extends { readonly numberFrom: number }
          ? number
          : string;

type Defaulted<Table extends FlagTable> = {
  [Name in keyof Table]: Table[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Table];

/** The values of the flags of a table; those without a default may be absent. */
export type ValuesOf<Table extends FlagTable> = {
  readonly [Name in Defaulted<Table>]: ValueOf<Table[Name]['takes']>;
} & {
  readonly [Name in Exclude<keyof Table, Defaulted<Table>>]?: ValueOf<Table[Name]['takes']>;
};

export function flag<const Kind extends Takes>(
  spelling: string,
  takes: Kind,
  words: string,
  ...clashes: readonly Clash[]
) {
  return { spelling, takes, words, isRare: false, clashes } satisfies Flag<Kind>;
}

/** A flag that the short help leaves out. */
export function rareFlag<const Kind extends Takes>(
  spelling: string,
  takes: Kind,
  words: string,
  ...clashes: readonly Clash[]
) {
  return { spelling, takes, words, isRare: true, clashes } satisfies Flag<Kind>;
}

/** What a flag is for, with its value where it is not given. */
export function flagWords({ words, default: standard }: Flag): string {
  const isWorthSaying = typeof standard === 'string' || typeof standard === 'number';
  return isWorthSaying ? `${words} (${standard} if not given)` : words;
}

/** The names and the placeholder of a flag: `-r`, `--resume`, `[session]`. */
export function partsOf({ spelling }: Flag): {
  readonly short: string | undefined;
  readonly long: readonly string[];
  readonly value: string | undefined;
} {
  const names = spelling.match(/(?<=^|[\s,])--?[A-Za-z][\w-]*/g) ?? [];
  return {
    short: names.find((name) => !name.startsWith('--')),
    long: names.filter((name) => name.startsWith('--')),
    value: spelling.match(/[<[].*[>\]]/)?.[0],
  };
}

/** What is shown to people is told to programs, too. */
export const json = flag('--json', 'nothing', 'as JSON');
