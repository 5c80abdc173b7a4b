export interface StopPhase {
  name: string;
  timeoutMs: number;
  stop: () => Promise<void>;
}

/** Longest time of each phase of a stop in milliseconds, in the order of the phases. */
export type StopTimes<Phase extends string = string> = Record<Phase, number>;

/** The settings that change how long a stop takes. */
export interface StopSettings {
  DRAIN_DELAY_MS: number;
  SHUTDOWN_GRACE_MS: number;
}

/** After the last phase: for the last spans. */
export const TELEMETRY_MS = 2_000;

/** What a phase is given beyond the time that it waits. */
const SLACK_MS = 500;

/** Times of a service: first the drain, then what the service says. */
export function stopTimes<Phase extends string>(
  { DRAIN_DELAY_MS: delayMs }: StopSettings,
  rest: StopTimes<Phase>,
): StopTimes<'drain' | Phase> {
  return { drain: delayMs + SLACK_MS, ...rest };
}

/** Everything that a stop may take, the last spans included. */
export function totalStopMs(times: StopTimes): number {
  return Object.values(times).reduce((sum, ms) => sum + ms, TELEMETRY_MS);
}

/** The phases with their times; what stops in a phase learns how long it may wait for others. */
export function stopPhases<Phase extends string>(
  times: StopTimes<Phase>,
  stops: Record<Phase, (waitMs: number) => Promise<void> | void>,
): StopPhase[] {
  return (Object.keys(times) as Phase[]).map((name) => ({
    name,
    timeoutMs: times[name],
    stop: async () => {
      await stops[name](times[name] - SLACK_MS);
    },
  }));
}
