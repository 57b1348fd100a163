import { z } from 'zod';
import type { PluginOption } from '../../contracts/extension.ts';
import { omitUndefined } from '../../lib/json.ts';

const optionSchema = z.lazy(() =>
  z.looseObject({
    type: z.enum(['string', 'number', 'boolean', 'directory', 'file']).default('string'),
    title: z.string().optional(),
    description: z.string().default(''),
    sensitive: z.boolean().default(false),
    required: z.boolean().default(false),
    default: z.union([z.string(), z.number(), z.boolean()]).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
  }),
);

/** The `userConfig` of a manifest. */
export const pluginOptionsSchema = z.lazy(() =>
  z.record(z.string().regex(/^[A-Za-z_]\w*$/, 'must be letters, digits and underscores'), optionSchema),
);

/** Converts the `userConfig` of a manifest. */
export function convertPluginUserConfig(config: z.output<typeof pluginOptionsSchema>): readonly PluginOption[] {
  return Object.entries(config).map(([key, { type, title, description, sensitive, required, min, max, ...rest }]) => ({
    key,
    type,
    title: title ?? key,
    description,
    isSensitive: sensitive,
    isRequired: required,
    ...(rest.default === undefined ? {} : { default: String(rest.default) }),
    ...omitUndefined({ min, max }),
  }));
}

/** Returns why a value does not fit an option; `undefined` if it does. Paths are checked when they are used. */
export function findPluginOptionProblem({ key, type, min, max }: PluginOption, value: string): string | undefined {
  if (type === 'boolean') return /^(?:true|false)$/.test(value) ? undefined : `${key} must be true or false.`;
  if (type !== 'number') return undefined;
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) return `${key} must be a number.`;
  if (min !== undefined && number < min) return `${key} must be at least ${min}.`;
  return max !== undefined && number > max ? `${key} must be at most ${max}.` : undefined;
}

/** The values of options, and the problems that keep a plugin from being used. */
type ResolvedOptions = {
  /** All values as text. */
  readonly values: Readonly<Record<string, string>>;
  /** Values that may be part of texts for the model: not the sensitive ones. */
  readonly texts: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
};

/** Resolves options from the given values and the defaults. */
export function resolvePluginOptions(
  options: readonly PluginOption[],
  given: Readonly<Record<string, string>>,
): ResolvedOptions {
  const found = options.map((option) => ({ option, value: given[option.key] ?? option.default }));
  const set = found.flatMap(({ option, value }) => (value === undefined ? [] : [{ option, value }]));
  const pick = (list: typeof set) => Object.fromEntries(list.map(({ option, value }) => [option.key, value]));
  return {
    values: pick(set),
    texts: pick(set.filter(({ option }) => !option.isSensitive)),
    problems: [
      ...found.flatMap(({ option, value }) =>
        option.isRequired && value === undefined ? [`${option.key} is not set.`] : [],
      ),
      ...set.flatMap(({ option, value }) => findPluginOptionProblem(option, value) ?? []),
    ],
  };
}

/** Returns the variables with which hooks get the options. */
export function createPluginOptionVariables(
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [`CLAUDE_PLUGIN_OPTION_${key.toUpperCase()}`, value]),
  );
}
