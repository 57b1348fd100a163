import { getFrontMatterText, parseFrontMatter } from '@ouro-cli/ouro/commands';
import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import type { ForeignCommandFormat } from './foreign-locations.ts';

/** A command in ouro's form, with what of it cannot be imported. */
export type ConvertedForeignCommand = { readonly text: string; readonly lost: readonly string[] };

const tomlCommand = z.looseObject({ prompt: z.string(), description: z.string().optional() });
const opencodeConfig = z.looseObject({
  command: z
    .record(
      z.string().regex(/^[\w-]+(?:\/[\w-]+)*$/),
      z.looseObject({ template: z.string(), description: z.string().optional() }),
    )
    .optional(),
});
/** Front matter that means the same in ouro. */
const KEPT = ['description', 'argument-hint'];

/** Converts a command or prompt file; throws for a file that cannot be parsed. */
export async function convertForeignCommand(
  source: string,
  format: ForeignCommandFormat,
): Promise<ConvertedForeignCommand> {
  if (format === 'toml') {
    const { prompt, description, ...others } = tomlCommand.parse(parseToml(source));
    const text = prompt
      .replaceAll('{{args}}', '$ARGUMENTS')
      .replaceAll(/!\{([^}]*)(?:(\})|$)/g, (whole, code: string, end?: string) =>
        end === undefined ? whole : `!\`${code}\``,
      )
      .replaceAll(/@\{([^}]*)(?:(\})|$)/g, (whole, path: string, end?: string) =>
        end === undefined ? whole : `@${path}`,
      );
    return { text: formatCommand({ description }, text), lost: Object.keys(others) };
  }
  const { fields, body, problem } = await parseFrontMatter(source);
  if (problem !== undefined) return { text: source, lost: [] };
  const text =
    format === 'copilot' ? body.replaceAll(INPUT, (whole) => (whole.endsWith('}') ? '$ARGUMENTS' : whole)) : body;
  const [description, hint] = KEPT.map((name) => getFrontMatterText(fields, name));
  return {
    text: formatCommand({ description, 'argument-hint': hint }, text),
    lost: [...Object.keys(fields).filter((name) => !KEPT.includes(name)), ...listUnknownVariables(text, format)],
  };
}

/** An input of Copilot; one that is not closed extends to the end, so that a text of them is searched once. */
const INPUT = /\$\{input:[\w-]+(?:\}|:[^}]*(?:\}|$))/g;

/** Lists the variables that ouro has no values for: those of an editor, and the named arguments of Codex. */
function listUnknownVariables(text: string, format: ForeignCommandFormat): readonly string[] {
  const pattern =
    format === 'copilot'
      ? /\$\{\w+(?:\}|:[^}]*(?:\}|$))/g
      : format === 'codex'
        ? /(?<!\$)\$[A-Z][A-Z\d_]*\b/g
        : undefined;
  if (pattern === undefined) return [];
  const names = new Set(text.match(pattern)?.filter((name) => name !== '$ARGUMENTS' && !/^\$\{[^}]*$/.test(name)));
  return names.size === 0 ? [] : [`the values of ${[...names].join(', ')}`];
}

/** Converts the commands that a configuration file of opencode contains. */
export function convertOpencodeCommands(source: string): ReadonlyMap<string, ConvertedForeignCommand> {
  const { command = {} } = opencodeConfig.parse(parseJsonc(source, [], { allowTrailingComma: true }) ?? {});
  return new Map(
    Object.entries(command).map(([name, { template, description, ...others }]) => [
      name,
      { text: formatCommand({ description }, template), lost: Object.keys(others) },
    ]),
  );
}

function formatCommand(fields: Readonly<Record<string, string | undefined>>, body: string): string {
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`],
  );
  return lines.length === 0 ? `${body.trim()}\n` : `---\n${lines.join('\n')}\n---\n\n${body.trim()}\n`;
}
