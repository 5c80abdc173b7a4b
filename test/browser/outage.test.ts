import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { startCamera } from './support/camera.ts';
import { openBrowser } from './support/visitor.ts';

const { visit } = openBrowser();

/** What the page promises: that it shows a change this long after the API has it. */
const LATEST_MS = 5_000;
const OF_CAMERA = ['source_away', 'source_silent'];
const IN_WORDS = /no frames for .+: the camera (could not be reached|was connected and sent no frame)/;

interface TimelineBody {
  gaps: { reason: string }[];
}

/** When something was seen. */
async function seen(what: () => Promise<unknown>): Promise<number> {
  await until(what, { intervalMs: 50 });
  return Date.now();
}

/** Whether times that tell UTC on hover are those of Tokyo, which is nine hours ahead. */
async function tellUtc(page: Page, selector: string): Promise<boolean> {
  const read = `({ textContent, title }) => ({ text: textContent, tip: title })`;
  const times = await page.evaluate<{ text: string; tip: string }[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map(${read})`,
  );
  const clockOf = (text: string) => /\d\d:\d\d/.exec(text)?.[0].split(':').map(Number) ?? [];
  return (
    times.length > 0 &&
    times.every(({ text, tip }) => {
      const [hour = 0, minute] = clockOf(tip);
      const [own, ownMinute] = clockOf(text);
      return tip.endsWith(' UTC') && own === (hour + 9) % 24 && minute === ownMinute;
    })
  );
}

test('the gap and the alarm of a camera that was cut are on the page soon after the service has them', async () => {
  const camera = await startCamera();
  const caller = await Caller.create({ video_tasks_per_day: 1 });
  await caller.send('PUT', '/v1/vision/alarm-rules/away', {
    body: JSON.stringify({ name: 'Camera away', when: { kind: 'source_down', for_ms: 5000 } }),
    headers: { 'content-type': 'application/json' },
  });
  const { body } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
  const taskId = String(body['task_id']);
  const options = { timezoneId: 'Asia/Tokyo' };
  const [visitor, guard] = [await visit(options), await visit(options)];
  for (const one of [visitor, guard]) await one.signIn(caller.key);
  const { page, go } = visitor;
  await guard.go('#/alarms');
  await go(`#/tasks/${taskId}`);
  await page.locator('.bars').waitFor({ state: 'attached', timeout: 180_000 });
  await page.locator('.track time').first().waitFor();

  camera.disconnect();
  camera.close();
  const ofApi = async () => {
    const { body: timeline } = await caller.get(`/v1/vision/tasks/${taskId}/timeline`);
    return (timeline as unknown as TimelineBody).gaps.some(({ reason }) => OF_CAMERA.includes(reason));
  };
  const alarms = async () => {
    const { body: open } = await caller.get('/v1/vision/alarms?state=open');
    return (open['items'] as unknown[]).length > 0;
  };
  const row = page.locator('.timeline td', { hasText: /^the camera / });
  const card = guard.page.getByRole('listitem', { name: 'Camera away' });
  const [gapAt, gapSeenAt, alarmAt, alarmSeenAt] = await Promise.all([
    seen(ofApi),
    seen(async () => (await row.count()) > 0),
    seen(alarms),
    seen(() => card.isVisible()),
  ]);
  expect(gapSeenAt - gapAt).toBeLessThanOrEqual(LATEST_MS);
  expect(alarmSeenAt - alarmAt).toBeLessThanOrEqual(LATEST_MS);

  // Its reason is said to a pointer and to the keyboard.
  const chart = page.getByRole('slider', { name: 'Position' });
  const text = page.locator('.timeline-text');
  await chart.scrollIntoViewIfNeeded();
  const area = await chart.boundingBox();
  if (!area) throw new Error('there is no timeline');
  await page.mouse.move(area.x + area.width - 2, area.y + area.height / 2);
  await text.getByText(IN_WORDS).waitFor();
  expect(await chart.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. /);
  await page.mouse.move(0, 0);
  await text.getByText('Hatched: no frames.').waitFor();
  await chart.focus();
  await page.keyboard.press('End');
  await text.getByText(IN_WORDS).waitFor();
  expect(await chart.getAttribute('aria-valuetext')).toMatch(IN_WORDS);
  await page.getByText(/gaps?\.$/).click();
  for (const selector of ['.timeline td time', '.ticks span', '.track time', '.facts time', '.stage-note'])
    expect([selector, await tellUtc(page, selector)]).toEqual([selector, true]);
  await caller.stop(taskId);
  await guard.close();
  await visitor.close();
});
