/** The longest a stop may take before the process ends without it. */
const STOP_LIMIT_MS = 14_000;

/**
 * Calls `stop` once at the first SIGINT, SIGTERM or SIGHUP, or when the bootstrap that started this process is gone, and then
 * ends the process: `status` after a clean stop (0 unless told), 1 if `stop` throws or takes over 14 s. Further signals, as they come when
 * Ctrl-C reaches the whole process group and the bootstrap forwards it too, change nothing. What is left then is ended by
 * the watchdog. Returns a function that undoes it; `stop` should be idempotent, since the caller may stop by itself too.
 */
export function stopOnSignals(stop: (reason: string) => Promise<void>, status = 0): () => void {
  let stopping = false;
  const begin = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    stop(reason).then(
      () => process.exit(status),
      (error: unknown) => {
        process.stderr.write(`could not stop cleanly: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  const onSignal = (signal: NodeJS.Signals): void => begin(signal);
  const onDisconnect = (): void => begin('the command that started this is gone');
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  process.on('disconnect', onDisconnect);
  // Listening for a lost bootstrap must not keep the process alive.
  process.channel?.unref();
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
    process.off('disconnect', onDisconnect);
  };
}
