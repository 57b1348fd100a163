import { writeFileSync } from 'node:fs';
import { plugin } from 'bun';

/**
 * Preloaded into a run: records each text that the shell parser is given and each function of the shell analysis that
 * is entered, and writes them to the file that a variable names.
 */
globalThis.recorded = { parsed: [], entered: [] };
process.on('exit', () => writeFileSync(process.env.RECORD_ANALYSIS ?? '/dev/null', JSON.stringify(recorded)));

plugin({
  name: 'record-analysis',
  setup(build) {
    build.onLoad({ filter: /\/unbash\/dist\/parser\.js$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace(
        /^export function parse\(source\) \{/m,
        '$& recorded.parsed.push(source);',
      ),
      loader: 'js',
    }));
    build.onLoad({ filter: /\/src\/permissions\/shell\/.*\.ts$/ }, async ({ path }) => ({
      contents: recordEntries(await Bun.file(path).text()),
      loader: 'js',
    }));
  },
});

/** Adds a record at the start of every named function. */
function recordEntries(text) {
  const source = new Bun.Transpiler({ loader: 'ts' }).transformSync(text);
  return source.replace(/^(?:export )?function\*? (\w+)\(.*\) \{$/gm, "$& recorded.entered.push('$1');");
}
