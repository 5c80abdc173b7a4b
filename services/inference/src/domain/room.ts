/** Slots of the workers: in total and for each kind of job. */
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

/** Numbers of jobs of each kind that could begin now. */
export interface Room {
  stream: number;
  object: number;
}

/**
 * Files leave as many slots free as live streams can use, at most half of all: however many files wait for the
 * detection threads, a stream finds a slot. Streams take as many slots as can be computed, regardless of files.
 */
export const filePlacesOf = (jobs: number, live: number): number => jobs - Math.min(live, Math.floor(jobs / 2));

/** Number of copies of the largest size that fit into this space. At least one: most videos are smaller. */
export const fileSlotsOf = (limitBytes: number, fileMaxBytes: number): number =>
  Math.max(1, Math.floor(limitBytes / fileMaxBytes));

/** Free slots. */
export function roomFor(places: Places, active: ActiveJobs): Room {
  const all = places.jobs - active.jobs;
  return {
    stream: atLeastNone(Math.min(all, places.live - active.live)),
    object: atLeastNone(Math.min(all, places.files - (active.jobs - active.live))),
  };
}

const atLeastNone = (count: number) => Math.max(0, count);
