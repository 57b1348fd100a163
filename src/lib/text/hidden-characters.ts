/** Every character that does not show, reorders text, or passes for a plain space; tab and newline are not among them. */
export const HIDDEN_CHARACTERS =
  /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|[\0-\x08\x0b-\x1f\x7f-\x9f]|\u00a0|\u034f|[\u115f\u1160]|\u1680|[\u17b4\u17b5]|[\u180b-\u180f]|[\u2000-\u200a]|\u202f|\u205f|[\u3000\u3164]|[\ufe00-\ufe0f]|\uffa0|\u2800|[\u{e0100}-\u{e01ef}]/gu;
