import type { JsonObject, JsonValue } from '../../../src/contracts/json.ts';
import type { ServerEvent } from './dialect.ts';

/** A recorded stream with one fault. */
export type StreamVariant = {
  readonly name: string;
  readonly body: string;
  /** The field that was changed, if the events are still in order. */
  readonly path: FieldPath;
  /** True if the change gave something another name, which a newer API may do with what ouro does not know. */
  readonly isRenamed: boolean;
};

type FieldPath = readonly (string | number)[];
type Event = { readonly event: string; readonly data: JsonValue };
type Framing = (event: ServerEvent) => string;

/** Stands for a field that is left out. */
const MISSING = Symbol('missing');
type Replacement = JsonValue | typeof MISSING;
const REPLACEMENTS: readonly Replacement[] = [null, 7, true, 'odd', '', [], {}, MISSING];

/** Lists every variant of a recorded stream with one fault in one event, or with the same one in all events. */
export function listStreamVariants(recorded: readonly ServerEvent[], frame: Framing): readonly StreamVariant[] {
  const events = recorded.map(({ event, data }): Event => ({ event, data: JSON.parse(JSON.stringify(data)) }));
  const all = [
    ...events.flatMap((_, at) => [...brokenFrames(events, at, frame), ...changedFields(events, at, frame)]),
    ...changedEverywhere(events, frame),
  ];
  const bodies = new Map(all.map((variant) => [variant.body, variant]));
  bodies.delete(events.map(frame).join(''));
  return [...bodies.values()];
}

/** Faults of the transport: an event is lost, repeated, moved, cut, or is no JSON. */
function brokenFrames(events: readonly Event[], at: number, frame: Framing): readonly StreamVariant[] {
  const frames = events.map(frame);
  const own = frames[at] ?? '';
  const [before, after] = [frames.slice(0, at), frames.slice(at + 1)];
  const variants: readonly (readonly [string, readonly string[]])[] = [
    ['is missing', [...before, ...after]],
    ['comes twice', [...before, own, own, ...after]],
    ['is late', [...before, ...after.slice(0, 1), own, ...after.slice(1)]],
    ['is first', [own, ...before, ...after]],
    ['is last', [...before, ...after, own]],
    ['comes again after the end', [...frames, own]],
    ['never comes, nor what follows', before],
    ['breaks off, and so does the body', [...before, own.slice(0, own.length / 2)]],
    ['breaks off', [...before, own.replace(/[\s\S]{3}(?=\s*$)/, ''), ...after]],
    ['is no JSON', [...before, own.replace('{', '{{'), ...after]],
    ['has no data', [...before, own.replace(/data: .*/, 'data:'), ...after]],
  ];
  return variants.map(([what, parts]) => named(`${at} ${events[at]?.event} ${what}`, parts.join('')));
}

function named(name: string, body: string, path: FieldPath = [], isRenamed = false): StreamVariant {
  return { name, body, path, isRenamed };
}

/** Each field of an event, and the event itself, with values it should not have. */
function changedFields(events: readonly Event[], at: number, frame: Framing): readonly StreamVariant[] {
  const event = events[at];
  if (event === undefined) return [];
  return [[], ...listPaths(event.data)].flatMap((path) =>
    [...REPLACEMENTS, [readField(event.data, path)]].map((value) => {
      const changed = { ...event, data: replaceField(event.data, path, value) };
      const name = `${at} ${event.event}: ${path.join('.')} is ${describeValue(value)}`;
      return named(name, events.with(at, changed).map(frame).join(''), path, isName(path, value));
    }),
  );
}

/** The same change in every event that has the field; in the last one it may be intact. */
function changedEverywhere(events: readonly Event[], frame: Framing): readonly StreamVariant[] {
  const paths = new Map(events.flatMap(({ data }) => listPaths(data).map((path) => [path.join('.'), path])));
  return [...paths.values()].flatMap((path) =>
    REPLACEMENTS.flatMap((value) =>
      [events.length, events.length - 1].map((end) => {
        const name = `${path.join('.')} is ${describeValue(value)} in all${end < events.length ? ' but the last' : ''}`;
        const changed = events.map((event, at) =>
          at < end && hasField(event.data, path) ? { ...event, data: replaceField(event.data, path, value) } : event,
        );
        return named(name, changed.map(frame).join(''), path, isName(path, value));
      }),
    ),
  );
}

const describeValue = (value: Replacement) => (value === MISSING ? 'missing' : JSON.stringify(value).slice(0, 40));
const isName = (path: FieldPath, value: Replacement) => path.at(-1) === 'type' && typeof value === 'string';

function listPaths(value: JsonValue, at: FieldPath = []): readonly FieldPath[] {
  const children = listChildren(value).map(([key, child]): [FieldPath, JsonValue] => [[...at, key], child]);
  return children.flatMap(([path, child]) => [path, ...listPaths(child, path)]);
}

function listChildren(value: JsonValue): readonly (readonly [string | number, JsonValue])[] {
  if (isList(value)) return value.map((child, index) => [index, child]);
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, child]) => (child === undefined ? [] : [[key, child] as const]))
    : [];
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

function readField(value: JsonValue, path: FieldPath): JsonValue {
  const [first, ...rest] = path;
  const child = listChildren(value).find(([key]) => key === first)?.[1];
  return first === undefined ? value : readField(child ?? null, rest);
}

function hasField(value: JsonValue, [first, ...rest]: FieldPath): boolean {
  const child = listChildren(value).find(([key]) => key === first);
  return first === undefined || (child !== undefined && hasField(child[1], rest));
}

function replaceField(value: JsonValue, [first, ...rest]: FieldPath, by: Replacement): JsonValue {
  if (first === undefined) return by === MISSING ? {} : by;
  const changed = listChildren(value).flatMap(([key, child]): (readonly [string | number, JsonValue])[] => {
    if (key !== first) return [[key, child]];
    return rest.length === 0 && by === MISSING ? [] : [[key, replaceField(child, rest, by)]];
  });
  const object: JsonObject = Object.fromEntries(changed);
  return isList(value) ? changed.map(([, child]) => child) : object;
}
