import type { ConversationInfo } from '../../contracts/face/conversation.ts';

/** A call that was refused, as results and `/permissions` list it. */
export type Denial = ConversationInfo['permissionDenials'][number];
