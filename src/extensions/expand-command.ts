/** What a command's text may reach: shell lines go through the permission gate, files through the reading rules. */
export type ExpandParts = {
  readonly runShell: (command: string) => Promise<string>;
  readonly readFile: (path: string) => Promise<string>;
};

/** The text of a command with its arguments, shell lines and files in place. What arguments bring is never expanded again. */
export async function expandCommand(body: string, args: string, parts: ExpandParts): Promise<string> {
  const pieces = splitBody(body);
  const expanded = await Promise.all(
    pieces.map(async (piece) => {
      if (piece.kind === 'shell') return parts.runShell(withArguments(piece.text, args));
      if (piece.kind === 'file') return parts.readFile(withArguments(piece.text, args));
      return withArguments(piece.text, args);
    }),
  );
  const text = expanded.join('').trim();
  const named = /\$ARGUMENTS|\$\d/.test(body);
  return named || args.trim() === '' ? text : `${text}\n\n${args.trim()}`;
}

type Piece = { readonly kind: 'text' | 'shell' | 'file'; readonly text: string };

/** `` !`command` `` and `@path` at the beginning of a word, outside of code fences. */
function splitBody(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const found = /(```[\s\S]*?```)|!`([^`\n]+)`|(?<=^|\s)@([^\s`'"]*[^\s`'".,;:!?)])/g;
  let from = 0;
  for (const match of body.matchAll(found)) {
    const [whole, fence, shell, file] = match;
    if (fence !== undefined) continue;
    pieces.push({ kind: 'text', text: body.slice(from, match.index) });
    if (shell !== undefined) pieces.push({ kind: 'shell', text: shell });
    else if (file !== undefined) pieces.push({ kind: 'file', text: file });
    from = match.index + whole.length;
  }
  pieces.push({ kind: 'text', text: body.slice(from) });
  return pieces;
}

function withArguments(text: string, args: string): string {
  const words = splitWords(args);
  return text.replaceAll(/\$ARGUMENTS|\$(\d)/g, (_whole, digit: string | undefined) =>
    digit === undefined ? args.trim() : (words[Number(digit) - 1] ?? ''),
  );
}

/** Words as a person types them: quotes hold several together. */
function splitWords(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}
