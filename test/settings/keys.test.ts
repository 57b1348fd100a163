import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type { Settings } from '../../src/contracts/settings.ts';
import { markdownTable } from '../../src/lib/text/markdown-table.ts';
import { keyLine, keysNamed, SETTING_KEYS, settingsSchema } from '../../src/settings/keys.ts';

const PAGE = join(import.meta.dirname, '../../docs/settings.md');
const LIST = /(?<=^<!-- This list is made from .*-->\n\n)[\s\S]*?(?=\n*<!-- end of keys -->)/m;

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;
/** Hooks are read by their event, providers and models by schemas of their own. */
type Loose = 'hooks' | 'providers' | 'models';
type Read = Frozen<z.output<typeof settingsSchema>>;

test('what the table reads is what the contract promises, key by key', () => {
  expectTypeOf<keyof Read>().toEqualTypeOf<keyof Settings>();
  expectTypeOf<Read>().toExtend<Settings>();
  expectTypeOf<Omit<Settings, Loose>>().toExtend<Omit<Read, Loose>>();
  expectTypeOf<keyof NonNullable<Read['permissions']>>().toEqualTypeOf<keyof NonNullable<Settings['permissions']>>();
  expectTypeOf<keyof NonNullable<Read['timeouts']>>().toEqualTypeOf<keyof NonNullable<Settings['timeouts']>>();
  expectTypeOf<keyof NonNullable<Read['sandbox']>>().toEqualTypeOf<keyof NonNullable<Settings['sandbox']>>();
});

test('every key of the schema has its row, and rows below an object are found by its name', () => {
  const tops = new Set(SETTING_KEYS.map(({ key }) => key.split('.')[0]));
  expect([...tops]).toEqual(Object.keys(settingsSchema.shape));
  expect(keysNamed('sandbox').map(({ key }) => key)).toEqual([
    'sandbox.enabled',
    'sandbox.network',
    'sandbox.allowedDomains',
    'sandbox.deniedDomains',
    'sandbox.strictAllowlist',
    'sandbox.allowUnixSockets',
    'sandbox.allowAllUnixSockets',
    'sandbox.allowLocalBinding',
    'sandbox.allowWrite',
    'sandbox.denyRead',
    'sandbox.denyWrite',
    'sandbox.autoAllow',
    'sandbox.failIfUnavailable',
  ]);
  expect(keysNamed('env.PATH').map(({ key }) => key)).toEqual(['env']);
  expect(keysNamed('baseUrl').map(keyLine)).toEqual([
    'baseUrl: Where the API is. Not set: api.anthropic.com. An edit counts from the next session on. Only your own and managed settings may set it.',
  ]);
});

test('docs/settings.md lists the keys as they are; run this test with -u to write the list anew', async () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(page).toMatch(LIST);
  await expect(page.replace(LIST, keysTable)).toMatchFileSnapshot(PAGE);
});

function keysTable(): string {
  const rows = SETTING_KEYS.map(({ key, sentence, fallback, takesEffect, isOwn }) => {
    const from = isOwn === true ? ' Not from a project.' : '';
    return [`\`${key}\``, fallback, takesEffect, `${sentence}${from}`];
  });
  return markdownTable([['key', 'not set', 'an edit counts', ''], ...rows]).join('\n');
}
