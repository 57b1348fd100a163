import { expect, test } from 'vitest';
import { parseSessionRecords } from '../../../src/session/records/parse-session-records.ts';

const CONTENTS = { message: { blocks: [] }, messages: [] };
const line = (uuid: string, type = 'title') =>
  JSON.stringify({ v: 1, type, uuid, title: uuid, by: 'person', ...(type === 'title' ? {} : CONTENTS) });
const ids = (text: string) => parseSessionRecords(text).records.map(({ uuid }) => uuid);

test.each([
  ['a torn line', `${line('a')}\n${line('b').slice(0, -5)}\n${line('c')}\n`, ['a', 'c'], { damaged: 1 }],
  ['two lines joined', `${line('a')}${line('b')}\n${line('c')}\n`, ['a', 'b', 'c'], { salvaged: 1 }],
  [
    'a torn line joined with a whole one',
    `${line('a').slice(0, 30)}${line('b')}\n`,
    ['b'],
    { salvaged: 1, damaged: 1 },
  ],
  ['NUL bytes', `${line('a')}\n\0\0\0\0\n\0${line('b')}\n`, ['a', 'b'], { salvaged: 2 }],
  ['a doubled line', `${line('a')}\n${line('a')}\n${line('b')}\n`, ['a', 'b'], { doubled: 1 }],
  ['CRLF endings', `${line('a')}\r\n${line('b')}\r\n`, ['a', 'b'], { salvaged: 2 }],
  ['a BOM', `\uFEFF${line('a')}\n${line('b')}\n`, ['a', 'b'], { salvaged: 1 }],
  ['no newline at the end', `${line('a')}\n${line('b')}`, ['a', 'b'], {}],
  [
    'a record without its contents',
    `${line('a')}\n${JSON.stringify({ v: 1, type: 'user', uuid: 'x' })}\n${JSON.stringify({ v: 1, type: 'system', uuid: 'y', data: 3 })}\n${line('b')}\n`,
    ['a', 'b'],
    { damaged: 2 },
  ],
  ['a line that is no record', `${line('a')}\n[1,2]\n"words"\n${line('b')}\n`, ['a', 'b'], { damaged: 2 }],
])('%s is survived and counted', (_, text, expected, counts) => {
  expect(ids(text)).toEqual(expected);
  expect(parseSessionRecords(text)).toMatchObject({ damaged: 0, salvaged: 0, doubled: 0, ...counts });
});

test('unknown records are kept and ignored', () => {
  expect(ids(`${line('a')}\n${line('b', 'from-the-future')}\n`)).toEqual(['a', 'b']);
});
