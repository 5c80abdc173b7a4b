import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller, examples } from '../support/system.ts';
import { startCamera } from './support/camera.ts';
import { hands } from './support/hands.ts';
import type { Hand, HandName } from './support/hands.ts';
import { serveTask, TASK_ID } from './support/made-up.ts';
import { analysed } from './support/video-task.ts';
import { inspect, openBrowser } from './support/visitor.ts';
import type { Visitor } from './support/visitor.ts';

const file = (name: string) => join(examples, name);
const { visit } = openBrowser();

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor();

/** A caller whose key is written into the page; what is not right with the way is said at its end. */
async function begin(handName: HandName, caller: Caller): Promise<Visitor & { hand: Hand }> {
  const visitor = await visit();
  const hand = hands[handName](visitor.page);
  await hand.write('API key', caller.key);
  await hand.press('Sign in');
  await heading(visitor.page, 'Start');
  return { ...visitor, hand };
}

describe.each(Object.keys(hands) as HandName[])('by %s', (handName) => {
  // What is on screen does not depend on the hand: it is looked at once.
  const isFirst = handName === 'mouse';

  test('from the sign-in to detections in images, until the quota of the day is used up', async () => {
    const way = await begin(handName, await Caller.create({ images_per_day: 1 }));
    const { page, hand } = way;
    await hand.press('Try images');
    await hand.choose('Choose images', [file('street.jpg')]);
    await hand.press('Detect objects');
    await page.locator('.objects tbody tr', { hasText: 'person' }).first().waitFor();
    await hand.choose('Choose images', [file('street.png')]);
    await hand.press('Detect objects');
    await page.getByText('The quota of today is used up').waitFor();
    expect(await page.locator('.gallery img').count()).toBe(2);
    if (isFirst) await inspect(way, 'quota');
    await way.close();
  });

  test('a camera is tested, watched, cut, seen to be away, and its task stopped', async () => {
    const camera = await startCamera();
    const caller = await Caller.create({ video_tasks_per_day: 1 });
    const when = { kind: 'source_down', for_ms: 5000 };
    await caller.send('PUT', '/v1/vision/alarm-rules/away', {
      body: JSON.stringify({ name: 'Camera away', when }),
      headers: { 'content-type': 'application/json' },
    });
    const way = await begin(handName, caller);
    const { page, hand, go } = way;
    await hand.press('Watch a stream');
    await hand.write('Address of the stream', camera.url);
    await untilTested(page, hand);
    await page.getByLabel('Without frames, give up after').selectOption('12 hours');
    const created = page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/tasks?'));
    await hand.press('Start watching');
    expect(new URL((await created).url()).searchParams.get('give_up_after_s')).toBe('43200');
    await page.locator('.stage img').waitFor();
    await page
      .getByRole('row', { name: /person/ })
      .first()
      .waitFor();

    camera.disconnect();
    camera.close();
    await page
      .getByText(/Connection lost|no frame arrives/)
      .first()
      .waitFor();
    const said = page.getByText(/^No frame since .+ If none arrives before .+, the task fails\.$/);
    await said.waitFor();
    await page.getByText('Fails without a frame at').waitFor();
    if (isFirst) await inspect(way, 'task-away');
    await go('#/alarms');
    await page
      .getByRole('listitem', { name: 'Camera away' })
      .getByText(/^No frames for /)
      .waitFor();
    await page.goBack();
    // Time without frames is a gap once the source has said why.
    await page.getByText(/Frames for \d+ % of the time, \d+ gaps?\./).waitFor();
    await hand.press('Stop the task');
    await hand.press('Stop it');
    await page.locator('.status', { hasText: 'Stopped' }).waitFor();
    await said.waitFor({ state: 'hidden' });
    await way.close();
  });

  test('an uploaded video is found by its tracks', async () => {
    const way = await begin(handName, await Caller.create({ video_tasks_per_day: 1 }));
    const { page, hand } = way;
    await hand.press('Upload a video');
    await hand.choose('Choose a video', [file('street.mp4')]);
    await hand.write('Your name for the video (optional)', 'street');
    await hand.press('Upload and detect');
    await heading(page, /street/);
    await page.locator('.status', { hasText: 'Complete' }).waitFor({ timeout: 180_000 });
    // Images load once they are near what the viewer sees.
    await page.locator('.track').first().scrollIntoViewIfNeeded();
    await page.locator('.track img').first().waitFor();
    await hand.press(/^person\s*0:0[3-9]/);
    const at = page.getByRole('slider', { name: 'Position' });
    await until(async () => Number(await at.getAttribute('aria-valuenow')) > 3000);
    await page
      .getByRole('row', { name: /person/ })
      .first()
      .waitFor();
    await way.close();
  });

  test('an alarm is found to be false', async () => {
    const caller = await Caller.create({ video_tasks_per_day: 1 });
    const when = { kind: 'object_present', labels: ['person'], for_ms: 0 };
    await caller.send('PUT', '/v1/vision/alarm-rules/people', {
      body: JSON.stringify({ name: 'People', when }),
      headers: { 'content-type': 'application/json' },
    });
    await analysed(caller, 'street');
    const way = await begin(handName, caller);
    const { page, hand } = way;
    await hand.press('Alarms');
    await page.getByRole('listitem', { name: 'People' }).locator('img').first().waitFor();
    await hand.press('False alarm');
    await page.getByText(/^0 confirmed, 1 false/).waitFor();
    await hand.press('Mute the rule');
    await page.getByRole('row', { name: /People.*Muted/ }).waitFor();
    await way.close();
  });

  test('a task that is resolving says that the service finds the outcome by itself', async () => {
    const way = await begin(handName, await Caller.create());
    const { page, hand } = way;
    await serveTask(page, 0, 'stream', 'resolving');
    await hand.press('Tasks');
    await page.locator('.status', { hasText: 'Starting, outcome not known yet' }).waitFor();
    await hand.press(/img src=x/);
    await page.getByText('Do not create another one.').waitFor();
    expect(page.url()).toContain(TASK_ID);
    if (isFirst) await inspect(way, 'task-resolving');
    await way.close();
  });
});

/** A busy machine may take longer for a frame than a probe waits. */
function untilTested(page: Page, hand: Hand): Promise<unknown> {
  return until(
    async () => {
      const answered = page.waitForResponse(/stream-probes$/);
      await hand.press('Test the address');
      await answered;
      await page.getByRole('button', { name: 'Test the address', disabled: false }).waitFor();
      return page.getByText('The stream works').isVisible();
    },
    { timeoutMs: 120_000 },
  );
}
