import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { JsonObject } from '../../contracts/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { rulesOfTexts } from '../../permissions/rules/collect-rules.ts';
import { bashStatement } from '../../tools/bash/bash.ts';
import { readStatement } from '../../tools/read/read.ts';
import type { Core } from '../core.ts';
import type { QueryDepsSource } from './query-deps.ts';
import type { Toolset } from './toolset.ts';

/** What came of a call outside of a reply. */
export type GatedOutcome = { readonly end: 'done' | 'failed' | 'refused'; readonly text: string };

/** Calls nobody's reply asked for: the same gate, the same tools. */
export type GatedCalls = {
  /** For another program. */
  call(name: string, input: JsonObject): Promise<GatedOutcome>;
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

  async function call(name: string, input: JsonObject, allowed: readonly string[] = []): Promise<GatedOutcome> {
    const tool = toolset.all().find((one) => one.name === name);
    const prepared = tool?.prepare(input);
    if (prepared === undefined) return { end: 'refused', text: `${name} is not available here` };
    if (!prepared.ok) return { end: 'refused', text: prepared.problem };
    const { title, isReadOnly } = prepared.call;
    const callId = `command-${newId()}`;
    const { signal } = new AbortController();
    const rules = rulesOfTexts(allowed, 'allow', { source: 'session', root });
    const asked = { callId, tool: name, title, input: prepared.call.input, cwd: cwd(), isReadOnly };
    const verdict = await deps.gate(bus.port(), { rules: () => rules })(asked, {}, signal);
    if (verdict.behavior === 'deny') return { end: 'refused', text: `not run: ${verdict.message}` };
    try {
      const context = { callId, cwd: cwd(), signal, report: () => undefined, ask: async () => undefined };
      const { content, isError } = await prepared.call.call(context);
      const text =
        typeof content === 'string'
          ? content
          : content.map((block) => (block.type === 'text' ? block.text : '(a picture)')).join('\n');
      return { end: isError === true ? 'failed' : 'done', text };
    } catch (thrown) {
      return { end: 'failed', text: messageOf(thrown) };
    }
  }

  /** As it stands in the prompt in the place of the line. */
  const spliced = async (outcome: Promise<GatedOutcome>) => {
    const { end, text } = await outcome;
    return end === 'refused' ? `(${text})` : text;
  };

  return {
    call: (name, input) => call(name, input),
    shell: (command, allowed) => spliced(call(bashStatement.name, { command }, allowed)),
    async file(path) {
      const file = path.startsWith('~/') ? join(environment.home, path.slice(2)) : resolve(cwd(), path);
      // What is not there is asked about nowhere, nor told of.
      if ((await ifThere(stat(file)))?.isFile() !== true) return undefined;
      return spliced(call(readStatement.name, { file_path: file }));
    },
  };
}
