import type { Attempt } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Effort } from '../../contracts/model.ts';
import type { ConversationParts } from '../conversation-parts.ts';

const EFFORTS: Readonly<Record<string, Effort>> = {
  off: 'off',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'max',
  max: 'max',
};

/** Settings that hold from now on and for this process alone: those that can change while it runs. */
export async function changeNow(
  { setModel, live }: Pick<ConversationParts, 'setModel' | 'live'>,
  settings: JsonObject,
): Promise<Attempt> {
  for (const [key, value] of Object.entries(settings)) {
    const effort = key === 'effort' || key === 'effortLevel' ? EFFORTS[String(value)] : undefined;
    if (key === 'model' && (typeof value === 'string' || value === null)) {
      const outcome = await setModel(value ?? undefined);
      if (!outcome.ok) return outcome;
    } else if (effort !== undefined) live.change({ effort, thinkingTokens: undefined });
    else return { ok: false, why: `${key} cannot become ${JSON.stringify(value)} while ouro runs.` };
  }
  return { ok: true };
}
