/** Loads the commands that packages offer, on demand. No other file of the core names a package. */
export const PACKAGE_COMMANDS = {
  batch: async () => (await import('../../packages/fleet/src/cli/batch-command.ts')).runBatchCommand,
  worker: async () => (await import('../../packages/fleet/src/cli/worker-command.ts')).runWorkerCommand,
  eval: async () => (await import('../../packages/eval/src/eval-command.ts')).runEvalCommand,
  import: async () => (await import('../../packages/import/src/import-command.ts')).runImportCommand,
};

/** Loads imports for a conversation. */
export const loadForeignImports = async () =>
  (await import('../../packages/import/src/foreign-imports.ts')).foreignImports;
