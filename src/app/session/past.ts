import type { Agent } from '../../contracts/agent.ts';
import type { Past, PastEvent } from '../../contracts/session.ts';
import type { Tool } from '../../contracts/tool.ts';
import { findTool, titleOf } from '../../engine/known-tools.ts';
import { pastEvents } from '../../session/past/past-events.ts';
import { readSession } from '../../session/stored/store.ts';
import type { Session } from './session.ts';

type Needs = {
  readonly agent: Pick<Agent, 'state'>;
  readonly session: Pick<Session, 'opened' | 'transcript'>;
  readonly tools: () => readonly Tool[];
};

/** What was said and done before, for whoever shows it; the tools say what their calls are about. */
export function createPast({ agent, session, tools }: Needs): Past {
  const { opened, transcript } = session;
  const named = (events: readonly PastEvent[]) => events.map((past) => withTitle(past, tools()));
  return {
    opening: named(opened.past),
    async latest(turns) {
      await transcript.sync();
      const { path } = transcript;
      const read = path === undefined ? undefined : await readSession(path).catch(() => undefined);
      return named(pastEvents(agent.state().messages, read?.records ?? [], turns));
    },
  };
}

/** A tool that is not there any more leaves its call without a title. */
function withTitle(past: PastEvent, tools: readonly Tool[]): PastEvent {
  const { event } = past;
  if (event.type !== 'tool_start' || event.title !== '') return past;
  const { callId: id, tool: name, input } = event;
  const tool = findTool(name, tools);
  if (tool === undefined) return past;
  return { ...past, event: { ...event, title: titleOf({ type: 'tool_use', id, name, input }, tool) } };
}
