import type { ConversationInfo } from '../contracts/conversation.ts';
import type { JsonValue } from '../contracts/json.ts';

/** A call that was refused, as results and `/permissions` list it. */
export type Denial = ConversationInfo['permissionDenials'][number];

/** A decision with its trace, for `/why`. */
export type DecisionTold = { readonly tool: string; readonly verdict: string; readonly trace: JsonValue };
