import { expect, test } from 'vitest';
import { findFailedTests } from '../../../../src/ui/widgets/tool-calls/failed-tests.ts';

/** What runners print about a test that expected 180 and got 160. */
const OUTPUTS: readonly (readonly [string, string, object])[] = [
  [
    'TAP',
    `# Subtest: cart
    ok 1 - adds up
    not ok 2 - takes the discount once
      ---
      duration_ms: 0.5
      location: '/p/test.mjs:6:1'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:

        160 !== 180
      code: 'ERR_ASSERTION'
      expected: 180
      actual: 160
      operator: 'strictEqual'
      stack: |-
        TestContext.<anonymous> (file:///p/test.mjs:7:10)
      ...
not ok 1 - cart
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
# fail 1`,
    { name: 'takes the discount once', expected: '180', actual: '160', place: '/p/test.mjs:6' },
  ],
  [
    'the spec reporter of Node.js',
    `✔ adds up (0.3ms)
✖ takes the discount once (1.2ms)
ℹ tests 2
✖ failing tests:

test at test.mjs:6:1
✖ takes the discount once (1.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  160 !== 180

      at TestContext.<anonymous> (file:///p/test.mjs:7:10)`,
    { name: 'takes the discount once', expected: '180', actual: '160', place: '/p/test.mjs:7' },
  ],
  [
    'Vitest',
    ` ❯ test/cart.test.ts (2 tests | 1 failed) 5ms
   × takes the discount once 4ms
 FAIL  test/cart.test.ts > cart > takes the discount once
AssertionError: expected 160 to be 180 // Object.is equality

- Expected
+ Received

- 180
+ 160

 ❯ test/cart.test.ts:6:20
      4| test('x', () => {`,
    { name: 'cart > takes the discount once', expected: '180', actual: '160', place: 'test/cart.test.ts:6' },
  ],
  [
    'Jest',
    `FAIL src/cart.test.js
  ● cart › takes the discount once

    expect(received).toBe(expected) // Object.is equality

    Expected: 180
    Received: 160

      at Object.toBe (node_modules/expect/build/index.js:1:2)
      at Object.<anonymous> (src/cart.test.js:6:20)`,
    { name: 'cart › takes the discount once', expected: '180', actual: '160', place: 'src/cart.test.js:6' },
  ],
  [
    'pytest',
    `________________ test_discount ________________

    def test_discount():
>       assert total() == 180
E       assert 160 == 180
E        +  where 160 = total()

tests/test_cart.py:6: AssertionError
=========== short test summary info ===========
FAILED tests/test_cart.py::test_discount - assert 160 == 180`,
    { name: 'test_discount', place: 'tests/test_cart.py:6' },
  ],
  [
    'Go',
    `--- FAIL: TestDiscount (0.00s)
    cart_test.go:12: got 160, want 180
FAIL
exit status 1`,
    { name: 'TestDiscount', expected: '180', actual: '160', place: 'cart_test.go:12' },
  ],
  [
    'Cargo',
    `test tests::discount ... FAILED

---- tests::discount stdout ----
thread 'tests::discount' panicked at src/lib.rs:10:9:
assertion \`left == right\` failed
  left: 160
 right: 180`,
    { name: 'tests::discount', expected: '180', actual: '160', place: 'src/lib.rs:10' },
  ],
  [
    'Bun',
    `error: expect(received).toBe(expected)

Expected: 180
Received: 160

      at <anonymous> (/p/cart.test.ts:6:20)
(fail) takes the discount once [0.20ms]`,
    { name: 'takes the discount once', expected: '180', actual: '160', place: '/p/cart.test.ts:6' },
  ],
  [
    'a test that throws',
    `✖ takes the discount once (1.2ms)
  TypeError: total is not a function
      at TestContext.<anonymous> (file:///p/test.mjs:7:10)`,
    { name: 'takes the discount once', message: 'total is not a function', place: '/p/test.mjs:7' },
  ],
];

test.each(OUTPUTS)('a failing test of %s is found once, with its values and its location', (_, output, failed) => {
  const found = findFailedTests(output.split('\n'));
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject(failed);
});

test.each(['npm ERR! missing script: x', 'error: cannot find main.c', 'ok 1 - fine\n# fail 0', '1) one\n2) two'])(
  'the output "%s" has no failed test',
  (output) => {
    expect(findFailedTests(output.split('\n'))).toEqual([]);
  },
);

test('two tests with different names stay separate', () => {
  const found = findFailedTests(['not ok 1 - adds', 'not ok 2 - also adds', 'not ok 3 - takes a > b']);
  expect(found.map(({ name }) => name)).toEqual(['adds', 'also adds', 'takes a > b']);
});
