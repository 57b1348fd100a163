import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk/unstable';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { Effort } from '../../../contracts/model.ts';

const EFFORTS: readonly { readonly value: Effort; readonly name: string }[] = [
  { value: 'auto', name: 'Auto' },
  { value: 'off', name: 'Off' },
  { value: 'low', name: 'Low' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High' },
  { value: 'xhigh', name: 'Very high' },
  { value: 'max', name: 'Max' },
];

const MODES = [
  { id: 'default', name: 'Ask', description: 'Asks before any change' },
  { id: 'acceptEdits', name: 'Accept edits', description: 'Edits files without asking' },
  { id: 'plan', name: 'Plan', description: 'Reads and plans, changes nothing' },
  { id: 'auto', name: 'Auto', description: 'A small model decides what may run, and asks when in doubt' },
  { id: 'dontAsk', name: "Don't ask", description: 'Denies everything that is not allowed by a rule' },
];

/** Returns the selectable permission modes; bypass is offered only if it was chosen at the start. */
export function listAcpPermissionModes(conversation: Conversation): SessionModeState {
  const { mode } = conversation.info();
  const bypass = { id: 'bypassPermissions', name: 'Bypass', description: 'Skips all permission prompts' };
  return { currentModeId: mode, availableModes: mode === 'bypassPermissions' ? [...MODES, bypass] : MODES };
}

/** Returns the options an editor shows next to the prompt: model, thinking effort and permission mode. */
export async function listAcpConfigOptions(conversation: Conversation): Promise<SessionConfigOption[]> {
  const { model, effort, efforts } = conversation.info();
  const listed = (await conversation.models()).map(({ id, label }) => ({ value: id, name: label }));
  // The current model may be missing from the list.
  const models = listed.some(({ value }) => value === model) ? listed : [{ value: model, name: model }, ...listed];
  const { currentModeId, availableModes } = listAcpPermissionModes(conversation);
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

/** Sets one of these options; returns the reason of a failure. */
export async function setAcpConfigOption(
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
  const effort = EFFORTS.find((candidate) => candidate.value === value)?.value;
  if (option !== 'effort' || effort === undefined) return `There is no option ${option} with the value ${value}.`;
  const outcome = conversation.setEffort(effort);
  return outcome.ok ? undefined : outcome.why;
}
