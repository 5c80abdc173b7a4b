let onStep: ((name: string) => void) | undefined;

/**
 * Names a step between two durable effects. It does nothing unless the entry of the tests, `test/support/main.ts`, has
 * set what happens at a step: it stops or kills the process there, so that recovery from every step can be shown. The
 * names are read from the sources by the crash suite: a step without a case fails it.
 */
export function crashPoint(name: string): void {
  onStep?.(name);
}

/** Sets what every step calls. For entries of tests; a service never calls it. */
export function setOnStep(hook: (name: string) => void): void {
  onStep = hook;
}
