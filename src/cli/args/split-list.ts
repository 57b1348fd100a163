/** Items apart by comma or space; what stands between parentheses belongs to its rule. */
export function splitList(texts: readonly string[]): readonly string[] {
  return texts.flatMap(splitOne);
}

function splitOne(text: string): readonly string[] {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  for (const char of text) {
    if (depth === 0 && /[\s,]/.test(char)) {
      items.push(item);
      item = '';
      continue;
    }
    if (char === '(') depth += 1;
    if (char === ')') depth = Math.max(0, depth - 1);
    item += char;
  }
  return [...items, item].map((one) => one.trim()).filter((one) => one !== '');
}
