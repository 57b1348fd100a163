/** Paths that are writable or closed in a sandbox. */
export type SandboxPaths = { readonly writable: readonly string[]; readonly readOnly: readonly string[] };

/**
 * The limits in which a command runs because it was allowed for only reading, or for a trial in a throw-away layer over
 * the workspace. Bash enforces them.
 */
export type CallEnforcement = {
  readonly kind: 'read-only' | 'trial';
  /** Secret files that a rule allows the command to read. Real paths. */
  readonly readable: readonly string[];
  /** Secret files in folders that the command searches; it was allowed because they are hidden. Real paths. */
  readonly hidden?: readonly string[];
};

/** Something that the read-only sandbox kept a command from doing. The path or host is absent if it is unknown. */
export type BlockedEffect =
  | { readonly kind: 'write' | 'read'; readonly path?: string }
  | { readonly kind: 'connect'; readonly host?: string }
  | { readonly kind: 'other' };
