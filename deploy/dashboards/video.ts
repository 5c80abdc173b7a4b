import { heatmap, lines, number, query, stack } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';
import { buckets, gauge, max, quantile, quantileOfRare, rate, sum } from './promql.ts';
import { sources } from './video-sources.ts';
import { webhooks } from './webhooks.ts';

const READABLE = 'vision_results_readable_age_seconds';

const customer: Section = {
  title: 'Do callers see their frames in time?',
  panels: [
    number(
      'Frames readable within 5 s',
      'The share of live frames that could be read within 5 s of their capture; the objective is 99 %.',
      [query('in time', `${sum('', gauge('vision:frames:timely5m'))} / ${sum('', gauge('vision:frames:rate5m'))}`)],
      { unit: 'percentunit' },
    ),
    number(
      'Frames that can be read',
      'Frames that were stored, a second; 0 with live sources running is an outage.',
      [query('frames', sum('', rate('vision_results_frames_stored_total')))],
      { unit: 'cps' },
    ),
    number(
      'Jobs without a worker',
      'Video jobs that no replica of inference has taken up; above 0 somebody waits.',
      [query('jobs', max('', gauge('vision_jobs_unowned')))],
      { unit: 'short', red: 1 },
    ),
    number(
      'Streams without a slot',
      'Live streams that have been away for over ten minutes and wait for their camera; they take no slot.',
      [query('streams', max('', gauge('vision_jobs_parked')))],
      { unit: 'short' },
    ),
  ],
};

const way: Section = {
  title: 'How long is the way of a frame?',
  panels: [
    lines(
      'Capture to readable',
      'From the capture of a live frame to the commit that makes it readable; the parts of it are the next panels.',
      [query('{{kind}} p50', quantile(0.5, READABLE, 'kind')), query('{{kind}} p99', quantile(0.99, READABLE, 'kind'))],
      { unit: 's', traces: '{ name = "publish frames" }' },
    ),
    lines(
      'Waiting for and running the model',
      'The first part; when it grows, frames are dropped for fresher ones.',
      [
        query('{{scene}} p50', quantile(0.5, 'vision_frame_detect_duration_seconds', 'scene')),
        query('{{scene}} p95', quantile(0.95, 'vision_frame_detect_duration_seconds', 'scene')),
      ],
      { unit: 's' },
    ),
    lines(
      'Event to consumer, p95',
      'The second part: from the fact to its handling, by group; results-frames stores frames.',
      [query('{{group}}', quantile(0.95, 'vision_consumer_event_age_seconds', 'group'))],
      { unit: 's' },
    ),
    heatmap(
      'Capture to readable, all of it',
      'Most frames lie in one band; a second, higher band is one worker or one partition that lags.',
      [query('{{le}}', buckets(READABLE))],
      { unit: 's' },
    ),
    lines(
      'Frames behind',
      'Records that wait, in the five partitions that are furthest behind; one line that grows alone is one busy partition.',
      [
        query(
          '{{topic}} {{partition}}',
          `topk(5, ${max('topic, partition', gauge('vision_consumer_lag', 'group="results-frames"'))})`,
        ),
      ],
      { unit: 'short' },
    ),
    stack(
      'Frames without effect',
      'Frames of an older attempt after a takeover, or of tasks whose results have expired.',
      [query('{{reason}}', sum('reason', rate('vision_results_frames_ignored_total')))],
      { unit: 'cps' },
    ),
  ],
};

