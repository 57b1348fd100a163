import type { Conversation } from '../../contracts/face/conversation.ts';
import type { HookFire } from '../../hooks/create-hooks.ts';
import { effortInstead } from '../../model/efforts.ts';
import type { Core } from '../core.ts';
import type { Loop } from '../loop/loop.ts';
import type { TurnLog } from '../loop/turn-log.ts';

const SWITCH_MS = 60_000;

type Needs = {
  readonly learn: Loop['learn'];
  readonly turnLog: Pick<TurnLog, 'expect' | 'warnOfResend'>;
  readonly hooks: HookFire;
};

/** Another model from the next turn on; one that cannot be asked is refused with what it lacks. */
export function createSetModel(core: Core, { learn, turnLog, hooks }: Needs): Conversation['setModel'] {
  const { live, model: choice } = core;
  return async (name) => {
    if (name?.trim() === '') return { ok: false, why: 'Say which model.' };
    const found = name === undefined ? { ok: true as const, model: choice.model } : choice.find(name);
    if (!found.ok) return { ok: false, why: found.problem };
    const { model } = found;
    const refused = await refusedSwitch(live.now().model, model, hooks);
    if (refused !== undefined) return { ok: false, why: refused };
    if (model !== live.now().model) turnLog.warnOfResend(`Switching to ${model}`, model);
    turnLog.expect(`The model changed to ${model}.`);
    await learn([model]);
    live.change({ model });
    tellEffort(core);
    return { ok: true, model };
  };
}

/** A hook may say no to another model. */
async function refusedSwitch(from: string, to: string, hooks: HookFire): Promise<string | undefined> {
  if (from === to || !hooks.has('PreModelSwitch')) return undefined;
  const fields = { from_model: from, to_model: to, requested_model: to };
  const { blocked, permission } = await hooks.fire('PreModelSwitch', fields, AbortSignal.timeout(SWITCH_MS));
  return blocked ?? (permission?.decision === 'deny' ? permission.reason || `${permission.by} refuses it.` : undefined);
}

/** The effort stays with another model as far as that has it. */
function tellEffort({ live, model: { infoOf }, bus }: Core): void {
  const { effort, model } = live.now();
  const text = effortInstead(effort, infoOf(model));
  if (text !== undefined) void bus.tell({ type: 'notice', level: 'warn', topic: 'effort', text });
}
