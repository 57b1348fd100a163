import { expect, test } from 'vitest';
import { convertMcpContentBlock, convertMcpResult } from '../../src/mcp/content.ts';
import { createMcpServerTools, type McpServerToolsOptions } from '../../src/mcp/tools.ts';

const PARTS: McpServerToolsOptions = { server: 's', prefix: 's', callTool: async () => ({ content: '' }) };

function prepared(schema: object, input: Readonly<Record<string, string>>, annotations = {}) {
  const [tool] = createMcpServerTools([{ name: 't', inputSchema: { type: 'object', ...schema }, annotations }], PARTS);
  const read = tool?.prepare(input);
  return read?.ok === true ? read.call : read?.problem;
}

test('a field with a default is left to the server, also if its schema requires it', () => {
  const schema = { properties: { a: { default: 1 }, b: {} }, required: ['a', 'b'] };
  expect(prepared(schema, { b: 'x' })).toMatchObject({ input: { b: 'x' } });
  expect(prepared(schema, { a: 'x' })).toMatch(/lacks "b"/);
});

test('read-only calls run in parallel; no other claim of a server is believed', () => {
  expect(prepared({}, {}, { readOnlyHint: true })).toMatchObject({ isConcurrencySafe: true, isReadOnly: false });
  expect(prepared({}, {})).toMatchObject({ isConcurrencySafe: false, isReadOnly: false });
});

test('text content is decoded, other binary content is described', () => {
  const blob = (mimeType: string, bytes: string) =>
    convertMcpContentBlock({
      type: 'resource',
      resource: { uri: 'a:b', mimeType, blob: Buffer.from(bytes).toString('base64') },
    });
  expect(blob('text/markdown', '# Grüße')).toEqual([{ type: 'text', text: '[resource a:b]\n# Grüße' }]);
  expect(blob('application/vnd.api+json', '{}')).toEqual([{ type: 'text', text: '[resource a:b]\n{}' }]);
  const broken = { uri: 'a:b', mimeType: 'text/plain', blob: Buffer.from([0xff, 0xfe]).toString('base64') };
  expect(JSON.stringify(convertMcpContentBlock({ type: 'resource', resource: broken }))).toContain('left out');
});

test('content that no model can read is stored, and its path is returned', async () => {
  const kept: string[] = [];
  const keep = async (bytes: Uint8Array, type: string) => {
    kept.push(`${type} ${bytes.length}`);
    return `kept in /k/${kept.length}`;
  };
  const data = Buffer.from('abc').toString('base64');
  const content = [
    { type: 'audio', mimeType: 'audio/WAV; x=1', data },
    { type: 'image', mimeType: 'image/png', data },
    { type: 'resource', resource: { uri: 'a:zip', mimeType: 'application/zip', blob: data } },
    { type: 'resource', resource: { uri: 'a:text', mimeType: 'text/plain', blob: data } },
    { type: 'text', text: 'the same again' },
  ] as const;
  const outcome = await convertMcpResult({ content: [...content], structuredContent: { a: 1 } }, keep);
  expect(kept).toEqual(['audio/wav 3', 'application/zip 3']);
  expect(outcome).toMatchObject({ structured: { a: 1 } });
  expect(outcome.content).toMatchObject([
    { text: '{\n  "a": 1\n}' },
    { text: '[a sound, audio/WAV; x=1, 3 B, kept in /k/1]' },
    { type: 'image' },
    { text: '[resource a:zip, application/zip, 3 B, kept in /k/2]' },
    { text: '[resource a:text]\nabc' },
  ]);
});
