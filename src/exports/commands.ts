/** Shared parts of commands: input and output, flags, exit codes, settings, and helpers for errors, text, files and programs. */

export { readEnvironment } from '../app/environment.ts';
export { readSettings } from '../app/read-settings.ts';
export { createYesNoPrompter, type YesNoPrompter } from '../command/confirm.ts';
export { getSignalExitCode } from '../command/exit-code.ts';
export { parseFlagValues } from '../command/flag-values.ts';
export {
  BATCH_FLAGS,
  type BatchFlags,
  EVAL_FLAGS,
  type EvalFlags,
  WORKER_FLAGS,
  type WorkerFlags,
} from '../command/fleet-flags.ts';
export type { ProcessIo } from '../command/process-io.ts';
export type { Shutdown } from '../command/shutdown.ts';
export { SUBCOMMANDS, type SubcommandInput } from '../command/subcommands.ts';
export { UsageError } from '../command/usage-error.ts';
export { type Environment, SECRET_VARIABLES } from '../contracts/environment.ts';
export type { ForeignImportPlan, ForeignImportResult, ForeignImports } from '../contracts/frontend/foreign-imports.ts';
export { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
export { type FailureKind, MODEL_FAILURE_KINDS } from '../contracts/model.ts';
export { PERMISSION_MODES, type PermissionMode } from '../contracts/permission.ts';
export type { LoadedSettings, Settings } from '../contracts/settings.ts';
export { findEnclosingRepository, findRepositoryRoot } from '../git/git-repository.ts';
export { createGitEnv, createHardenedGitEnv, execGit, hardenGitArgs } from '../git/run-git.ts';
export { exhaustive, getErrnoCode, getErrorMessage, getErrorPhrase, ignoreMissingFile } from '../lib/errors.ts';
export { acquireLock, runWithFileLock } from '../lib/files/file-lock.ts';
export { openJsonStore } from '../lib/files/json-store.ts';
export { isPathBelow } from '../lib/files/path-style.ts';
export { writePrivateFile } from '../lib/files/private-file.ts';
export { readRegularFile } from '../lib/files/read-regular-file.ts';
export { copyAsJson, parseJson, sortKeys } from '../lib/json.ts';
export { fetch } from '../lib/network/fetch.ts';
export { compileStarPattern } from '../lib/patterns/glob.ts';
export { runShellCommand } from '../lib/processes/find-shell.ts';
export { findOuroLauncher } from '../lib/processes/installed-files.ts';
export { getProcessIdentity, getProcessState } from '../lib/processes/process-info.ts';
export { signalProcessGroup } from '../lib/processes/process-tree.ts';
export { startUnchecked } from '../lib/processes/program-check.ts';
export { type ProgramResult, type RunProgramOptions, runForOutput, runProgram } from '../lib/processes/run-program.ts';
export { escapeHtml } from '../lib/text/escape-html.ts';
export {
  formatAge,
  formatAgo,
  formatBytes,
  formatClock,
  formatCount,
  formatDuration,
  formatMoney,
  formatOneLine,
  formatTokens,
} from '../lib/text/format.ts';
export { getFrontMatterText, parseFrontMatter } from '../lib/text/front-matter.ts';
export { splitWords } from '../lib/text/lines.ts';
export { formatCodeBlock, formatMarkdownTable } from '../lib/text/markdown.ts';
export { redactSecrets } from '../lib/text/redact-secrets.ts';
export { sanitize } from '../lib/text/sanitize.ts';
export { padToWidth, truncateEnd } from '../lib/text/text-width.ts';
export { startTimeLimit } from '../lib/time-limit.ts';
export { createTranscriptLineUuid } from '../lib/transcript-line-uuid.ts';
export { writeSampleProject } from '../model/providers/demo/sample-project.ts';
export {
  narrowToNumber,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseNetworkJson,
} from '../model/stream/json-values.ts';
