import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller, examples } from '../support/system.ts';
import { refusal, serveTask, sourceOf, TASK_ID, trackAt } from './support/made-up.ts';
import { analysed } from './support/video-task.ts';
import { inspect, openBrowser } from './support/visitor.ts';

const MINUTE_MS = 60_000;
/** What a link of a video leads to, and where links are made. */
const LINKS = '**/v1/vision/links/*';
const NEW_LINKS = '**/v1/vision/links';

const { visit } = openBrowser();
let caller: Caller;
let taskId: string;
beforeAll(async () => {
  caller = await Caller.create({ video_tasks_per_day: 1 });
  taskId = await analysed(caller, 'street');
});

const video = (page: Page) => page.locator('.stage video');
const currentTime = (page: Page) => page.evaluate<number>(`document.querySelector('.stage video')?.currentTime ?? 0`);
const play = (page: Page) => page.evaluate(`document.querySelector('.stage video')?.play()`);
const isPlaying = (page: Page) => page.evaluate<boolean>(`document.querySelector('.stage video').paused === false`);

test('the page of an uploaded video that was opened without a connection has all of it when that is back', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await page.clock.install();
  await page.context().setOffline(true);
  await go(`#/tasks/${taskId}`);
  const banner = page.getByText('Connection lost. The console keeps trying.');
  await banner.waitFor();
  await page.clock.fastForward(MINUTE_MS);
  await page.getByText('No connection to the service').first().waitFor();
  await page.context().setOffline(false);
  await page.clock.fastForward(MINUTE_MS);
  await banner.waitFor({ state: 'hidden' });
  await page.getByRole('heading', { name: /street/ }).waitFor();
  await page.locator('.bars').waitFor({ state: 'attached' });
  // Images are loaded where they are seen.
  await page.locator('.track').first().scrollIntoViewIfNeeded();
  await page.locator('.track img').first().waitFor();
  await play(page);
  await until(async () => (await currentTime(page)) > 1);
  await page
    .getByRole('row', { name: /person/ })
    .first()
    .waitFor();
  expect(await page.getByText('No connection to the service').count()).toBe(0);
  await visitor.close();
});

test('frames, images and a video that were not reached come when they are, and nothing is said to be gone', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await page.clock.install();
  const lost = [LINKS, '**/results?*', '**/snapshot'];
  for (const path of lost) await page.route(path, (route) => route.abort('connectionreset'));
  const made: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && made.push(request.url()));
  await go(`#/tasks/${taskId}`);
  await page.locator('.track').first().scrollIntoViewIfNeeded();
  await until(async () => {
    await page.clock.fastForward(10_000);
    return made.filter((url) => url.endsWith('/links')).length > 1;
  });
  expect(await page.getByText(/no longer stored|cannot play/).count()).toBe(0);
  expect(await page.locator('.track img').count()).toBe(0);
  for (const path of lost) await page.unroute(path);
  await until(async () => {
    await page.clock.fastForward(10_000);
    return (await page.locator('.track img').count()) > 0;
  });
  await until(async () => {
    await page.clock.fastForward(10_000);
    await play(page);
    return (await currentTime(page)) > 1;
  });
  await page
    .getByRole('row', { name: /person/ })
    .first()
    .waitFor();
  await visitor.close();
});

test('a link that has expired is renewed, and the video goes on where it was', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await go(`#/tasks/${taskId}`);
  await video(page).waitFor();
  await play(page);
  await until(async () => (await currentTime(page)) > 3);
  const [before, at] = [await video(page).getAttribute('src'), await currentTime(page)];
  let asked = 0;
  await page.route(LINKS, async (route) => {
    asked += 1;
    await (asked === 1 ? route.fulfill(refusal(404, 'link_invalid')) : route.continue());
  });
  await video(page).dispatchEvent('error');
  await until(async () => (await video(page).getAttribute('src')) !== before);
  await until(async () => (await currentTime(page)) > at + 0.5);
  expect(await isPlaying(page)).toBe(true);
  await visitor.close();
});

test('a video that is no longer stored is said to be so', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await page.route(LINKS, (route) => route.fulfill(refusal(404, 'video_not_found')));
  await go(`#/tasks/${taskId}`);
  await page.getByText('The video is no longer stored.').waitFor();
  await page.locator('.track').first().press('Enter');
  await page.getByRole('img', { name: /^Image of the track/ }).waitFor();
  await visitor.close();
});

test('where the codec cannot be played no link is made, and a chosen track shows its image', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await serveTask(page, 2);
  await page.route('**/source', (route) => route.fulfill({ json: sourceOf('upload', 'hevc') }));
  const snapshot = { state: 'available', frame_id: 'a', frame_time_ms: 0, width: 640, height: 480 };
  const items = [0, 1].map((index) => ({ ...trackAt(index), label: 'person', snapshot }));
  await page.route('**/tracks?*', (route) =>
    route.fulfill({ json: { items, next_cursor: '', resume_cursor: '', as_of_ms: 0 } }),
  );
  await page.route('**/snapshot', (route) => route.fulfill({ path: join(examples, 'street.jpg') }));
  let links = 0;
  await page.route(NEW_LINKS, (route) => {
    links += 1;
    return route.continue();
  });
  await go(`#/tasks/${TASK_ID}`);
  await page.getByText('This browser cannot play the video (hevc). Select a track to see its image.').waitFor();
  expect(await video(page).count()).toBe(0);
  await page.locator('.track').nth(1).press('Enter');
  await page.getByRole('img', { name: 'Image of the track: person' }).waitFor();
  expect(await page.getByRole('slider', { name: 'Position' }).getAttribute('aria-valuenow')).toBe('1000');
  await page.getByText('This browser cannot play the video (hevc).').waitFor();
  await inspect(visitor, 'task-unplayable');
  // Any other moment has boxes.
  await page.getByRole('slider', { name: 'Position' }).press('ArrowRight');
  await page.getByRole('img', { name: 'Image of the track: person' }).waitFor({ state: 'detached' });
  expect(links).toBe(0);
  await visitor.close();
});

test('a video of which only the sound is played is said not to be playable', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await page.addInitScript(`Object.defineProperty(HTMLVideoElement.prototype, 'videoWidth', { get: () => 0 })`);
  await page.reload();
  await signIn(caller.key);
  await go(`#/tasks/${taskId}`);
  await page.getByText('This browser cannot play the video (h264).').waitFor();
  expect(await video(page).count()).toBe(0);
  await visitor.close();
});
