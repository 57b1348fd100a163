import { basename } from 'node:path';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { printing } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';

/** The file as an edit would leave it, in the person's editor; what is saved there is what is applied. */
export async function editProposal({ id, facts }: PermissionRequest, host: EffectHost): Promise<void> {
  const proposal = await host.conversation.proposal?.(facts);
  if (proposal === undefined) {
    const text = 'This change cannot be edited beforehand. n refuses it, t says what should be different.';
    return host.change((view) => printing(view, { kind: 'notice', level: 'warn', text }));
  }
  const saved = await host.editFile(proposal.text, basename(proposal.path));
  if (saved === undefined) return;
  const { agent } = host.conversation;
  if (saved === proposal.text) {
    agent.answerPermission(id, { behavior: 'allow' });
    return;
  }
  const updatedInput = proposal.inputFor(saved);
  const message = 'The user looked at this edit in an editor and took everything back that it would have changed.';
  agent.answerPermission(
    id,
    updatedInput === undefined ? { behavior: 'deny', message } : { behavior: 'allow', updatedInput },
  );
}
