import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { plugin } from 'bun';
import { parseSync, Visitor } from 'oxc-parser';

/**
 * Preloaded into a run of the sources: counts how often each function of `src/` is called and records each text that
 * the shell parser is given. At the end both are written to the file that a variable names.
 */
globalThis.recorded = { parsed: [], calls: {} };
globalThis.countCall = (key) => {
  recorded.calls[key] = (recorded.calls[key] ?? 0) + 1;
};
process.on('exit', () => writeFileSync(process.env.RECORD_CALLS ?? '/dev/null', JSON.stringify(recorded)));

const SRC = `${import.meta.dirname.replace(/test\/support$/, 'src')}/`;

plugin({
  name: 'record-calls',
  setup(build) {
    build.onLoad({ filter: /\/unbash\/dist\/parser\.js$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace(
        /^export function parse\(source\) \{/m,
        '$& recorded.parsed.push(source);',
      ),
      loader: 'js',
    }));
    build.onLoad({ filter: /\/src\/.*\.tsx?$/ }, async ({ path }) => ({
      contents: countCalls(relative(SRC, path), await Bun.file(path).text()),
      loader: path.endsWith('x') ? 'tsx' : 'ts',
    }));
  },
});

/** Adds a count at the start of every function. */
function countCalls(path, text) {
  const insertions = [];
  function enter({ start, id, body }) {
    if (!body) return;
    const line = text.slice(0, start).split('\n').length;
    const name = id?.name ?? /([\w$]+)\s*[=:]?\s*$/.exec(text.slice(Math.max(0, start - 60), start))?.[1] ?? '';
    const count = `countCall(${JSON.stringify(`${path}:${line} ${name}`.trimEnd())})`;
    if (body.type === 'BlockStatement') insertions.push([body.start + 1, ` ${count};`]);
    else insertions.push([body.start, `(${count}, `], [body.end, ')']);
  }
  const nodes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
  new Visitor(Object.fromEntries(nodes.map((type) => [type, enter]))).visit(parseSync(path, text).program);
  let end = text.length;
  const parts = [];
  for (const [at, added] of insertions.toSorted((a, b) => b[0] - a[0])) {
    parts.unshift(added, text.slice(at, end));
    end = at;
  }
  return text.slice(0, end) + parts.join('');
}
