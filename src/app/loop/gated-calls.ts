import { resolve } from 'node:path';
import type { AgentPort } from '../../agent/parts.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { rulesOfTexts } from '../../permissions/rules/collect-rules.ts';
import type { LoopParts } from './loop.ts';

export type GatedParts = {
  readonly port: () => AgentPort | undefined;
  readonly loop: Pick<LoopParts, 'gate' | 'tools'>;
  readonly cwd: () => string;
  /** Where relative rules begin. */
  readonly root: string;
  readonly newId: () => string;
};

/** What came of a call outside of a reply. */
export type GatedOutcome = { readonly end: 'done' | 'failed' | 'refused'; readonly text: string };

/** Calls nobody's reply asked for (a line in a command's file, another program): the same gate, the same tools. */
export function gatedCalls({ port, loop, cwd, root, newId }: GatedParts) {
  async function call(name: string, input: JsonObject, allowed: readonly string[] = []): Promise<GatedOutcome> {
    const attached = port();
    const prepared = loop
      .tools()
      .find((tool) => tool.name === name)
      ?.prepare(input);
    if (attached === undefined || prepared === undefined)
      return { end: 'refused', text: `${name} is not available here` };
    if (!prepared.ok) return { end: 'refused', text: prepared.problem };
    const { title, isReadOnly, isDestructive } = prepared.call;
    const callId = `command-${newId()}`;
    const { signal } = new AbortController();
    const allow = rulesOfTexts(allowed, 'allow', { source: 'session', root });
    const asked = { callId, tool: name, title, input: prepared.call.input, cwd: cwd(), isReadOnly, isDestructive };
    const verdict = await loop.gate(attached, { allow })(asked, {}, signal);
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
    callGated: call,
    gatedShell: (command: string, allowed: readonly string[]) => spliced(call('Bash', { command }, allowed)),
    gatedFile: (path: string) => spliced(call('Read', { file_path: resolve(cwd(), path) })),
  };
}
