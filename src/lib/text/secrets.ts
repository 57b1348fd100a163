/** Keys and tokens by their shape, or by the name they stand under. */
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AIza|npm_|hf_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=\bBearer )[A-Za-z0-9._~+/=-]{8,}/g,
  /(?<=:\/\/[^\s/:@]{1,100}:)[^\s/@]{3,}(?=@)/g,
  /(?<=\b[\w-]{0,40}(?:password|passwd|secret|token|api[_-]?key)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;]{6,}/gi,
];
/** The same text with keys, tokens and passwords taken out. */
export function withoutSecrets(text: string): string {
  return SECRETS.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);
}
