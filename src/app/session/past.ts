import type { Agent } from '../../contracts/agent.ts';
import type { JsonValue } from '../../contracts/json.ts';
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
  const titleOfCall = (name: string, input: JsonValue) => {
    const tool = findTool(name, tools());
    return tool === undefined ? '' : titleOf({ type: 'tool_use', id: '', name, input }, tool);
  };
  const named = (events: readonly PastEvent[]) => events.map((past) => withTitle(past, titleOfCall));
  return {
    opening: named(opened.past),
    async latest(turns) {
      await transcript.sync();
      const { path } = transcript;
      const read = path === undefined ? undefined : await readSession(path).catch(() => undefined);
      return named(pastEvents(agent.state().messages, read?.records ?? [], turns));
    },
    titleOf: titleOfCall,
  };
}

function withTitle(past: PastEvent, titleOfCall: Past['titleOf']): PastEvent {
  const { event } = past;
  if (event.type !== 'tool_start' || event.title !== '') return past;
  return { ...past, event: { ...event, title: titleOfCall(event.tool, event.input) } };
}
