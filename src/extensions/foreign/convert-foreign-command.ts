import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import { getFrontMatterText, parseFrontMatter } from '../../lib/text/front-matter.ts';
import type { ForeignCommandFormat } from './foreign-locations.ts';

/** A command in ouro's form, with what of it cannot be imported. */
export type ConvertedForeignCommand = { readonly text: string; readonly lost: readonly string[] };

const tomlCommand = z.looseObject({ prompt: z.string(), description: z.string().optional() });
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
      .replaceAll(/!\{([^}]*)\}/g, '!`$1`')
      .replaceAll(/@\{([^}]*)\}/g, '@$1');
    return { text: formatCommand({ description }, text), lost: Object.keys(others) };
  }
  const { fields, body, problem } = await parseFrontMatter(source);
  if (problem !== undefined) return { text: source, lost: [] };
  const text = format === 'copilot' ? body.replaceAll(/\$\{input:[\w-]+(?::[^}]*)?\}/g, '$ARGUMENTS') : body;
  const [description, hint] = KEPT.map((name) => getFrontMatterText(fields, name));
  return {
    text: formatCommand({ description, 'argument-hint': hint }, text),
    lost: Object.keys(fields).filter((name) => !KEPT.includes(name)),
  };
}

function formatCommand(fields: Readonly<Record<string, string | undefined>>, body: string): string {
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`],
  );
  return lines.length === 0 ? `${body.trim()}\n` : `---\n${lines.join('\n')}\n---\n\n${body.trim()}\n`;
}
