/** A mend that is taken out again on purpose, and the test that has to fail then. */
export interface DeliberateFault {
  /** What the system then does wrong. */
  says: string;
  file: string;
  /** A text that the file has exactly once, and what takes its place. */
  find: string;
  replace: string;
  caughtBy: CaughtByTest | CaughtBySuite | CaughtBySimulation;
}

export interface CaughtByTest {
  file: string;
  /** The name of the test, or the beginning of it. */
  test: string;
}

export interface CaughtBySuite {
  invariant: string;
  seed: number;
  minutes: number;
  failovers: number;
}

/** A schedule of this world breaks a promise within two minutes, and breaks it again when its seed is played alone. */
export interface CaughtBySimulation {
  world: string;
}
