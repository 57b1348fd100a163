import type { Conversation } from '../../contracts/face/conversation.ts';
import { effortInstead } from '../../model/efforts.ts';
import type { Core } from '../core.ts';
import type { Loop } from '../loop/loop.ts';
import type { TurnLog } from '../loop/turn-log.ts';

type Needs = { readonly learn: Loop['learn']; readonly turnLog: Pick<TurnLog, 'expect' | 'warnOfResend'> };

/** Another model from the next turn on; one that cannot be asked is refused with what it lacks. */
export function createSetModel(core: Core, { learn, turnLog }: Needs): Conversation['setModel'] {
  const { live, model: choice } = core;
  return async (name) => {
    if (name?.trim() === '') return { ok: false, why: 'Say which model.' };
    const found = name === undefined ? { ok: true as const, model: choice.model } : choice.find(name);
    if (!found.ok) return { ok: false, why: found.problem };
    const { model } = found;
    if (model !== live.now().model) turnLog.warnOfResend(`Switching to ${model}`, model);
    turnLog.expect(`The model changed to ${model}.`);
    await learn([model]);
    live.change({ model });
    tellEffort(core);
    return { ok: true, model };
  };
}

/** The effort stays with another model as far as that has it. */
function tellEffort({ live, model: { infoOf }, bus }: Core): void {
  const { effort, model } = live.now();
  const text = effortInstead(effort, infoOf(model));
  if (text !== undefined) void bus.tell({ type: 'notice', level: 'warn', topic: 'effort', text });
}
