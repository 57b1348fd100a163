/** The faulty line of the sample project and its correction. */
export const SAMPLE_PROJECT_FIX = {
  file: 'src/cart.mjs',
  before: '  return subtotal - percent;',
  after: '  return subtotal * (1 - percent / 100);',
} as const;

/** Import path of the cart module within the sample project. */
const CART = '../src/cart.mjs';

/** Contents of the sample project by path. */
export const DEMO_PROJECT_FILES: Readonly<Record<string, string>> = {
  'README.md': `# Corner shop

A small shopping cart, written for the built-in demo of ouro.
Everything here is yours to break: the folder is temporary.

    node --test              runs the tests (one fails, until it is fixed)
    node bin/receipt.mjs     prints a receipt
`,
  'package.json': `${JSON.stringify({ name: 'corner-shop', version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/cart.mjs': `/** Adds up the lines of a cart, in whole cents. */
export function subtotalOf(lines) {
  return lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
}

/** Takes a discount in percent off a subtotal. */
export function applyDiscount(subtotal, percent) {
${SAMPLE_PROJECT_FIX.before}
}

/** Returns the amount the customer pays. */
export function totalOf(lines, percent = 0) {
  return applyDiscount(subtotalOf(lines), percent);
}
`,
  'test/cart.test.mjs': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { subtotalOf, totalOf } from '${CART}';

const lines = [
  { name: 'Teapot', price: 15000, quantity: 1 },
  { name: 'Cup', price: 2500, quantity: 2 },
];

test('a subtotal is the sum of its lines', () => {
  assert.equal(subtotalOf(lines), 20000);
});

test('ten percent off 200.00 is 180.00', () => {
  assert.equal(totalOf(lines, 10), 18000);
});
`,
  'bin/receipt.mjs': `import { subtotalOf, totalOf } from '${CART}';

const lines = [
  { name: 'Teapot', price: 15000, quantity: 1 },
  { name: 'Cup', price: 2500, quantity: 2 },
];
const money = (cents) => (cents / 100).toFixed(2).padStart(8);

for (const { name, price, quantity } of lines) console.log(\`\${quantity} x \${name.padEnd(10)}\${money(price * quantity)}\`);
console.log(\`subtotal      \${money(subtotalOf(lines))}\`);
console.log(\`with 10 % off \${money(totalOf(lines, 10))}\`);
`,
};
