import { AT_ONCE } from '../../domain/delivery.ts';

interface Claimed {
  endpoint_key: string;
  subject: string;
}

/** Endpoints and subjects at their limit of concurrent webhooks. */
interface Full {
  endpoints: string[];
  subjects: string[];
}

/** Running webhooks of this process. */
export interface BusyCounts {
  endpoints: ReadonlyMap<string, number>;
  subjects: ReadonlyMap<string, number>;
  begin: (claimed: Claimed) => void;
  end: (claimed: Claimed) => void;
  /** Those at their limit, now or a moment ago: their deliveries wait for their receivers. */
  full: () => Full;
}

/** Time in which a slot that became free is used again. */
const MOMENT_MS = 5_000;

export function createBusyCounts(now = () => performance.now()): BusyCounts {
  const endpoints = createCounts(AT_ONCE.endpoint, now);
  const subjects = createCounts(AT_ONCE.subject, now);
  const both = ({ endpoint_key, subject }: Claimed, step: number) => {
    endpoints.add(endpoint_key, step);
    subjects.add(subject, step);
  };
  return {
    endpoints: endpoints.counts,
    subjects: subjects.counts,
    begin: (claimed) => both(claimed, 1),
    end: (claimed) => both(claimed, -1),
    full: () => ({ endpoints: endpoints.full(), subjects: subjects.full() }),
  };
}

function createCounts(most: number, now: () => number) {
  const counts = new Map<string, number>();
  /** Time at which the last of its slots became free, by name. */
  const freedAt = new Map<string, number>();
  return {
    counts,
    add: (name: string, step: number) => {
      const before = counts.get(name) ?? 0;
      if (before + step > 0) counts.set(name, before + step);
      else counts.delete(name);
      if (step < 0 && before >= most) freedAt.set(name, now());
    },
    full: () => {
      for (const [name, at] of freedAt) if (now() - at > MOMENT_MS) freedAt.delete(name);
      const atMost = [...counts].flatMap(([name, count]) => (count >= most ? [name] : []));
      return [...new Set([...atMost, ...freedAt.keys()])];
    },
  };
}
