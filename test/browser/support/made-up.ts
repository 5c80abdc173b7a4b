import type { Page, Route } from 'playwright-core';

/** What an API of a broken or hostile system could call things. */
export const hostile = [
  '<img src=x onerror="document.title=1">',
  '\u202egnitirw desrever',
  'x'.repeat(10_000),
  '\u0000',
];

export const TASK_ID = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
const CREATED_AT = '2026-03-15T08:30:00.000Z';
const LENGTH_MS = 600_000;
const PER_PAGE = 100;

const name = (index: number) => hostile[index % hostile.length] ?? '';
const bbox = { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.2, height: 0.4 };
const object = { label: name(0), score: 0.9, bbox, track_id: 't0' };

export const task = {
  task_id: TASK_ID,
  request_id: TASK_ID,
  kind: 'video',
  scene_code: 'person_vehicle',
  client_ref: name(0),
  status: 'succeeded',
  result_expires_at: CREATED_AT,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};

const coverage = { from_ms: 0, to_ms: LENGTH_MS, covered_ms: LENGTH_MS, gaps: 0 };

export const rule = {
  rule_id: 'made-up',
  version: 1,
  name: name(0),
  enabled: true,
  scope: { client_refs: hostile },
  when: { kind: 'object_present', labels: hostile, anchor: 'center', min_count: 1, for_ms: 0, clear_ms: 5000 },
  min_interval_ms: 60_000,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  verdicts: { none: 1, confirmed: 0, false_alarm: 0 },
};

export const alarm = (index: number) => ({
  alarm_id: `5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c0${index}`,
  version: 1,
  rule_id: index === 0 ? 'made-up' : 'deleted',
  rule_version: 1,
  task_id: TASK_ID,
  client_ref: name(index),
  state: 'open',
  kind: 'object_present',
  opened_ms: 1000,
  suppressed: 2,
  evidence: { objects: [object], count: 1, held_ms: 0 },
  labels: [name(index)],
  count_max: 1,
  track_ids: ['t0'],
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  review: { verdict: 'none' },
});

const FRAME_MS = 200;
const OBJECTS = 24;

/** The frames of a time, all of them in one page. */
function framesOf(url: URL): object[] {
  const from = Number(url.searchParams.get('from_ms'));
  const to = Math.min(LENGTH_MS, Number(url.searchParams.get('to_ms')));
  const first = Math.ceil(from / FRAME_MS);
  return Array.from({ length: Math.max(0, Math.ceil(to / FRAME_MS) - first) }, (_, index) => ({
    frame_id: `${TASK_ID}-${first + index}`,
    frame_time_ms: (first + index) * FRAME_MS,
    objects: Array.from({ length: OBJECTS }, (_one, nth) => ({
      label: name(nth),
      score: 0.9,
      bbox: { ...bbox, cx: 0.1 + ((nth * 37 + index) % 80) / 100, cy: 0.1 + ((nth * 53) % 80) / 100, width: 0.05 },
      track_id: `t${nth}`,
    })),
  }));
}

/** A refusal of the service. */
export const refusal = (status: number, reason: string) => ({
  status,
  json: { title: 'Refused', detail: 'Refused.', status, trace_id: '', retryable: false, details: { reason } },
});

/** A track of less than a second, without an image. */
export function trackAt(index: number) {
  const at = index * 1000;
  return {
    track_id: `t${index}`,
    label: name(index),
    state: 'ended',
    first_time_ms: at,
    last_time_ms: at + 900,
    frames: 5,
    best: { frame_id: `${TASK_ID}-${index}`, frame_time_ms: at, score: 0.9, bbox },
    first_bbox: bbox,
    last_bbox: bbox,
    mean_score: 0.9,
    snapshot: { state: 'none', reason: 'snapshots_off' },
  };
}

/** The source of a task, a video that has been read or a camera that sends frames. */
export const sourceOf = (kind: 'upload' | 'stream', codec: string): object => ({
  kind,
  codec,
  state: kind === 'upload' ? 'ended' : 'streaming',
  since_ms: 1_790_000_000_000,
  last_frame_time_ms: LENGTH_MS,
  duration_ms: LENGTH_MS,
  image: { width: 1280, height: 720 },
  frames: { stored: 3000 },
  coverage,
  ...(kind === 'upload' ? { ended: { status: 'succeeded' } } : {}),
  items: [],
  next_cursor: '',
});

/** A page of the tracks of a task. */
function tracksOf({ searchParams }: URL, count: number): object {
  const changedFrom = Number(searchParams.get('from_ms') ?? 0);
  const all = Array.from({ length: count }, (_, index) => trackAt(index));
  const found = all.filter(({ last_time_ms: lastMs }) => lastMs >= changedFrom);
  const from = Number(searchParams.get('cursor') ?? 0);
  const next = from + PER_PAGE < found.length ? String(from + PER_PAGE) : '';
  const items = found.slice(from, from + PER_PAGE);
  return { items, next_cursor: next, resume_cursor: '', as_of_ms: LENGTH_MS };
}

/**
 * Lets the page see a task of ten minutes with frames and without images, a rule and alarms, two pages of them, that no
 * service has.
 */
export async function serveTask(
  page: Page,
  tracks: number,
  kind: 'upload' | 'stream' = 'upload',
  status = kind === 'upload' ? 'succeeded' : 'running',
): Promise<void> {
  const shown = { ...task, status };
  const timeline = {
    bucket_ms: 1000,
    min_score: 0.5,
    as_of_ms: LENGTH_MS,
    coverage,
    items: Array.from({ length: tracks }, (_, index) => ({
      from_ms: index * 1000,
      covered_ms: 1000,
      frames: 5,
      labels: [{ label: name(index), tracks_begun: 1, objects_max: 1, object_frames: 5 }],
    })),
    gaps: [],
  };
  const answers: Record<string, object> = {
    [`tasks/${TASK_ID}`]: shown,
    [`tasks/${TASK_ID}/source`]: sourceOf(kind, 'h264'),
    [`tasks/${TASK_ID}/timeline`]: timeline,
    tasks: { items: [shown], next_cursor: '' },
    'alarm-rules': { items: [rule] },
    'alarm-rules/made-up': rule,
  };
  await page.route('**/v1/vision/**', async (route: Route) => {
    const url = new URL(route.request().url());
    const path = url.pathname.replace('/v1/vision/', '');
    if (path === `tasks/${TASK_ID}/tracks`) {
      await route.fulfill({ json: tracksOf(url, tracks) });
      return;
    }
    if (path === `tasks/${TASK_ID}/results`) {
      await route.fulfill({ json: { items: framesOf(url), next_cursor: '', resume_cursor: '' } });
      return;
    }
    if (path === 'alarms') {
      const isNewest = url.searchParams.get('state') === 'closed' && !url.searchParams.has('cursor');
      const items = hostile.map((_, index) => alarm(index));
      await route.fulfill({ json: { items, next_cursor: isNewest ? 'older' : '', resume_cursor: '' } });
      return;
    }
    if (path.endsWith('snapshot')) {
      await route.fulfill(refusal(404, 'snapshots_off'));
      return;
    }
    const json = answers[path];
    await (json ? route.fulfill({ json }) : route.fallback());
  });
}
