import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { frame, object, startResults } from './support.ts';
import type { TestResults } from './support.ts';
import { forms, framePages } from './frame-pages.ts';
import type { FramePage } from './frame-pages.ts';

describe.each(forms)('frames in $form:', ({ form, settings }) => {
  let results: TestResults;
  beforeAll(async () => {
    results = await startResults(settings);
    await Promise.all([results.service.consumers.frames.joined, results.service.consumers.tasks.joined]);
  });
  afterAll(() => results.stop());

  const { deliver, page, seqs, newTask } = framePages(form, () => results);

  const objectAt = (cx: number, cy: number, label = 'person', track = '7') => ({
    ...object(0.9, label),
    bbox: { format: 'cxcywh_normalized' as const, cx, cy, width: 0.1, height: 0.2 },
    track_id: track,
  });
  /** Even frames have a person on the left and a car on the right, odd ones have a helmet below the threshold. */
  async function newScene(frames: number): Promise<string> {
    const taskId = await newTask(0);
    const objectsOf = (seq: number) =>
      seq % 2 === 0 ? [objectAt(0.2, 0.4, 'person', `p${seq}`), objectAt(0.8, 0.4, 'car')] : [object(0.4, 'helmet')];
    await deliver(Array.from({ length: frames }, (_, seq) => frame(taskId, seq, { objects: objectsOf(seq) })));
    return taskId;
  }
  const labels = ({ items }: FramePage) => items.map(({ objects }) => objects.map(({ label }) => label).join());

  test.each([
    [{ labels: 'person' }, ['person', '', 'person', '']],
    [{ labels: 'car,helmet', min_score: 0.3 }, ['car', 'helmet', 'car', 'helmet']],
    [{ labels: 'unknown' }, ['', '', '', '']],
    [{ track_id: 'p2' }, ['', '', 'person', '']],
    [{ region: '0,0,0.5,0,0.5,1,0,1' }, ['person', '', 'person', '']],
    [{ region: '0,0,1,0,1,0.45,0,0.45' }, ['', '', '', '']],
    [{ region: '0,0,1,0,1,0.45,0,0.45', anchor: 'center' }, ['person,car', '', 'person,car', '']],
    [{ labels: 'car', region: '0,0,0.5,0,0.5,1,0,1' }, ['', '', '', '']],
    [{ skip_empty: 'true' }, ['person,car', 'person,car']],
    [{ skip_empty: 'true', labels: 'helmet' }, []],
    [{ skip_empty: 'true', track_id: 'p0' }, ['person']],
    [{ from_ms: 200, to_ms: 600 }, ['', 'person,car']],
    [{ from_ms: 600 }, ['']],
    [{ from_ms: 601 }, []],
    [{ to_ms: 1, skip_empty: 'true' }, ['person,car']],
  ])('%j selects objects and frames', async (query: Record<string, string | number>, expected) => {
    const taskId = await newScene(4);
    const one = await page(taskId, query);
    expect(labels(one)).toEqual(expected);
    expect(one.next_cursor).toBe('');
  });

  test('objects_total counts before every filter', async () => {
    const taskId = await newScene(2);
    const { items } = await page(taskId, { min_score: 0.3, labels: 'car', region: '0,0,0.5,0,0.5,1,0,1' });
    expect(items.map(({ objects_total: total }) => total)).toEqual([2, 1]);
  });

  test('pages of a search follow each other without a gap, and its cursor goes on without it', async () => {
    const taskId = await newScene(40);
    const query = { skip_empty: 'true', from_ms: 400, to_ms: 6000, limit: 5 };
    const found: number[] = [];
    let cursor = '';
    do {
      const one = await page(taskId, { ...query, cursor });
      found.push(...seqs(one));
      cursor = one.next_cursor;
    } while (cursor !== '');
    expect(found).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28]);
    const first = await page(taskId, query);
    expect(seqs(await page(taskId, { cursor: first.next_cursor, limit: 2 }))).toEqual([11, 12]);
  });

  test('a reader that follows a search gets frames that are stored late, and no others', async () => {
    const taskId = await newTask(0);
    const empty = (seq: number) => frame(taskId, seq, { objects: [] });
    await deliver([frame(taskId, 0), frame(taskId, 5)]);
    const first = await page(taskId, { skip_empty: 'true', from_ms: 200 });
    expect(seqs(first)).toEqual([5]);
    await deliver([frame(taskId, 2), empty(3), frame(taskId, 6), empty(7)]);
    const second = await page(taskId, { skip_empty: 'true', from_ms: 200, cursor: first.resume_cursor });
    expect([seqs(second), second.next_cursor]).toEqual([[2, 6], '']);
    expect(seqs(await page(taskId, { skip_empty: 'true', cursor: second.resume_cursor }))).toEqual([]);
  });
});
