import { lines, query } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';
import { gauge, max, quantile, rate, spent, sum } from './promql.ts';

const share = (used: string, of: string) => `${used} / ${of}`;
const byPod = 'service, pod';
const POD = '{{service}} {{pod}}';

const slots: Section = {
  title: 'What is full?',
  panels: [
    lines(
      'Images per slot at inference',
      'Above 1 pictures are turned away; at 0.7 for an hour add a replica.',
      [
        query(
          '{{pod}}',
          share(sum('pod', gauge('vision_inference_load')), sum('pod', gauge('vision_inference_places'))),
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Video jobs per job slot',
      'At 1 the next video is refused with inference_no_capacity; add a replica before.',
      [query('{{pod}}', share(sum('pod', gauge('vision_jobs_at_work')), sum('pod', gauge('vision_jobs_places'))))],
      { unit: 'percentunit' },
    ),
    lines(
      'Live streams per slot',
      'The number of slots follows what streams cost as measured. At 1 the next stream is refused; add a replica before.',
      [query('{{pod}}', share(sum('pod', gauge('vision_jobs_live')), sum('pod', gauge('vision_jobs_live_places'))))],
      { unit: 'percentunit' },
    ),
    lines(
      'Create requests that wait for a capacity slot',
      'Video tasks whose create request waits until the backend has room; it is refused after PLACE_WAIT_MS.',
      [query('{{kind}}', sum('kind', gauge('vision_tasks_places_awaited')))],
      { unit: 'short' },
    ),
    lines(
      'Image calls per request slot',
      'The share of the request slots for calls that is used; at 1 callers get too_many_calls.',
      [
        query(
          '{{pod}}',
          share(sum('pod', gauge('vision_images_places', 'state="used"')), sum('pod', gauge('vision_images_places'))),
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Uploads waiting on disk',
      'Bytes in the spool of images; it needs 81 MiB for each request slot at most.',
      [query('{{pod}}', sum('pod', gauge('vision_images_spool_bytes')))],
      { unit: 'bytes' },
    ),
    lines(
      'Copies of videos in WORK_DIR',
      'Bytes that each worker uses for copies of uploaded videos, and the most it can use now.',
      [query('{{pod}} {{kind}}', sum('pod, kind', gauge('vision_inference_work_dir_bytes')))],
      { unit: 'bytes' },
    ),
    lines(
      'Uploads under way',
      'Bodies that the gateway passes on now, by replica.',
      [query('{{pod}}', sum('pod', gauge('vision_gateway_uploads')))],
      { unit: 'short' },
    ),
    lines(
      'Jobs without a worker',
      'Jobs without a free job slot, and jobs that no worker runs.',
      [query('jobs', max('', gauge('vision_jobs_unowned')))],
      { unit: 'short' },
    ),
    lines(
      'Streams that would take a slot',
      'Live streams that have been away for over ten minutes: each takes a slot again once its camera is back.',
      [query('streams', max('', gauge('vision_jobs_parked')))],
      { unit: 'short' },
    ),
  ],
};

const databases: Section = {
  title: 'Are the databases large enough?',
  panels: [
    lines(
      'Connections used of the pool',
      'At 1 statements wait for a connection; see DATABASE_POOL and the sum in docs/operations.md.',
      [
        query(
          POD,
          share(
            sum(byPod, gauge('vision_db_pool_connections', 'state="used"')),
            sum(byPod, gauge('vision_db_pool_limit')),
          ),
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Statements that wait for a connection',
      'How many stand in the queue now; any line that stays above 0 is a pool that is too small.',
      [query(POD, sum(byPod, gauge('vision_db_pool_connections', 'state="waiting"')))],
      { unit: 'short' },
    ),
    lines(
      'Wait for a connection, p95',
      'What a statement loses before it begins.',
      [query('{{service}}', quantile(0.95, 'vision_db_pool_wait_seconds', 'service'))],
      { unit: 's' },
    ),
    lines(
      'Statements, p99',
      'Time of statements by service; a step upwards is a plan that changed or a table that grew.',
      [query('{{service}}', quantile(0.99, 'vision_upstream_duration_seconds', 'service', 'upstream="postgres"'))],
      { unit: 's', traces: '{ span.app.upstream.name = "postgres" && duration > 500ms }' },
    ),
    lines(
      'Calls to S3, p99',
      'By what was asked; uploads and downloads grow with the size of what is moved.',
      [
        query(
          '{{service}} {{operation}}',
          quantile(0.99, 'vision_upstream_duration_seconds', 'service, operation', 'upstream="s3"'),
        ),
      ],
      { unit: 's', traces: '{ span.app.upstream.name = "s3" && duration > 1s }' },
    ),
  ],
};

const processes: Section = {
  title: 'Are our processes slow?',
  panels: [
    lines(
      'Event loop delay, p99',
      'How late a process comes to its work; above 100 ms it needs more processor or another replica.',
      [query(POD, max(byPod, gauge('nodejs_eventloop_delay_p99_seconds')))],
      { unit: 's' },
    ),
    lines(
      'Event loop in use',
      'The share of time in which JavaScript runs; above 0.8 a replica has no reserve.',
      [query(POD, max(byPod, gauge('nodejs_eventloop_utilization_ratio')))],
      { unit: 'percentunit' },
    ),
    lines(
      'Heap beside its limit',
      'The share of what V8 may take: a line that climbs for days is a leak, and at 1 the process ends.',
      [
        query(
          POD,
          share(sum(byPod, gauge('v8js_memory_heap_used_bytes')), sum(byPod, gauge('vision_process_heap_limit_bytes'))),
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Memory beside its limit',
      'The share of the limit of the container that its processes take, decoders included; at 1 the kernel ends one of them.',
      [
        query(
          POD,
          share(
            sum(byPod, gauge('vision_process_memory_bytes', 'kind="used"')),
            sum(byPod, gauge('vision_process_memory_bytes', 'kind="limit"')),
          ),
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Disk of /tmp beside its size',
      'The share of the file system of temporary files that is full; at 0.9 an alert fires, and a full node evicts pods.',
      [
        query(
          POD,
          share(
            sum(byPod, gauge('vision_process_tmp_bytes', 'kind="used"')),
            sum(byPod, gauge('vision_process_tmp_bytes', 'kind="limit"')),
          ),
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Time in garbage collection',
      'The share of each second; above 0.1 the heap is too small for the load.',
      [query(POD, sum(byPod, spent('v8js_gc_duration_seconds')))],
      { unit: 'percentunit' },
    ),
  ],
};

const work: Section = {
  title: 'How much does a replica do?',
  panels: [
    lines(
      'Images',
      'Images that each replica of inference answers, a second.',
      [query('{{pod}} {{outcome}}', sum('pod, outcome', rate('vision_inference_images_total')))],
      { unit: 'cps' },
    ),
    lines(
      'Time of an image at inference',
      'Waiting, decoding and detecting; p95 far above p50 is a queue.',
      [
        query('{{scene}} p50', quantile(0.5, 'vision_inference_image_duration_seconds', 'scene')),
        query('{{scene}} p95', quantile(0.95, 'vision_inference_image_duration_seconds', 'scene')),
      ],
      { unit: 's' },
    ),
    lines(
      'Frames through the model',
      'Frames that each replica hands to the model, a second; performance.md says what a core does.',
      [query('{{pod}}', sum('pod', rate('vision_frames_sampled_total')))],
      { unit: 'cps' },
    ),
    lines(
      'Images rejected',
      'Images for which no slot was free; their callers see a failed image.',
      [query('{{pod}}', sum('pod', rate('vision_inference_saturated_total')))],
      { unit: 'cps' },
    ),
    lines(
      'Decoders lost or not started',
      'Decoders that an image broke or that were ended for its cost, and those that the system did not start.',
      [
        query('{{pod}} lost', sum('pod', rate('vision_inference_picture_decoders_lost_total'))),
        query('{{pod}} not started', sum('pod', rate('vision_inference_decoders_not_started_total'))),
      ],
      { unit: 'cps' },
    ),
    lines(
      'Frames stored',
      'Frames that each replica of results stores, a second; six share the partitions at most.',
      [query('{{pod}}', sum('pod', rate('vision_results_frames_stored_total')))],
      { unit: 'cps' },
    ),
  ],
};

export const capacity: Dashboard = {
  name: 'capacity',
  title: 'capacity',
  about: 'What is full, or will be: slots, pools, processes; and how much one replica does.',
  sections: [slots, databases, processes, work],
};
