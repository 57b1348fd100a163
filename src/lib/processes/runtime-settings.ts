import { isCompiledExecutable } from './installed-files.ts';

/** Settings of the runtime, which reads them when it starts; bin/ouro explains them. Children must not inherit them. */
export const RUNTIME_SETTINGS: Readonly<Record<string, string>> = {
  BUN_GC_TIMER_INTERVAL: '60000',
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForJITAfterWarmUp: '2000',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '4000',
  BUN_JSC_jitMemoryReservationSize: '5242880',
  BUN_JSC_maximumFunctionForCallInlineCandidateBytecodeCostForDFG: '0',
};

/** Replaces an executable that no launcher started with one that has these settings; this takes 10 ms. */
export function restartWithRuntimeSettings({ argv0, argv, env, execPath, execve, platform }: typeof process): void {
  if (platform === 'win32' || execve === undefined || !isCompiledExecutable) return;
  if (Object.keys(RUNTIME_SETTINGS).some((name) => env[name] !== undefined)) return;
  execve(execPath, [argv0, ...argv.slice(2)], { ...env, ...RUNTIME_SETTINGS });
}
