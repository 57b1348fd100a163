import { z } from 'zod';
import type { ResultBlock } from '../../contracts/message.ts';

const MAX_OUTPUT_CHARS = 4000;
const MAX_PICTURES = 10;
const MAX_PICTURE_BASE64 = 1024 * 1024;

const lines = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? value : value.join('')));
const output = z.looseObject({
  text: lines.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
});
const notebook = z.looseObject({
  cells: z.array(
    z.looseObject({
      id: z.string().optional(),
      cell_type: z.string(),
      source: lines,
      outputs: z.array(output).optional(),
    }),
  ),
});

/** A notebook's cells with their outputs; `undefined` when it is not one. */
export function showNotebook(text: string): readonly ResultBlock[] | undefined {
  const parsed = notebook.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const pictures: ResultBlock[] = [];
  const cells = parsed.data.cells.map((cell, index) => {
    const results = (cell.outputs ?? []).map((one) => showOutput(one, pictures)).filter((one) => one !== '');
    const shown = results.length === 0 ? '' : `\n<output>\n${results.join('\n')}\n</output>`;
    return `<cell id="${cell.id ?? `cell-${index}`}" type="${cell.cell_type}">\n${cell.source}\n</cell>${shown}`;
  });
  return [{ type: 'text', text: cells.length === 0 ? 'The notebook has no cells.' : cells.join('\n') }, ...pictures];
}

function showOutput(result: z.output<typeof output>, pictures: ResultBlock[]): string {
  const picture = lines.safeParse(result.data?.['image/png']);
  if (picture.success && picture.data.length <= MAX_PICTURE_BASE64 && pictures.length < MAX_PICTURES) {
    const data = picture.data.replace(/\s/g, '');
    pictures.push({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
    return `[picture ${pictures.length}, below]`;
  }
  if (picture.success) return '[a picture, left out: too large or too many]';
  const plain = lines.safeParse(result.data?.['text/plain']);
  const text = result.text ?? (plain.success ? plain.data : undefined) ?? failureText(result);
  if (text.length <= MAX_OUTPUT_CHARS) return text.trimEnd();
  return `${text.slice(0, MAX_OUTPUT_CHARS)}\n[${text.length - MAX_OUTPUT_CHARS} more characters of output left out]`;
}

function failureText(result: z.output<typeof output>): string {
  return result.ename === undefined ? '' : `${result.ename}: ${result.evalue ?? ''}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
