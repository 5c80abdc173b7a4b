import { hostname } from 'node:os';
import { atMost } from '../async/at-most.ts';
import type { DependencyState, PoisonedTasks, ServiceStatus } from '@vision/contracts/status';
import type { BreakerState } from '../http/breaker.ts';
import { recentTimeouts } from '../upstream/recent-timeouts.ts';
import { faultOf } from '../http/fault.ts';

/** Resolves when what it asks is as it has to be; rejects with the reason. */
export type Check = () => Promise<unknown>;

export interface NamedBreaker {
  name: string;
  state: BreakerState;
}

export interface StatusOptions {
  service: string;
  checks: Record<string, Check>;
  breakers?: (() => NamedBreaker[]) | undefined;
  outbox?: (() => Promise<NonNullable<ServiceStatus['outbox']>>) | undefined;
  webhooks?: (() => Promise<NonNullable<ServiceStatus['webhooks']>>) | undefined;
  /** Tasks that fail in background loops of this process. */
  poisoned?: (() => PoisonedTasks[]) | undefined;
  /** How far the consumer groups of this service are behind. */
  lag?: (() => Promise<ServiceStatus['lag']>) | undefined;
}

export interface StatusReader {
  /** Asks everything at once; takes no longer than one deadline. */
  read: () => Promise<ServiceStatus>;
}

const DEADLINE_MS = 5_000;

/** How this process stands, for operators. What cannot be told is left out: its dependency says why. */
export function createStatusReader(options: StatusOptions): StatusReader {
  const { service, checks, breakers, outbox, lag, webhooks, poisoned } = options;
  return {
    read: async () => {
      const [dependencies, events, behind, webhookState] = await Promise.all([
        Promise.all(Object.entries(checks).map(([name, check]) => ask(name, check))),
        outbox && within(outbox()),
        lag && within(lag()),
        webhooks && within(webhooks()),
      ]);
      return {
        service,
        instance: `${hostname()}/${process.pid}`,
        dependencies,
        breakers: breakers?.() ?? [],
        outbox: events,
        lag: behind ?? [],
        webhooks: webhookState,
        poisoned: poisoned?.(),
        timeouts: recentTimeouts.read(),
      };
    },
  };
}

async function ask(name: string, check: Check): Promise<DependencyState> {
  const began = performance.now();
  const result = (fault?: string) => ({ name, ms: Math.round(performance.now() - began), fault });
  try {
    return (await atMost(DEADLINE_MS, check())) ? result() : result(`no answer within ${DEADLINE_MS} ms`);
  } catch (error) {
    return result(faultOf(error));
  }
}

/** What the work gives in time; undefined when it fails or takes longer. */
async function within<T>(work: Promise<T>): Promise<T | undefined> {
  const inTime = await atMost(DEADLINE_MS, work).catch(() => false);
  return inTime ? work : undefined;
}
