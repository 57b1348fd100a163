import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSettingKey, findSettingKeys } from '../../src/cli/commands/settings.ts';
import { SETTING_KEYS, settingsSchema } from '../../src/contracts/setting-keys.ts';
import { formatMarkdownTable } from '../../src/lib/text/markdown.ts';

const PAGE = join(import.meta.dirname, '../../docs/settings.md');
const LIST = /(?<=^<!-- This list is made from .*-->\n\n)[\s\S]*?(?=\n*<!-- end of keys -->)/m;

test('every key of the schema has a row, and nested rows are found by their name', () => {
  const tops = new Set(SETTING_KEYS.map(({ key }) => key.split('.')[0]));
  expect([...tops]).toEqual(Object.keys(settingsSchema.shape));
  expect(findSettingKeys('sandbox').map(({ key }) => key)).toEqual([
    'sandbox.enabled',
    'sandbox.network',
    'sandbox.allowedDomains',
    'sandbox.deniedDomains',
    'sandbox.strictAllowlist',
    'sandbox.allowUnixSockets',
    'sandbox.allowAllUnixSockets',
    'sandbox.allowLocalBinding',
    'sandbox.allowRead',
    'sandbox.allowWrite',
    'sandbox.allowEnv',
    'sandbox.denyRead',
    'sandbox.denyWrite',
    'sandbox.autoAllow',
    'sandbox.failIfUnavailable',
  ]);
  expect(findSettingKeys('env.PATH').map(({ key }) => key)).toEqual(['env']);
  expect(findSettingKeys('baseUrl').map(describeSettingKey)).toEqual([
    'baseUrl: Base URL of the API. Default: api.anthropic.com. An edit takes effect at the next session. Only user and managed settings may set it.',
  ]);
});

test('docs/settings.md lists the current keys; run this test with -u to update it', async () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(page).toMatch(LIST);
  await expect(page.replace(LIST, keysTable)).toMatchFileSnapshot(PAGE);
});

function keysTable(): string {
  const rows = SETTING_KEYS.map(({ key, description, defaultText, takesEffect, isUserOnly }) => {
    const from = isUserOnly === true ? ' Not from a project.' : '';
    return [`\`${key}\``, defaultText, takesEffect, `${description}${from}`];
  });
  return formatMarkdownTable([['key', 'default', 'takes effect', 'description'], ...rows]).join('\n');
}
