import type { Agent } from '../../contracts/agent.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { PastRunEvent, PastTurns } from '../../contracts/session.ts';
import type { Tool } from '../../contracts/tool.ts';
import { findTool, getCallTitle, prepareCall } from '../../engine/tool-calls/find-tool.ts';
import { buildPastEvents } from '../../session/resume/past-events.ts';
import type { Session } from '../../session/session.ts';
import { readSessionForResume } from '../../session/store/read-session-for-resume.ts';

type PastDeps = {
  readonly agent: Agent;
  readonly session: Session;
  readonly tools: () => readonly Tool[];
};

/** Creates the earlier turns of a conversation for display. Missing titles of calls are computed by their tools. */
export function createPastTurns({ agent, session, tools }: PastDeps): PastTurns {
  const { opened, transcript } = session;
  const computeTitle = (name: string, input: JsonValue) => {
    const block = { type: 'tool_use', id: '', name, input } as const;
    const tool = findTool(block, tools());
    return tool === undefined ? '' : getCallTitle(block, tool);
  };
  const addTitles = (events: readonly PastRunEvent[]) =>
    events.map((past) => withTitle(withToolName(past, tools()), computeTitle));
  return {
    earlier: addTitles(opened.past),
    async loadLatest(turns) {
      await transcript.sync();
      const { path } = transcript;
      const read = path === undefined ? undefined : await readSessionForResume(path).catch(() => undefined);
      return addTitles(buildPastEvents(agent.state().messages, read?.records ?? [], turns));
    },
    getTitle: computeTitle,
  };
}

/** Names the tool of a call that was made in the format of another assistant, as it was shown live. */
function withToolName(past: PastRunEvent, tools: readonly Tool[]): PastRunEvent {
  const { event } = past;
  if (event.type !== 'tool_start' || tools.some(({ name }) => name === event.tool)) return past;
  const block = { type: 'tool_use', id: event.callId, name: event.tool, input: event.input } as const;
  const tool = findTool(block, tools);
  const prepared = tool && prepareCall(block, tool);
  if (tool === undefined || prepared?.ok !== true) return past;
  return { ...past, event: { ...event, tool: tool.name, input: prepared.call.input } };
}

function withTitle(past: PastRunEvent, computeTitle: PastTurns['getTitle']): PastRunEvent {
  const { event } = past;
  if (event.type !== 'tool_start' || event.title !== '') return past;
  return { ...past, event: { ...event, title: computeTitle(event.tool, event.input) } };
}
