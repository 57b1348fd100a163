/** The version of the package, which a test compares with its manifest: not every runtime may read that one. */
export const VERSION = '0.1.0';
