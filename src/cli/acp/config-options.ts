import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk/unstable';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { Effort } from '../../contracts/model.ts';

const EFFORTS: readonly { readonly value: Effort; readonly name: string }[] = [
  { value: 'auto', name: 'As the model decides' },
  { value: 'off', name: 'No thinking' },
  { value: 'low', name: 'Low' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High' },
  { value: 'xhigh', name: 'Very high' },
  { value: 'max', name: 'Max' },
];

const MODES = [
  { id: 'default', name: 'Ask', description: 'Asks before anything changes' },
  { id: 'acceptEdits', name: 'Accept edits', description: 'Files may change without a question' },
  { id: 'plan', name: 'Plan', description: 'Reads and plans, changes nothing' },
  { id: 'auto', name: 'Judged', description: 'A small model decides what may run, and asks in doubt' },
  { id: 'dontAsk', name: 'Never ask', description: 'What is not allowed is refused' },
];

/** The modes an editor may choose from; the one that asks nothing only where it was chosen at the start. */
export function modesOf(conversation: Conversation): SessionModeState {
  const { mode } = conversation.info();
  const bypass = { id: 'bypassPermissions', name: 'Bypass', description: 'Asks nothing' };
  return { currentModeId: mode, availableModes: mode === 'bypassPermissions' ? [...MODES, bypass] : MODES };
}

/** What an editor shows as pickers beside the prompt: the mode, the model, and how hard it thinks. */
export async function configOptionsOf(conversation: Conversation): Promise<SessionConfigOption[]> {
  const { model, effort, efforts } = conversation.info();
  const known = (await conversation.models()).map(({ id, label }) => ({ value: id, name: label }));
  // A model that stands in no list is chosen all the same.
  const models = known.some(({ value }) => value === model) ? known : [{ value: model, name: model }, ...known];
  const { currentModeId, availableModes } = modesOf(conversation);
  const modes = availableModes.map(({ id, name, description }) => ({
    value: id,
    name,
    description: description ?? null,
  }));
  return [
    { type: 'select', id: 'model', name: 'Model', category: 'model', currentValue: model, options: models },
    {
      type: 'select',
      id: 'effort',
      name: 'Thinking',
      category: 'thought_level',
      currentValue: effort,
      options: EFFORTS.filter(({ value }) => value === effort || efforts.includes(value)),
    },
    { type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue: currentModeId, options: modes },
  ];
}

/** Sets one of them; the sentence says why it could not be. */
export async function setConfigOption(
  conversation: Conversation,
  option: string,
  value: string,
): Promise<string | undefined> {
  if (option === 'model') {
    const outcome = await conversation.setModel(value);
    return outcome.ok ? undefined : outcome.why;
  }
  if (option === 'mode') {
    const outcome = conversation.setMode(value);
    return outcome.ok ? undefined : outcome.why;
  }
  const effort = EFFORTS.find((one) => one.value === value)?.value;
  if (option !== 'effort' || effort === undefined) return `There is no option ${option} with a value ${value}.`;
  const outcome = conversation.setEffort(effort);
  return outcome.ok ? undefined : outcome.why;
}
