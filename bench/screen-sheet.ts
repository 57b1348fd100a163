const GAP = 16;

/** Joins rows of SVG pictures into one picture. */
export function joinPictures(rows: readonly (readonly string[])[]): string {
  const parts: string[] = [];
  let [top, width] = [0, 0];
  for (const pictures of rows) {
    let [left, height] = [0, 0];
    for (const picture of pictures) {
      const [, wide = '0', high = '0'] = /width="(\d+)" height="(\d+)"/.exec(picture) ?? [];
      parts.push(picture.replace('<svg ', `<svg x="${left}" y="${top}" `));
      [left, height] = [left + Number(wide) + GAP, Math.max(height, Number(high))];
    }
    [top, width] = [top + height + GAP, Math.max(width, left - GAP)];
  }
  const height = top - GAP;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n${parts.join('\n')}\n</svg>\n`;
}
