import { z } from 'zod';
import type { ResultBlock } from '../../contracts/message.ts';
import { parseJson } from '../../lib/json.ts';

const MAX_OUTPUT_CHARS = 4000;
const MAX_IMAGES = 10;
const MAX_IMAGE_BASE64 = 1024 * 1024;

const multilineText = z.lazy(() =>
  z.union([z.string(), z.array(z.string())]).transform((value) => (typeof value === 'string' ? value : value.join(''))),
);
const output = z.lazy(() =>
  z.looseObject({
    text: multilineText.optional(),
    data: z.record(z.string(), z.unknown()).optional(),
    ename: z.string().optional(),
    evalue: z.string().optional(),
  }),
);
const notebook = z.lazy(() =>
  z.looseObject({
    cells: z.array(
      z.looseObject({
        id: z.string().optional(),
        cell_type: z.string(),
        source: multilineText,
        outputs: z.array(output).optional(),
      }),
    ),
  }),
);

/** Renders the cells of a notebook with their outputs; `undefined` if the text is not a notebook. */
export function renderNotebook(text: string): readonly ResultBlock[] | undefined {
  const parsed = notebook.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const images: ResultBlock[] = [];
  const cells = parsed.data.cells.map((cell, index) => {
    const outputs = (cell.outputs ?? []).map((result) => renderOutput(result, images)).filter((text) => text !== '');
    const outputText = outputs.length === 0 ? '' : `\n<output>\n${outputs.join('\n')}\n</output>`;
    return `<cell id="${cell.id ?? `cell-${index}`}" type="${cell.cell_type}">\n${cell.source}\n</cell>${outputText}`;
  });
  return [{ type: 'text', text: cells.length === 0 ? 'The notebook has no cells.' : cells.join('\n') }, ...images];
}

function renderOutput(result: z.output<typeof output>, images: ResultBlock[]): string {
  const image = multilineText.safeParse(result.data?.['image/png']);
  if (image.success && image.data.length <= MAX_IMAGE_BASE64 && images.length < MAX_IMAGES) {
    const data = image.data.replace(/\s/g, '');
    images.push({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
    return `[picture ${images.length}, below]`;
  }
  if (image.success) return '[a picture, left out: too large or too many]';
  const plainText = multilineText.safeParse(result.data?.['text/plain']);
  const text = result.text ?? (plainText.success ? plainText.data : undefined) ?? formatError(result);
  if (text.length <= MAX_OUTPUT_CHARS) return text.trimEnd();
  return `${text.slice(0, MAX_OUTPUT_CHARS)}\n[${text.length - MAX_OUTPUT_CHARS} more characters of output left out]`;
}

function formatError(result: z.output<typeof output>): string {
  return result.ename === undefined ? '' : `${result.ename}: ${result.evalue ?? ''}`;
}
