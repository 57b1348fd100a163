import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { ServedOutcome, ServedTool } from '../../contracts/face/host.ts';
import type { ToolProgress } from '../../contracts/tool.ts';
import { askClient } from './ask-client.ts';
import type { Offer, ServedCall } from './offer.ts';
import { servedFiles } from './served-files.ts';
import { servedPrompts } from './served-prompts.ts';

/** What a conversation offers to other programs: tools behind its gate, its commands and skills, and the files of its folder. */
export function conversationOffer(conversation: Conversation): Offer {
  const { info, control } = conversation;
  const { version, folder } = info();
  const files = servedFiles(conversation);
  return {
    name: 'ouro',
    version,
    instructions: `The tools work in ${folder}; paths are absolute. What the rules of ouro do not allow is asked where you can ask, and refused where you cannot.`,
    tools: () =>
      (control?.servedTools?.() ?? []).map(({ spec: { name, description, input_schema: schema }, label, kind }) => ({
        name,
        title: label,
        description,
        inputSchema: { ...schema, type: 'object' as const },
        annotations: HINTS[kind],
      })),
    async call(name, input, call) {
      if (control?.servedTools?.().every(({ spec }) => spec.name !== name)) return undefined;
      const caller = { signal: call.signal, report: progressTeller(call), ask: askClient(call) };
      const outcome = await control?.callServed?.(name, input, caller);
      return resultOf(outcome ?? { end: 'failed', content: 'ouro is leaving.' });
    },
    prompts: servedPrompts(conversation),
    resources: files,
    complete: files.complete,
  };
}

/** What a client may make of a tool before it calls it. */
const HINTS: Readonly<Record<ServedTool['kind'], ToolAnnotations>> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  changes: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  runs: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

/** Tells what a call reports, each time a little further. */
function progressTeller({ progress }: ServedCall): (report: ToolProgress) => void {
  let steps = 0;
  return (report) => {
    steps += 1;
    const message = wordsOf(report);
    progress({ progress: steps, ...(message === '' ? {} : { message }) });
  };
}

function wordsOf(report: ToolProgress): string {
  if (report.kind === 'output') return report.tail.at(-1) ?? '';
  return report.kind === 'note' ? report.text : report.line;
}

function resultOf({ end, content }: ServedOutcome): CallToolResult {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return {
    content: blocks.map((block) => {
      if (block.type === 'text') return { type: 'text', text: block.text };
      const { media_type: mimeType, data } = block.source;
      if (block.type === 'image') return { type: 'image', mimeType, data };
      return { type: 'resource', resource: { uri: 'ouro://result', mimeType, blob: data } };
    }),
    ...(end === 'done' ? {} : { isError: true }),
  };
}
