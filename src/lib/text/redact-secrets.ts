/** Keys and tokens, recognised by their form or by the name before them. */
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)(?:-|_(?:live|test)_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[oprsu]_|github_pat_|gl(?:pat|rt|dt|soat)-|xox[abeprs]-|xapp-|AIza|npm_|pypi-|hf_|dckr_pat_|dop_v1_|shp(?:at|ss)_|lin_api_|figd_|hvs\.|SG\.|ya29\.|ATATT|AGE-SECRET-KEY-1)[A-Za-z0-9_.-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ(?:\w|-(?!eyJ)){8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=\b(?:Bearer|Basic) )[A-Za-z0-9._~+/=-]{8,}/g,
  /(?<=:\/\/[^\s/:@]{1,100}:)[^\s/@]{3,}(?=@)/g,
  // A number is a count: `tokens: 123456`.
  /(?<=\b[\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|credential|(?:api|access|private|account|auth)[_-]?key)[\w-]{0,20}["']?\s{0,4}[:=]\s{0,4}["']?)(?!\d+\b)[^\s"',;]{6,}/gi,
];

/** Replaces keys, tokens and passwords in a text by `[secret]`. */
export function redactSecrets(text: string): string {
  return SECRETS.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

/** Serializes a value with the secrets in its texts replaced. In JSON an escape like `\n` may stand before a token. */
export function stringifyRedacted(value: unknown): string {
  return redactSecrets(JSON.stringify(value, (_key, item) => (typeof item === 'string' ? redactSecrets(item) : item)));
}
