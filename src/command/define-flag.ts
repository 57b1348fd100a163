/** One flag, as parsing, help, completion, the man page and the docs page read it. */
export type CliFlag<Kind extends FlagValueKind = FlagValueKind> = {
  /** All names and the placeholder of the value, in commander's syntax: `-r, --resume [session]`. */
  readonly syntax: string;
  readonly valueKind: Kind;
  readonly description: string;
  /** Left out of the short help: meant for hosts and scripts. */
  readonly isAdvanced: boolean;
  readonly conflicts: readonly FlagConflict[];
  /** Value used when the flag is absent. */
  readonly default?: number | string | readonly string[];
};

/** Flags keyed by the name of their value: `maxTurns` for `--max-turns`. */
export type FlagTable = Readonly<Record<string, CliFlag>>;

/**
 * The kind of value a flag takes. A `name` is not empty, a `list` is split at commas and spaces, `texts` are several
 * values taken as they are, and `optional text` may be omitted.
 */
export type FlagValueKind =
  | 'boolean'
  | 'text'
  | 'name'
  | 'uuid'
  | 'list'
  | 'texts'
  | 'optional text'
  | { readonly oneOf: readonly string[] }
  | { readonly numberFrom: number; readonly isWhole: boolean };

/** A rule about flags that exclude each other: names or `name=value`; `screen` is interactive mode. */
export type FlagConflict = {
  /** The rule applies only when the flag has this value. */
  readonly whenValue?: string;
  /** At least one of these must be given. */
  readonly requires?: readonly string[];
  /** None of these may be given. */
  readonly excludes?: readonly string[];
  readonly unless?: string;
  /** Error message for a violation. */
  readonly message: string;
};

type ValueOf<Kind extends FlagValueKind> = Kind extends 'boolean'
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

type NamesWithDefault<Table extends FlagTable> = {
  [Name in keyof Table]: Table[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Table];

/** The parsed values of a flag table; flags without a default are optional. */
export type FlagValuesOf<Table extends FlagTable> = {
  readonly [Name in NamesWithDefault<Table>]: ValueOf<Table[Name]['valueKind']>;
} & {
  readonly [Name in Exclude<keyof Table, NamesWithDefault<Table>>]?: ValueOf<Table[Name]['valueKind']>;
};

/** Defines a flag for everyday use. */
export function defineFlag<const Kind extends FlagValueKind>(
  syntax: string,
  valueKind: Kind,
  description: string,
  ...conflicts: readonly FlagConflict[]
) {
  return { syntax, valueKind, description, isAdvanced: false, conflicts } satisfies CliFlag<Kind>;
}

/** Defines a flag that the short help leaves out. */
export function defineAdvancedFlag<const Kind extends FlagValueKind>(
  syntax: string,
  valueKind: Kind,
  description: string,
  ...conflicts: readonly FlagConflict[]
) {
  return { syntax, valueKind, description, isAdvanced: true, conflicts } satisfies CliFlag<Kind>;
}

/** Returns the description of a flag, followed by its default. */
export function describeFlag({ description, default: defaultValue }: CliFlag): string {
  const hasShownDefault = typeof defaultValue === 'string' || typeof defaultValue === 'number';
  return hasShownDefault ? `${description} (default: ${defaultValue})` : description;
}

/** Splits the syntax of a flag into names and placeholder: `-r`, `--resume`, `[session]`. */
export function parseFlagSyntax(flag: CliFlag): {
  readonly short: string | undefined;
  readonly long: readonly string[];
  readonly value: string | undefined;
} {
  const names = listFlagNames(flag);
  return {
    short: names.find((name) => !name.startsWith('--')),
    long: names.filter((name) => name.startsWith('--')),
    value: flag.syntax.match(/[<[].*[>\]]/)?.[0],
  };
}

/** Returns the names of a flag, with their dashes. */
export function listFlagNames({ syntax }: CliFlag): readonly string[] {
  return syntax.match(/(?<=^|[\s,])--?[A-Za-z][\w-]*/g) ?? [];
}

/** The `--json` flag shared by subcommands. */
export const JSON_FLAG = defineFlag('--json', 'boolean', 'print JSON');
