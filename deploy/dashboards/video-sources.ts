import { query, stack } from './panels.ts';
import type { Section } from './panels.ts';
import { gauge, rate, sum } from './promql.ts';

export const sources: Section = {
  isClosed: true,
  title: 'Are the sources there?',
  panels: [
    stack(
      'Live sources by health',
      '"stalled" is a camera that sends nothing, "blocked" a model of ours that is too slow for it.',
      [query('{{state}}', sum('state', gauge('vision_sources')))],
      { unit: 'short' },
    ),
    stack(
      'Sources lost',
      'Connections to cameras that broke, by reason; one reason for all points at our network.',
      [query('{{reason}}', sum('reason', rate('vision_source_retries_total')))],
      { unit: 'cps', traces: '{ name = "open a stream" && status = error }' },
    ),
    stack(
      'Reports about sources',
      'Published, failed and dropped; none published with live sources running leaves callers without the state of them.',
      [query('{{outcome}}', sum('outcome', rate('vision_source_reports_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Stream probes of callers',
      'Streams that were read before a task was created: a frame, or why there was none; saturated is a lack of slots.',
      [query('{{outcome}}', sum('outcome', rate('vision_inference_stream_probes_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Live snapshots',
      'Newest frames that callers asked for; "late" came too long after their frame, "not_stored" failed.',
      [query('{{outcome}}', sum('outcome', rate('vision_snapshots_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Images of tracks',
      'Images that workers chose of tracks; "failed" was not stored or published, "dropped" found too many at once.',
      [query('{{outcome}}', sum('outcome', rate('vision_track_snapshots_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Stream probes before a task is created',
      'What was found when callers named a stream; everything but ok is a refusal.',
      [query('{{scheme}} {{outcome}}', sum('scheme, outcome', rate('vision_tasks_probes_total')))],
      { unit: 'cps', traces: '{ name = "probe a stream" && status = error }' },
    ),
  ],
};
