import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ServedCaller, ServedOutcome } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { rulesOfTexts } from '../../permissions/rules/collect-rules.ts';
import { bashStatement } from '../../tools/bash/bash.ts';
import { readStatement } from '../../tools/read/read.ts';
import type { Core } from '../core.ts';
import type { QueryDepsSource } from './query-deps.ts';
import type { Toolset } from './toolset.ts';

/** Calls nobody's reply asked for: the same gate, the same tools. */
export type GatedCalls = {
  /** For another program. */
  call(name: string, input: JsonObject, caller: ServedCaller): Promise<ServedOutcome>;
  /** A shell line in the file of a command, as it stands in the prompt; the file's own rules allow more. */
  shell(command: string, allowed: readonly string[]): Promise<string>;
  /** `undefined` where there is no such file. */
  file(path: string): Promise<string | undefined>;
};

type Needs = { readonly deps: QueryDepsSource; readonly toolset: Toolset };

export function createGatedCalls(
  { bus, live, cwd: root, environment, newId }: Core,
  { deps, toolset }: Needs,
): GatedCalls {
  const cwd = () => live.now().cwd;

  async function call(
    name: string,
    input: JsonObject,
    { signal, report, ask }: ServedCaller,
    allowed: readonly string[] = [],
  ): Promise<ServedOutcome> {
    const tool = toolset.all().find((one) => one.name === name);
    const prepared = tool?.prepare(input);
    if (prepared === undefined) return { end: 'refused', content: `${name} is not available here` };
    if (!prepared.ok) return { end: 'refused', content: prepared.problem };
    const { title, isReadOnly } = prepared.call;
    const callId = `command-${newId()}`;
    const rules = rulesOfTexts(allowed, 'allow', { source: 'session', root });
    const asked = { callId, tool: name, title, input: prepared.call.input, cwd: cwd(), isReadOnly };
    const verdict = await deps.gate(bus.port(), {
      rules: () => rules,
      ...(ask === undefined ? {} : { ask }),
    })(asked, {}, signal);
    if (verdict.behavior === 'deny') return { end: 'refused', content: `not run: ${verdict.message}` };
    try {
      const context = { callId, cwd: cwd(), signal, report, ask: async () => undefined };
      const { content, isError } = await prepared.call.call(context);
      return { end: isError === true ? 'failed' : 'done', content };
    } catch (thrown) {
      return { end: 'failed', content: messageOf(thrown) };
    }
  }

  /** As it stands in the prompt in the place of the line. */
  const spliced = async (outcome: Promise<ServedOutcome>) => {
    const { end, content } = await outcome;
    const text =
      typeof content === 'string'
        ? content
        : content.map((block) => (block.type === 'text' ? block.text : '(a picture)')).join('\n');
    return end === 'refused' ? `(${text})` : text;
  };

  return {
    call: (name, input, caller) => call(name, input, caller),
    shell: (command, allowed) => spliced(call(bashStatement.name, { command }, nobody(), allowed)),
    async file(path) {
      const file = path.startsWith('~/') ? join(environment.home, path.slice(2)) : resolve(cwd(), path);
      // What is not there is asked about nowhere, nor told of.
      if ((await ifThere(stat(file)))?.isFile() !== true) return undefined;
      return spliced(call(readStatement.name, { file_path: file }, nobody()));
    },
  };
}

/** Nobody hears of it, stops it or can be asked. */
const nobody = (): ServedCaller => ({ signal: new AbortController().signal, report: () => undefined, ask: undefined });
