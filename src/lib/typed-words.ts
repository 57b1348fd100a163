/**
 * The words of a line as a person types them: quotes at the beginning of a word, or behind its `=`, hold several together;
 * within double quotes a backslash stands before a quote that is meant. A quote anywhere else is a letter.
 */
export function typedWords(text: string): readonly string[] {
  return [...text.matchAll(WORDS)].map(([whole, name = '', double, single]) => {
    if (single !== undefined) return name + single;
    return double === undefined ? whole : name + double.replaceAll(/\\(["\\])/g, '$1');
  });
}

const WORDS = /([\w-]+=)?(?:"((?:\\.|[^"\\])*)"|'([^']*)')(?=\s|$)|\S+/gs;
