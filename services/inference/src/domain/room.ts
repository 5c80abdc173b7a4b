/** Jobs that workers can take together, and how many of each kind. */
export interface Places {
  jobs: number;
  live: number;
  files: number;
}

/** Jobs that have not ended. */
export interface ActiveJobs {
  jobs: number;
  live: number;
}

/** Jobs of each kind that could begin now. */
export interface Room {
  stream: number;
  object: number;
}

/**
 * Files leave as many places as live streams can have, half of all at most: however many files wait for their turn at
 * the detection threads, a stream finds a place. Streams take what they can compute, regardless of files.
 */
export const filePlacesOf = (jobs: number, live: number): number => jobs - Math.min(live, Math.floor(jobs / 2));

/** Videos of the largest size of which copies fit into this space at once. One at least: most videos are smaller. */
export const fileSlotsOf = (limitBytes: number, fileMaxBytes: number): number =>
  Math.max(1, Math.floor(limitBytes / fileMaxBytes));

/** What is left of the places. */
export function roomFor(places: Places, active: ActiveJobs): Room {
  const all = places.jobs - active.jobs;
  return {
    stream: atLeastNone(Math.min(all, places.live - active.live)),
    object: atLeastNone(Math.min(all, places.files - (active.jobs - active.live))),
  };
}

const atLeastNone = (count: number) => Math.max(0, count);
