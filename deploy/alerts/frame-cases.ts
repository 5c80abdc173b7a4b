import type { AlertCase } from './cases.ts';
import { growing, steady, values } from './series.ts';

const FENCED = 'vision_jobs_fenced_total{service="inference",pod="a"}';
const dropped = (reason: string) =>
  `vision_frames_dropped_total{service="inference",scene="people",reason="${reason}"}`;
const images = (outcome: string) => `vision_track_snapshots_total{service="inference",outcome="${outcome}"}`;

/** Workers that lose jobs, frames or images, while others go on. */
export const frameCases: Record<string, AlertCase> = {
  VisionJobsYielded: {
    atMinute: 60,
    fires: {
      when: values(FENCED, '0x5 8x24 16x40'),
      summary: 'Workers of inference yield their jobs again and again, because they cannot renew their leases',
    },
    stays: {
      'a failover of the database': values(FENCED, '0x5 8x65'),
      'a failover, and one an hour later': values(FENCED, '0x5 8x44 16x20'),
      'no worker ever yielded': steady(FENCED, 0, 70),
      'inference of another maker, which has no such series': {},
    },
  },
  VisionFramesUnnumbered: {
    atMinute: 30,
    fires: {
      when: growing(dropped('no_number'), 5, 35),
      summary: 'Inference drops live frames, because its database confirms no frame numbers in time',
    },
    stays: {
      'a database that was away for a minute': values(dropped('no_number'), '0x5 60x30'),
      'a model that is too slow': growing(dropped('fresher'), 5, 35),
      'no frame was ever dropped, so there is no series': {},
    },
  },
  VisionTrackImagesFail: {
    atMinute: 30,
    fires: {
      when: growing(images('failed'), 2, 35),
      summary: 'Inference cannot store or publish images of tracks',
    },
    stays: {
      'a store that was away for a minute': values(images('failed'), '0x5 6x30'),
      'too many at once': growing(images('dropped'), 2, 35),
      'inference of an older release, which has no such series': {},
    },
  },
};
