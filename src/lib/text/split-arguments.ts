/**
 * Splits a line that the user typed into arguments. Quotes at the start of an argument or after its `name=` group text
 * with spaces; inside double quotes a backslash escapes a quote. Quotes elsewhere are ordinary characters.
 */
export function splitArguments(text: string): readonly string[] {
  return [...text.matchAll(ARGUMENT)].map(([whole, prefix = '', double, single]) => {
    if (single !== undefined) return prefix + single;
    return double === undefined ? whole : prefix + double.replaceAll(/\\(["\\])/g, '$1');
  });
}

const ARGUMENT = /([\w-]+=)?(?:"((?:\\.|[^"\\])*)"|'([^']*)')(?=\s|$)|\S+/gs;
