interface Claimed {
  endpoint_key: string;
  subject: string;
}

/** Webhooks under way in this process. */
export interface BusyCounts {
  endpoints: ReadonlyMap<string, number>;
  subjects: ReadonlyMap<string, number>;
  begin: (claimed: Claimed) => void;
  end: (claimed: Claimed) => void;
}

export function createBusyCounts(): BusyCounts {
  const endpoints = new Map<string, number>();
  const subjects = new Map<string, number>();
  const add = (counts: Map<string, number>, name: string, step: number) => {
    const count = (counts.get(name) ?? 0) + step;
    if (count > 0) counts.set(name, count);
    else counts.delete(name);
  };
  const both = ({ endpoint_key, subject }: Claimed, step: number) => {
    add(endpoints, endpoint_key, step);
    add(subjects, subject, step);
  };
  return { endpoints, subjects, begin: (claimed) => both(claimed, 1), end: (claimed) => both(claimed, -1) };
}