const flow: Section = {
  title: 'Where are frames lost?',
  panels: [
    lines(
      'Read, sampled, published, stored',
      'Each line is at most the one before it: read to sampled is the frame rate that was asked for, any other gap is loss.',
      [
        query('read {{kind}}', sum('kind', rate('vision_frames_read_total'))),
        query('sampled', sum('', rate('vision_frames_sampled_total'))),
        query('published', sum('', rate('vision_frames_published_total'))),
        query('stored', sum('', rate('vision_results_frames_stored_total'))),
      ],
      { unit: 'cps', width: 12 },
    ),
    stack(
      'Live frames left out',
      '"fresher" is a model that is too slow, "no_number" a database that does not confirm numbers, "not_held" a lost lease, "unsent" a Kafka that took no frames for long.',
      [query('{{reason}}', sum('reason', rate('vision_frames_dropped_total')))],
      { unit: 'cps', width: 12 },
    ),
    stack(
      'Live streams by the frames they get',
      'A stream that is "behind" gets less than nine of ten frames; the log says which task it is. No more than the slots are taken.',
      [
        query('{{rate}}', sum('rate', gauge('vision_jobs_live'))),
        query('slots', sum('', gauge('vision_jobs_live_places'))),
      ],
      { unit: 'short', width: 12 },
    ),
    lines(
      'Frames of a task missing or in conflict',
      'Anything but 0 is an alert: frames that were paid for are not there.',
      [
        query('missing', sum('', rate('vision_results_holes_total'))),
        query('in conflict', sum('', rate('vision_results_frame_conflicts_total'))),
      ],
      { unit: 'short' },
    ),
    lines(
      'Stored frames that cannot be read',
      'Anything but 0 is an alert: the object of a segment is missing or damaged.',
      [query('segments', sum('', rate('vision_results_segments_unreadable_total')))],
      { unit: 'short' },
    ),
    lines(
      'Frames moved to the object store',
      'About as many as are stored, some minutes later. Less for long: look at S3 and at the log of results.',
      [
        query('stored', sum('', rate('vision_results_frames_stored_total'))),
        query('moved', sum('', rate('vision_results_segment_frames_total'))),
      ],
      { unit: 'cps' },
    ),
    lines(
      'Frames that wait to be moved',
      'Above half an hour: the object store is slow or away, or results needs more replicas. The database grows meanwhile.',
      [query('longest wait', max('', 'vision_results_compaction_lag_seconds'))],
      { unit: 's' },
    ),
    lines(
      'Tracks behind the stored frames',
      'Below some seconds. Above five minutes for long: results needs more replicas, or the fold of tasks fails.',
      [query('longest wait', max('', 'vision_results_fold_lag_seconds'))],
      { unit: 's' },
    ),
    lines(
      'Alarms opened',
      'By the kind of their rule. A burst of one kind is a rule that is too sensitive, or a camera that moves.',
      [query('{{kind}}', sum('kind', rate('vision_results_alarms_total', 'change="opened"')))],
      { unit: 'cps' },
    ),
    lines(
      'Capture to alarm',
      'About as long as from capture to readable. Five seconds more: alarms wait for the fold.',
      [query('p95', quantileOfRare(0.95, 'vision_results_alarm_age_seconds', ''))],
      { unit: 's' },
    ),
    lines(
      'End-of-stream markers',
      'Tasks whose frames are complete, and marks that wait for frames still under way.',
      [
        query('complete', sum('', rate('vision_results_completed_total'))),
        query('waiting', sum('', rate('vision_results_ends_waited_total'))),
      ],
      { unit: 'cps' },
    ),
  ],
};

const tasks: Section = {
  isClosed: true,
  title: 'Do tasks begin and end as they should?',
  panels: [
    stack(
      'Create requests by outcome',
      'A status or a reason for each create request; "resolving" is a submit whose outcome is unknown.',
      [query('{{kind}} {{outcome}}', sum('kind, outcome', rate('vision_tasks_creates_total')))],
      { unit: 'cps' },
    ),
    lines(
      'Tasks by status',
      'Tasks that have not ended; live ones run for days.',
      [query('{{status}}', max('status', gauge('vision_tasks_active')))],
      { unit: 'short' },
    ),
    lines(
      'Oldest unknown submission',
      'How long a caller is not told whether the task runs; an alert fires at 300 s.',
      [query('age', max('', gauge('vision_tasks_oldest_resolving_age_seconds')))],
      { unit: 's' },
    ),
    lines(
      'Oldest unconfirmed deletion',
      'How long results or images has not confirmed that nothing is left of a deleted task; an alert fires at an hour.',
      [query('age', max('', gauge('vision_tasks_oldest_unconfirmed_deletion_age_seconds')))],
      { unit: 's' },
    ),
    stack(
      'Deleted tasks',
      'Tasks and image calls that their owners deleted.',
      [query('{{kind}}', sum('kind', rate('vision_tasks_deletions_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Changes of state',
      'Moves of tasks; lose_track and vanish are the ones to look at.',
      [query('{{move}}', sum('move', rate('vision_tasks_moves_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Jobs by how they ended',
      'What inference says of ended jobs; source_lost is a camera, anything with "failed" is ours.',
      [query('{{status}} {{reason}}', sum('status, reason', rate('vision_jobs_ended_total')))],
      { unit: 'cps', traces: '{ name = "job attempt" && status = error }' },
    ),
    lines(
      'Tasks asked about late',
      'How late tasks were compared with the backend; ends and stops are noticed later by as much.',
      [query('p95', quantile(0.95, 'vision_tasks_reconcile_lag_seconds', ''))],
      { unit: 's' },
    ),
    stack(
      'Jobs taken over and yielded',
      'Takeovers follow a worker that died; yielded jobs follow a lease that could not be renewed.',
      [
        query('takeover', sum('', rate('vision_jobs_started_total', 'takeover="true"'))),
        query('yielded', sum('', rate('vision_jobs_fenced_total'))),
      ],
      { unit: 'cps' },
    ),
    stack(
      'Facts that an operator should check',
      'Alarms of tasks by name; docs/runbooks has a page for each that alerts.',
      [query('{{name}}', sum('name', rate('vision_tasks_alarms_total')))],
      { unit: 'cps' },
    ),
  ],
};

export const video: Dashboard = {
  name: 'video',
  title: 'video pipeline',
  about:
    'From a camera to a frame that can be read: is it in time, where does the time go, where are frames lost, are sources and jobs well, do callers hear of it?',
  sections: [customer, way, flow, sources, tasks, webhooks],
};
