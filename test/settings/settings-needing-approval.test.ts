import { expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../src/contracts/json.ts';
import { SETTING_KEYS, settingsSchema } from '../../src/contracts/setting-keys.ts';
import { parseSettingsLayer } from '../../src/settings/parse-settings-layer.ts';
import { describeSettingsEffects, fingerprintSettingsGrants } from '../../src/settings/settings-needing-approval.ts';

/** What narrows, names or delays, and starts or sends nothing by itself. */
const HARMLESS = ['$schema', 'type', 'matcher', 'if', 'model', 'statusMessage', 'defaultMode', 'grant', 'onFailure'];

type Shape = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly $ref?: string;
  readonly format?: string;
  readonly propertyNames?: { readonly enum?: readonly string[] };
};

/** Something of this shape in which every text is one that can be found again, and what these are. */
function filled(shape: Shape, name: string, marks: string[]): JsonValue | undefined {
  const [first] = shape.anyOf ?? shape.oneOf ?? [];
  if (first !== undefined) return filled(first, name, marks);
  if (shape.enum !== undefined) return shape.enum[0];
  if (shape.const !== undefined) return shape.const;
  if (shape.type === 'boolean') return true;
  if (shape.type === 'string' || shape.$ref !== undefined || Object.keys(shape).length === 0) {
    const mark = `${shape.format === 'uri' ? 'https://' : ''}mark${marks.length}of-${name.toLowerCase()}`;
    if (!HARMLESS.includes(name)) marks.push(mark);
    return mark;
  }
  if (shape.type === 'array') return [filled(shape.items ?? {}, name, marks) ?? name];
  if (shape.type === 'object' || shape.properties !== undefined) {
    const named = Object.entries(shape.properties ?? {}).flatMap(([key, each]) => {
      const value = filled(each, key, marks);
      return value === undefined ? [] : [[key, value]];
    });
    const more = shape.additionalProperties;
    const key = shape.propertyNames?.enum?.[0] ?? 'any-name';
    const value = typeof more === 'object' ? filled(more, name, marks) : undefined;
    return Object.fromEntries([...named, ...(value === undefined ? [] : [[key, value]])]);
  }
  return undefined;
}

const POWERS = SETTING_KEYS.filter((row) => row.needsApproval).map(({ key }) => key);

test.each(POWERS)('whatever a project sets in %s is shown in full before it applies', (key) => {
  const { properties = {} } = z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' }) as Shape;
  const [top = '', inner] = key.split('.');
  const shape = inner === undefined ? properties[top] : properties[top]?.properties?.[inner];
  if (shape === undefined) throw new Error(`There is no ${key}.`);
  const marks: string[] = [];
  const value = filled(shape, key, marks) ?? true;
  const settings: JsonObject = inner === undefined ? { [top]: value } : { [top]: { [inner]: value } };
  const { layer, problems } = parseSettingsLayer(JSON.stringify(settings), '/p/.claude/settings.json', 'project');
  expect(problems).toEqual([]);
  expect(fingerprintSettingsGrants(layer.settings)).not.toBe('nothing');
  const effects = describeSettingsEffects(layer);
  expect(effects.length).toBeGreaterThan(0);
  const shown = effects.map(({ text }) => text).join('\n');
  expect(marks.filter((mark) => !shown.includes(mark))).toEqual([]);
});
