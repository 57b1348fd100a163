import { formatCount } from '../../../lib/text/format.ts';
import { sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { truncateEnd } from '../../../lib/text/text-width.ts';
import { colored, createStyledLine, type LogicalLine, plain } from '../../text/line.ts';
import { type RenderContext, shortenPath } from '../../text/render-context.ts';
import { MAX_OUTPUT_ROWS } from './tool-entry.ts';

/** A failed test in the output of a test runner. */
type FailedTest = {
  readonly name: string;
  readonly expected?: string;
  readonly actual?: string;
  /** The error, if no values are given. */
  readonly message?: string;
  readonly place?: string;
};

/** Heads of failed tests. `below`: the details follow the head; `above`: they precede it. */
const HEADS: readonly { readonly pattern: RegExp; readonly details: 'below' | 'above' }[] = [
  // TAP
  { pattern: /^\s*not ok \d+(?: -)? (.+?)(?: # .*)?$/, details: 'below' },
  // The spec reporter of Node.js, and the list of Vitest.
  { pattern: /^\s*[✖✗×] (.+?)(?: \(?\d[\d.]*\s?m?s\)?)?$/, details: 'below' },
  // Vitest
  { pattern: /^\s*FAIL\s+\S+ > (.+)$/, details: 'below' },
  // Jest
  { pattern: /^\s+● (.+ › .+|[^›]+)$/, details: 'below' },
  // pytest, and its summary
  { pattern: /^_{3,} (\S.*?) _{3,}$/, details: 'below' },
  { pattern: /^FAILED \S+?::(\S+)(?: - .*)?$/, details: 'below' },
  // Go
  { pattern: /^\s*--- FAIL: (\S+)/, details: 'below' },
  // Cargo
  { pattern: /^---- (\S+) stdout ----$/, details: 'below' },
  // Bun
  { pattern: /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/, details: 'above' },
];
/** A head that only sums up tests inside of it. */
const SUMS_UP = /subtestsFailed|^\s*[✖✗×] failing tests:/;

/** Values in an error: the expected and the actual one, in the order of `names`. */
const VALUES: readonly { readonly pattern: RegExp; readonly names: 'expected first' | 'actual first' }[] = [
  { pattern: /^\s*expected: (.+?),?$[\s\S]*?^\s*actual: (.+?),?$/im, names: 'expected first' },
  { pattern: /^\s*actual: (.+?),?$[\s\S]*?^\s*expected: (.+?),?$/im, names: 'actual first' },
  { pattern: /^\s*Expected: +(.+)$[\s\S]*?^\s*Received: +(.+)$/m, names: 'expected first' },
  {
    pattern: /\bexpected (.+?) to (?:be|equal|deeply equal|strictly equal|eql) (.+?)(?: \/\/.*)?$/m,
    names: 'actual first',
  },
  { pattern: /^\s*(\S.*?) !== (\S.*)$/m, names: 'actual first' },
  { pattern: /\bassert (.+?) == (.+)$/m, names: 'actual first' },
  { pattern: /^\s*left: (.+)$\s*^\s*right: (.+)$/m, names: 'actual first' },
  { pattern: /\bgot:? (.+?),? (?:but )?(?:want|expected|wanted):? (.+)$/m, names: 'actual first' },
  { pattern: /\b(?:want|expected|wanted):? (.+?),? (?:but )?got:? (.+)$/m, names: 'expected first' },
];
const MESSAGE = /(?:^|\s)(?:\w*(?:Error|Exception)(?: \[\w+\])?|panicked at [^\n]*|error): *\n? *(.+)$/m;
const PLACE = /(?:file:\/\/)?((?:[A-Za-z]:)?[\w@./\\-]*[\w-]\.\w{1,5}):(\d+)(?::\d+)?/g;
const FOREIGN_PLACE = /node_modules|node:|site-packages|\/rustc\//;
/** The part of a row that is searched. */
const MAX_ROW_CHARS = 1_000;
/** Number of lines that belong to a head. */
const MAX_DETAIL_LINES = 60;

/** Finds the failed tests in the output of a test runner. A test that is named several times is listed once. */
export function findFailedTests(output: readonly string[]): readonly FailedTest[] {
  const rows = output.map((row) => row.slice(0, MAX_ROW_CHARS));
  const heads = rows.flatMap((row, index) => {
    for (const head of HEADS) {
      const name = head.pattern.exec(row)?.[1]?.trim();
      if (name !== undefined && !SUMS_UP.test(row)) return [{ index, name, head }];
    }
    return [];
  });
  const found = heads.flatMap(({ index, name, head }, position): readonly FoundTest[] => {
    const start = head.details === 'below' ? index : (heads[position - 1]?.index ?? -1) + 1;
    const end = head.details === 'below' ? (heads[position + 1]?.index ?? rows.length) : index + 1;
    const block = rows.slice(start, end);
    const text = (head.details === 'below' ? block.slice(0, MAX_DETAIL_LINES) : block.slice(-MAX_DETAIL_LINES)).join(
      '\n',
    );
    return SUMS_UP.test(text) ? [] : [{ head, index, test: { ...readDetails(text, rows[index] ?? ''), name } }];
  });
  return found.filter((one) => !found.some((other) => other !== one && repeats(one, other))).map(({ test }) => test);
}

type FoundTest = { readonly head: (typeof HEADS)[number]; readonly index: number; readonly test: FailedTest };

/** Returns whether a runner named the other test as well, in its list or its summary, and with more details. */
function repeats(one: FoundTest, other: FoundTest): boolean {
  // In Go, a test fails with those inside of it.
  if (other.test.name.startsWith(`${one.test.name}/`)) return true;
  const [oneDetails, otherDetails] = [countDetails(one.test), countDetails(other.test)];
  const lacksError = one.test.expected === undefined && one.test.message === undefined;
  const isOtherKind = one.head !== other.head || (lacksError && otherDetails > oneDetails);
  if (!isOtherKind || !isSameTest(one.test.name, other.test.name)) return false;
  return otherDetails > oneDetails || (otherDetails === oneDetails && other.index < one.index);
}

/** Runners name a test with or without the suites around it. */
function isSameTest(one: string, other: string): boolean {
  const [short = '', long = ''] = [one, other].sort((a, b) => a.length - b.length);
  return long === short || (long.endsWith(short) && /[>›:./]\s*$/.test(long.slice(0, -short.length)));
}

function countDetails({ expected, message, place }: Omit<FailedTest, 'name'>): number {
  return [expected, message, place].filter((part) => part !== undefined).length + (expected === undefined ? 0 : 1);
}

function readDetails(block: string, head: string): Omit<FailedTest, 'name'> {
  const place = findPlace(block);
  const base = place === undefined ? {} : { place };
  for (const { pattern, names } of VALUES) {
    const [, first, second] = pattern.exec(block) ?? [];
    if (first === undefined || second === undefined) continue;
    const [expected, actual] = names === 'expected first' ? [first, second] : [second, first];
    return { ...base, expected: expected.trim(), actual: actual.trim() };
  }
  const message = MESSAGE.exec(block.slice(head.length))?.[1];
  return message === undefined ? base : { ...base, message: message.trim() };
}

function findPlace(block: string): string | undefined {
  for (const line of block.split('\n')) {
    if (FOREIGN_PLACE.test(line)) continue;
    for (const [, file = '', row = ''] of line.matchAll(PLACE)) return `${file}:${row}`;
  }
  return undefined;
}

const MAX_VALUE_COLUMNS = 40;
const MAX_NAME_COLUMNS = 70;

/** Renders the failed tests, a row each: name, values or error, and place. */
export function renderFailedTests(
  tests: readonly FailedTest[],
  hiddenLines: number,
  { glyphs, cwd }: RenderContext,
): readonly LogicalLine[] {
  const bar = colored('dim', `${glyphs.output} `);
  const shown = tests.length > MAX_OUTPUT_ROWS.failed ? tests.slice(0, MAX_OUTPUT_ROWS.failed - 1) : tests;
  const more = tests.length - shown.length;
  const notes = [...(more === 0 ? [] : [`${more} more fail`]), formatCount(hiddenLines, 'line')];
  return [
    ...shown.map((test) => {
      // A few runners say it in the name.
      const isPlaceNamed = test.place === undefined || test.name.includes(test.place);
      const place = isPlaceNamed ? [] : [shortenPath(test.place ?? '', cwd)];
      const details = [...describeValues(test), ...place].join(glyphs.separator);
      return createStyledLine(
        bar,
        colored('error', `${glyphs.failed} `),
        plain(clean(test.name, MAX_NAME_COLUMNS)),
        colored('dim', details === '' ? '' : `   ${sanitizeForScreen(details)}`),
      );
    }),
    createStyledLine(colored('dim', `${glyphs.output} ${glyphs.ellipsis} ${notes.join(', ')}  ctrl+o`)),
  ];
}

function describeValues({ expected, actual, message }: FailedTest): readonly string[] {
  if (expected !== undefined && actual !== undefined)
    return [`Expected ${clean(expected, MAX_VALUE_COLUMNS)}, got ${clean(actual, MAX_VALUE_COLUMNS)}`];
  return message === undefined ? [] : [clean(message, 2 * MAX_VALUE_COLUMNS)];
}

function clean(text: string, columns: number): string {
  return truncateEnd(sanitizeForScreen(text).replaceAll(/\s+/g, ' ').trim(), columns);
}
